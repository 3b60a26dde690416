// Tracks: lines on the common axis. The line is the mean of a column; a thin band above it reaches to its highest second.

import { lines as lineColours, css } from "../lib/palette.js";
import { placeOf } from "../lib/range.js";
import { short } from "../lib/text.js";
import { BOLD, SMALL, fitting, hatch } from "./theme.js";

/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {import("./axis.js").Box} Box */
/** @typedef {{name: string, mean: Float32Array, most: Float32Array}} Line */
/** @typedef {{id: string, title: string, unit: string, help: string, lines: Line[]}} Track */
/** @typedef {{from: number, to: number, column: number, columns: number, tracks: Track[], notRead: [number, number][]}} TrackSet */

const HEAD = 16;
const DASHES = [[], [5, 3], [2, 2]];

/** @param {import("../lib/columns.js").Columns} told @returns {TrackSet} */
export function trackSet({ head, arrays }) {
  const from = head.from_ns / 1e6;
  const column = head.column_ns / 1e6;
  const cut = (/** @type {string} */ name, /** @type {number} */ row) => /** @type {Float32Array} */ (arrays[name]).subarray(row * head.columns, (row + 1) * head.columns);
  const lines = head.lines.map((/** @type {{track: string, name: string}} */ one, /** @type {number} */ row) => ({ ...one, mean: cut("mean", row), most: cut("most", row) }));
  const tracks = head.tracks
    .filter((/** @type {any} */ one) => one.recorded)
    .map((/** @type {any} */ one) => ({ ...one, lines: lines.filter((/** @type {any} */ line) => line.track === one.id) }));
  return { from, to: from + column * head.columns, column, columns: head.columns, tracks, notRead: head.not_read.map((/** @type {[number, number]} */ one) => [one[0] / 1e6, one[1] / 1e6]) };
}

/** The highest value that is shown; never 0. @param {Track} track @param {TrackSet} set @param {import("../lib/range.js").Range} range */
export function topOf(track, set, range) {
  const top = highest(track, set, range);
  return top > 0 ? top : 1;
}

/** Whether nothing but zero is in view. @param {Track} track @param {TrackSet} set @param {import("../lib/range.js").Range} range */
export function isQuiet(track, set, range) {
  return highest(track, set, range) <= 0;
}

/** @param {Track} track @param {TrackSet} set @param {import("../lib/range.js").Range} range */
function highest(track, set, range) {
  const first = Math.max(0, Math.floor((range.from - set.from) / set.column));
  const last = Math.min(set.columns, Math.ceil((range.to - set.from) / set.column));
  let top = 0;
  for (const line of track.lines) {
    for (let column = first; column < last; column += 1) if (line.most[column] > top) top = line.most[column];
  }
  return top;
}

/** Lines that say little but zero over the whole stretch lie on the ground. @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {Track} track @param {TrackSet} set @param {Colours} colours */
export function track(context, box, range, track, set, colours) {
  const top = topOf(track, set, range);
  const low = lowOf(track, set, range, top);
  // The title has a line of its own above the curves.
  const tall = box.height > HEAD * 2 ? box.height - HEAD - 4 : box.height - 6;
  const y = (/** @type {number} */ value) => box.y + box.height - 2 - ((value - low) / (top - low || 1)) * tall;
  unknown(context, box, range, track, set, colours);
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  const paint = lineColours(colours.theme).map(css);
  track.lines.forEach((line, place) => curve(context, box, range, line, set, y, paint[place % paint.length], DASHES[place % DASHES.length]));
  context.restore();
  frame(context, box, track, top, low, paint, colours);
}

/** Where a scale begins: at 0, or for levels far from it (a number of zombies) near their lowest. @param {Track} track @param {TrackSet} set @param {import("../lib/range.js").Range} range @param {number} top */
function lowOf(track, set, range, top) {
  if (track.id !== "zombies") return 0;
  const first = Math.max(0, Math.floor((range.from - set.from) / set.column));
  const last = Math.min(set.columns, Math.ceil((range.to - set.from) / set.column));
  let low = Infinity;
  for (let column = first; column < last; column += 1) {
    const value = track.lines[0]?.mean[column] ?? NaN;
    if (value < low) low = value;
  }
  return Number.isFinite(low) && low > top * 0.8 ? Math.max(0, low - (top - low) * 0.15 - 1) : 0;
}

/** @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {Line} line @param {TrackSet} set @param {(value: number) => number} y @param {string} colour @param {number[]} dash */
function curve(context, box, range, line, set, y, colour, dash) {
  const first = Math.max(0, Math.floor((range.from - set.from) / set.column));
  const last = Math.min(set.columns, Math.ceil((range.to - set.from) / set.column));
  const x = (/** @type {number} */ column) => box.x + placeOf(range, set.from + column * set.column, box.width);
  context.fillStyle = colour;
  context.globalAlpha = 0.22;
  context.beginPath();
  for (let column = first; column < last; column += 1) {
    if (!(line.most[column] > line.mean[column])) continue;
    const above = y(line.most[column]);
    context.rect(x(column), above, Math.max(1, x(column + 1) - x(column)), y(line.mean[column]) - above);
  }
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.setLineDash(dash);
  context.beginPath();
  let on = false;
  for (let column = first; column < last; column += 1) {
    const value = line.mean[column];
    if (!Number.isFinite(value)) {
      on = false;
      continue;
    }
    if (on) context.lineTo(x(column), y(value));
    else context.moveTo(x(column), y(value));
    context.lineTo(x(column + 1), y(value));
    on = true;
  }
  context.stroke();
  context.setLineDash([]);
}

/** @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {Track} track @param {TrackSet} set @param {Colours} colours */
function unknown(context, box, range, track, set, colours) {
  const known = (/** @type {number} */ column) => column >= 0 && column < set.columns && track.lines.some((line) => Number.isFinite(line.mean[column]));
  const first = Math.floor((range.from - set.from) / set.column);
  const last = Math.ceil((range.to - set.from) / set.column);
  let begin = null;
  for (let column = first; column <= last; column += 1) {
    const here = column < last && !known(column);
    if (here && begin === null) begin = column;
    if (!here && begin !== null) {
      const left = Math.max(0, placeOf(range, set.from + begin * set.column, box.width));
      const right = Math.min(box.width, placeOf(range, set.from + column * set.column, box.width));
      hatch(context, box.x + left, box.y, right - left, box.height, colours);
      begin = null;
    }
  }
}

/** Title and unit, the scale, and which line is which. @param {Context} context @param {Box} box @param {Track} track @param {number} top @param {number} low @param {string[]} paint @param {Colours} colours */
function frame(context, box, track, top, low, paint, colours) {
  context.strokeStyle = colours.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(box.x, box.y + box.height - 0.5);
  context.lineTo(box.x + box.width, box.y + box.height - 0.5);
  context.stroke();
  context.textBaseline = "middle";
  context.font = SMALL;
  context.fillStyle = colours.dim;
  context.textAlign = "right";
  context.fillText(box.height > HEAD * 2 ? short(top) : "0", box.x - 6, box.y + (box.height > HEAD * 2 ? HEAD + 4 : 8));
  if (low > 0) context.fillText(short(low), box.x - 6, box.y + box.height - 6);
  const legend = track.lines.length > 1 ? track.lines.map((line) => line.name) : [];
  context.font = BOLD;
  const title = fitting(context, track.title, box.width * 0.6);
  const wide = context.measureText(title).width;
  context.font = SMALL;
  const unit = ` ${track.unit}`;
  const texts = [unit, ...legend.map((name) => `   ${name}`)];
  const widths = texts.map((text) => context.measureText(text).width);
  const whole = wide + widths.reduce((sum, one) => sum + one + 14, 0);
  context.globalAlpha = 0.82;
  context.fillStyle = colours.ground;
  context.fillRect(box.x + 2, box.y + 1, Math.min(box.width - 4, whole), 15);
  context.globalAlpha = 1;
  context.textAlign = "left";
  context.font = BOLD;
  context.fillStyle = colours.ink;
  context.fillText(title, box.x + 5, box.y + 8);
  context.font = SMALL;
  let x = box.x + 5 + wide;
  texts.forEach((text, place) => {
    if (x + widths[place] + 14 > box.x + box.width) return;
    if (place > 0) {
      context.strokeStyle = paint[(place - 1) % paint.length];
      context.lineWidth = 2;
      context.setLineDash(DASHES[(place - 1) % DASHES.length]);
      context.beginPath();
      context.moveTo(x + 8, box.y + 8);
      context.lineTo(x + 22, box.y + 8);
      context.stroke();
      context.setLineDash([]);
      x += 16;
    }
    context.fillStyle = colours.dim;
    context.fillText(text, x, box.y + 8.5);
    x += widths[place];
  });
}
