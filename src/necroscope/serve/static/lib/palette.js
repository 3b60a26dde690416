// Colours by how eyes see them (OKLCH). What matters is told by lightness or shape as well as by hue, and every pair that
// has to be told apart stays apart for the colour-blind: tests simulate that.

/** @typedef {[number, number, number]} Rgb */
/** @typedef {"light" | "dark"} Theme */

/** @param {number} lightness @param {number} chroma @param {number} hue @returns {Rgb} */
export function oklch(lightness, chroma, hue) {
  for (let part = 1; part > 0; part -= 0.05) {
    const found = linear(lightness, chroma * part, hue);
    if (found.every((one) => one >= -1e-4 && one <= 1.0001)) return encoded(found);
  }
  return encoded(linear(lightness, 0, hue));
}

/** @param {number} lightness @param {number} chroma @param {number} hue @returns {Rgb} */
function linear(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const small = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * small,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * small,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * small,
  ];
}

/** @param {Rgb} parts @returns {Rgb} */
function encoded(parts) {
  return /** @type {Rgb} */ (parts.map((part) => {
    const one = Math.min(1, Math.max(0, part));
    return Math.round(255 * (one <= 0.0031308 ? 12.92 * one : 1.055 * one ** (1 / 2.4) - 0.055));
  }));
}

/** @param {Rgb} colour @returns {Rgb} */
export function decoded(colour) {
  return /** @type {Rgb} */ (colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }));
}

/** Where a colour lies among those that eyes tell apart (OKLab), from linear light. @param {Rgb} parts @returns {Rgb} */
export function lab([red, green, blue]) {
  const long = Math.cbrt(Math.max(0, 0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue));
  const medium = Math.cbrt(Math.max(0, 0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue));
  const small = Math.cbrt(Math.max(0, 0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue));
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * small,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * small,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * small,
  ];
}

/** @param {Rgb} colour */
export function css([red, green, blue]) {
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** A share of a core that is not full: from the ground up to a strong blue. @param {number} share @param {Theme} theme @returns {Rgb} */
export function load(share, theme) {
  const part = Math.min(1, Math.max(0, share));
  return theme === "light" ? oklch(0.965 - 0.43 * part, 0.01 + 0.125 * part, 250) : oklch(0.235 + 0.42 * part, 0.018 + 0.10 * part, 250);
}

/** A full core, the stronger the longer: a hue and a step in lightness that no load has. @param {number} strength @param {Theme} theme @returns {Rgb} */
export function full(strength, theme) {
  const part = Math.min(1, Math.max(0, strength));
  return theme === "light" ? oklch(0.70 - 0.24 * part, 0.15 + 0.05 * part, 55 - 25 * part) : oklch(0.78 + 0.14 * part, 0.15 + 0.02 * part, 60 + 32 * part);
}

/** How strong a stretch of full seconds looks in a column of so many. @param {number} held @param {number} columnS */
export function strengthOf(held, columnS) {
  return held <= 0 ? 0 : Math.min(1, 0.35 + (0.65 * held) / Math.max(1, Math.min(5, columnS)));
}

/** What was searched for. @param {number} share @param {Theme} theme @returns {Rgb} */
export function found(share, theme) {
  const part = Math.min(1, Math.max(0, share));
  return theme === "light" ? oklch(0.80 - 0.36 * part, 0.10 + 0.14 * part, 345) : oklch(0.42 + 0.36 * part, 0.10 + 0.12 * part, 345);
}

/** A box that a search found; dark text reads on it. @returns {Rgb} */
export function hit() {
  return oklch(0.77, 0.165, 345);
}

/** Colours of lines in a track, in order. @param {Theme} theme @returns {Rgb[]} */
export function lines(theme) {
  return theme === "light"
    ? [oklch(0.48, 0.14, 255), oklch(0.62, 0.17, 45), oklch(0.38, 0.09, 160)]
    : [oklch(0.74, 0.12, 250), oklch(0.78, 0.15, 65), oklch(0.90, 0.10, 160)];
}

/** @type {Record<string, [number, number, number]>} */
const KINDS = {
  thread: [0.86, 0.012, 260],
  program: [0.83, 0.085, 300],
  library: [0.84, 0.085, 185],
  jit: [0.89, 0.10, 105],
  kernel: [0.76, 0.13, 55],
  unknown: [0.74, 0.008, 260],
};

/** Boxes of a flame graph by kind of code; dark text reads on all of them. @param {string} kind @param {number} [turn] @returns {Rgb} */
export function codeKind(kind, turn = 0) {
  const [lightness, chroma, hue] = KINDS[kind] ?? /** @type {[number, number, number]} */ (KINDS.unknown);
  return oklch(lightness + ((turn % 5) - 2) * 0.012, chroma, hue);
}

/** A change against a baseline: from -1 to 1; 0 is grey. @param {number} size @returns {Rgb} */
export function change(size) {
  if (!size) return oklch(0.87, 0.004, 260);
  const part = Math.min(1, Math.abs(size)) ** 0.5;
  return oklch(0.86 - 0.2 * part, 0.06 + 0.13 * part, size > 0 ? 26 : 252);
}
