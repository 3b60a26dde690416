// The inside of a moment: rows of cores, processes, threads or cgroups by bins of milliseconds.

import { found, full, load } from "../lib/palette.js";
import { placeOf } from "../lib/range.js";
import { plain, shortened } from "../lib/text.js";
import { names } from "./cores_picture.js";
import { SMALL, hatch } from "./theme.js";

/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {import("./axis.js").Box} Box */
/** @typedef {{from: number, to: number, bin: number, bins: number, by: string, rows: import("../lib/choice.js").Row[], leftOut: number, samples: number, top: number, full: number, unknown: number, cores: Uint8Array, match: Uint8Array | null}} Moment */

const HELD = 0.97;

/** @param {import("../lib/columns.js").Columns} told @returns {Moment} */
export function momentOf({ head, arrays }) {
  const from = head.from_ns / 1e6;
  const bin = head.bin_ns / 1e6;
  return {
    from, to: from + bin * head.columns, bin, bins: head.columns, by: head.by, rows: head.rows, leftOut: head.left_out, samples: head.samples,
    top: head.top, full: head.full, unknown: head.unknown, cores: /** @type {Uint8Array} */ (arrays.cores), match: /** @type {Uint8Array | undefined} */ (arrays.match) ?? null,
  };
}

/** Cores that were busy in a bin; NaN where nobody looked. @param {Moment} moment @param {number} row @param {number} bin */
export function coresAt(moment, row, bin) {
  const byte = moment.cores[row * moment.bins + bin];
  return byte === undefined || byte === moment.unknown ? NaN : (byte / moment.full) * moment.top;
}

/** @param {Moment} moment @param {import("../lib/palette.js").Theme} theme */
export function bitmap(moment, theme) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, moment.bins);
  canvas.height = Math.max(1, moment.rows.length);
  const context = canvas.getContext("2d");
  if (!context || !moment.rows.length) return canvas;
  const image = context.createImageData(canvas.width, canvas.height);
  const loads = Array.from({ length: 256 }, (_, byte) => colour((byte / moment.full) * moment.top, moment, theme));
  const faint = Array.from({ length: 256 }, (_, byte) => load(Math.min(0.35, (byte / moment.full) * 0.35), theme));
  for (let place = 0; place < moment.cores.length; place += 1) {
    const byte = moment.cores[place];
    if (byte === moment.unknown) continue;
    const hit = moment.match ? moment.match[place] : 0;
    const [red, green, blue] = !moment.match ? loads[byte] : hit ? found(0.25 + (0.75 * hit) / Math.max(1, byte), theme) : faint[byte];
    image.data.set([red, green, blue, 255], place * 4);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Of cores, a full one stands out; of others, what takes a core or more. @param {number} cores @param {Moment} moment @param {import("../lib/palette.js").Theme} theme */
function colour(cores, moment, theme) {
  if (cores >= HELD) return full(moment.top > 1.5 ? 0.35 + (0.65 * (cores - HELD)) / (moment.top - HELD) : 1, theme);
  return load(cores, theme);
}

/** @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {Moment} moment @param {HTMLCanvasElement} image @param {Colours} colours */
export function moment(context, box, range, moment, image, colours) {
  hatch(context, box.x, box.y, box.width, box.height, colours);
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.imageSmoothingEnabled = false;
  const x = placeOf(range, moment.from, box.width);
  const right = placeOf(range, moment.to, box.width);
  context.drawImage(image, 0, 0, image.width, image.height, box.x + x, box.y, right - x, box.height);
  context.restore();
  if (moment.by === "core") names(context, box, moment.rows.map((row) => String(row.cpu ?? "?")), colours);
  else labels(context, box, moment, colours);
}

/** Names beside their rows, in the room at the left. @param {Context} context @param {Box} box @param {Moment} moment @param {Colours} colours */
function labels(context, box, moment, colours) {
  const tall = box.height / moment.rows.length;
  const every = Math.max(1, Math.ceil(12 / tall));
  context.font = SMALL;
  context.fillStyle = colours.dim;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const wide = context.measureText("0").width;
  for (let row = 0; row < moment.rows.length; row += every) {
    context.fillText(shortened(plain(moment.rows[row].label), Math.floor((box.x - 10) / wide)), box.x - 6, box.y + (row + 0.5) * tall);
  }
}
