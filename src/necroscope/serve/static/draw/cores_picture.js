// The map of cores: rows are cores, columns are time. Maps of several zooms lie over each other, the finest on top, so
// that there is something to see while finer columns are on their way.

import { cell } from "../lib/cores_map.js";
import { full, load, strengthOf } from "../lib/palette.js";
import { placeOf } from "../lib/range.js";
import { SMALL, hatch } from "./theme.js";

/** @typedef {import("../lib/cores_map.js").CoresMap} CoresMap */
/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {import("./axis.js").Box} Box */

/** Colours of all bytes and stretches, so that a cell is looked up. @param {CoresMap} map @param {import("../lib/palette.js").Theme} theme */
function tables(map, theme) {
  const loads = Array.from({ length: map.full + 1 }, (_, byte) => load(byte / map.full, theme));
  const seconds = map.column / 1000;
  const fulls = Array.from({ length: 302 }, (_, held) => full(strengthOf(Math.min(held, seconds), seconds), theme));
  return { loads, fulls };
}

/** The cells as pixels; what is not known is transparent. @param {CoresMap} map @param {import("../lib/palette.js").Theme} theme */
export function bitmap(map, theme) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, map.columns);
  canvas.height = Math.max(1, map.cpus.length);
  const context = canvas.getContext("2d");
  if (!context || !map.cpus.length) return canvas;
  const image = context.createImageData(canvas.width, canvas.height);
  const { loads, fulls } = tables(map, theme);
  for (let place = 0; place < map.mean.length; place += 1) {
    const mean = map.mean[place];
    if (mean === map.unknown) continue;
    const held = map.held[place];
    const colour = held > 0 ? fulls[Math.min(301, held)] : loads[mean];
    image.data.set([colour[0], colour[1], colour[2], 255], place * 4);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** @typedef {{map: CoresMap, image: HTMLCanvasElement}} Layer */

/** @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {Layer[]} layers @param {number[]} cpus @param {Colours} colours */
export function cores(context, box, range, layers, cpus, colours) {
  hatch(context, box.x, box.y, box.width, box.height, colours);
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.imageSmoothingEnabled = false;
  for (const { map, image } of layers) {
    if (!map.cpus.length) continue;
    const first = Math.max(0, Math.floor((range.from - map.from) / map.column));
    const last = Math.min(map.columns, Math.ceil((range.to - map.from) / map.column));
    if (last <= first) continue;
    const x = placeOf(range, map.from + first * map.column, box.width);
    const right = placeOf(range, map.from + last * map.column, box.width);
    const tall = (box.height / cpus.length) * map.cpus.length;
    const y = (box.height / cpus.length) * Math.max(0, cpus.indexOf(map.cpus[0]));
    context.drawImage(image, first, 0, last - first, image.height, box.x + x, box.y + y, right - x, tall);
  }
  context.restore();
  names(context, box, cpus.map((cpu) => `${cpu}`), colours);
}

/** Names of rows where there is room, at the left. @param {Context} context @param {Box} box @param {string[]} rows @param {Colours} colours */
export function names(context, box, rows, colours) {
  const tall = box.height / Math.max(1, rows.length);
  const every = Math.max(1, Math.ceil(13 / tall));
  const round = [1, 2, 4, 8, 16, 32, 64, 128].find((one) => one >= every) ?? every;
  context.font = SMALL;
  context.fillStyle = colours.dim;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < rows.length; row += round) context.fillText(rows[row], box.x - 6, box.y + (row + 0.5) * tall);
}

/** What a place says. @param {Layer[]} layers @param {number[]} cpus @param {number} row @param {number} at */
export function cellAt(layers, cpus, row, at) {
  for (const { map } of [...layers].reverse()) {
    const column = Math.floor((at - map.from) / map.column);
    const found = cell(map, map.cpus.indexOf(cpus[row]), column);
    if (found.known) return { ...found, from: map.from + column * map.column, column: map.column };
  }
  return null;
}
