// Names from a node, which anybody on it may have chosen, made safe to look at: nothing in them is a control character
// or turns the direction of writing, and none is longer than what anybody reads.

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\udfff\u{e0000}-\u{e0fff}]/gu;

/** The text with what cannot be seen written out. @param {unknown} text @param {number} [most] @returns {string} */
export function plain(text, most = 400) {
  const whole = String(text ?? "");
  const seen = whole.slice(0, most).replace(CONTROLS, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
  return whole.length > most ? `${seen}…` : seen;
}

/** At most so many characters, cut in the middle: both ends of a path say more than its centre. @param {string} text @param {number} most */
export function shortened(text, most) {
  if (text.length <= most) return text;
  if (most < 3) return most > 0 ? "…" : "";
  const head = Math.floor((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** 98 %; with a decimal below ten. @param {number} share */
export function percent(share) {
  if (!Number.isFinite(share)) return "not known";
  const hundred = share * 100;
  return hundred >= 9.95 || hundred <= 0 ? `${Math.round(hundred)} %` : `${hundred.toFixed(1)} %`;
}

/** A number with few digits and thousands told apart. @param {number | null | undefined} value */
export function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "not known";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

/** A number for an axis: 1.2k, 3M. @param {number} value */
export function short(value) {
  for (const [size, letter] of /** @type {[number, string][]} */ ([[1e9, "G"], [1e6, "M"], [1e3, "k"]])) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}

/** 1 core, 2 cores. @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${figure(count)} ${count === 1 ? one : many}`;
}
