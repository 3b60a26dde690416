// The colours of pictures that are not data: ground, ink, lines. The same as the page's own, in both themes.

/** @typedef {import("../lib/palette.js").Theme} Theme */
/** @typedef {CanvasRenderingContext2D | import("./svg_context.js").SvgContext} Context */
/** @typedef {{theme: Theme, ground: string, panel: string, ink: string, dim: string, line: string, grid: string, hatch: string, a: string, b: string, symptom: string, mark: string, gap: string, halo: string}} Colours */

/** @type {Record<Theme, Colours>} */
export const COLOURS = {
  light: {
    theme: "light", ground: "#ffffff", panel: "#f6f7f9", ink: "#16191f", dim: "#555c69", line: "#c9ced8", grid: "#e4e7ed",
    hatch: "#b4bac6", a: "#0b6b3a", b: "#6d2fa0", symptom: "#a3112a", mark: "#134f9c", gap: "#6b5200", halo: "#ffffff",
  },
  dark: {
    theme: "dark", ground: "#12151b", panel: "#1a1e26", ink: "#eceff4", dim: "#a5adbb", line: "#3b4250", grid: "#262c37",
    hatch: "#565e6d", a: "#54d38f", b: "#cf9bf5", symptom: "#ff8095", mark: "#86b8ff", gap: "#e3c25f", halo: "#12151b",
  },
};

export const FONT = "12px system-ui, sans-serif";
export const SMALL = "11px system-ui, sans-serif";
export const BOLD = "600 12px system-ui, sans-serif";

/** What is not known: thin slanted lines, which no value looks like. @param {Context} context @param {number} x @param {number} y @param {number} width @param {number} height @param {Colours} colours */
export function hatch(context, x, y, width, height, colours) {
  if (width <= 0 || height <= 0) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = colours.panel;
  context.fillRect(x, y, width, height);
  context.strokeStyle = colours.hatch;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = Math.floor((x - height) / 8) * 8; at < x + width; at += 8) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

/** The text, or as much of it as fits. @param {Context} context @param {string} text @param {number} width */
export function fitting(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}
