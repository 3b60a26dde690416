// What is on the screen as a file: the pictures below each other, with a head that says where and when.

import { SvgContext } from "../draw/svg_context.js";
import { BOLD, COLOURS, SMALL } from "../draw/theme.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("../draw/theme.js").Context} Context */
/** @typedef {import("../lib/palette.js").Theme} Theme */

const HEAD = 40;
const GAP = 12;

/** @param {Picture[]} pictures */
function sizeOf(pictures) {
  const width = Math.max(...pictures.map((one) => one.width));
  const heights = pictures.map((one) => Math.ceil(one.height(one.width)));
  return { width, heights, height: HEAD + heights.reduce((sum, one) => sum + one + GAP, 0) };
}

/** @param {Picture[]} pictures @param {string[]} head @param {Theme} theme @returns {Blob} */
export function svg(pictures, head, theme) {
  const measuring = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const { width, height } = sizeOf(pictures);
  const made = new SvgContext(width, height, measuring);
  painted(made, pictures, head, theme);
  return new Blob([made.document()], { type: "image/svg+xml" });
}

/** @param {Picture[]} pictures @param {string[]} head @param {Theme} theme @returns {Promise<Blob>} */
export function png(pictures, head, theme) {
  const canvas = document.createElement("canvas");
  const { width, height } = sizeOf(pictures);
  canvas.width = width * 2;
  canvas.height = height * 2;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(2, 2);
  painted(context, pictures, head, theme);
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"));
}

/** @param {Context} context @param {Picture[]} pictures @param {string[]} head @param {Theme} theme */
function painted(context, pictures, head, theme) {
  const colours = COLOURS[theme];
  const { width, height, heights } = sizeOf(pictures);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, width, height);
  context.fillStyle = colours.ink;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = BOLD;
  context.fillText(head[0], 8, 12);
  context.font = SMALL;
  context.fillStyle = colours.dim;
  context.fillText(head[1] ?? "", 8, 28);
  let top = HEAD;
  pictures.forEach((picture, place) => {
    context.save();
    context.translate(0, top);
    context.beginPath();
    context.rect(0, 0, picture.width, heights[place]);
    context.clip();
    picture.paint(context, picture.width, heights[place]);
    context.restore();
    top += heights[place] + GAP;
  });
}

/** Give a file to whoever looks. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
