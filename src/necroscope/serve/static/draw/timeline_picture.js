// Parts of the timeline: the small map of the whole recording, the row of flags, what is still being read, the cursor.

import { flagColour, groups, rankOf, sign } from "./axis.js";
import { SMALL, hatch } from "./theme.js";
import { placed } from "../lib/labels.js";
import { css, full, load, strengthOf } from "../lib/palette.js";
import { placeOf } from "../lib/range.js";
import { plain } from "../lib/text.js";

/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {import("./axis.js").Box} Box */
/** @typedef {import("../lib/range.js").Range} Range */
/** @typedef {{mean: Float32Array, held: Uint16Array, map: import("../lib/cores_map.js").CoresMap}} Small */

/** All cores together over the whole recording, and a frame around what is looked at. @param {Context} context @param {Box} box @param {Range} whole @param {Range} range @param {Small | null} small @param {Colours} colours */
export function smallMap(context, box, whole, range, small, colours) {
  hatch(context, box.x, box.y, box.width, box.height, colours);
  if (small) bars(context, box, whole, small, colours);
  const left = Math.max(0, placeOf(whole, range.from, box.width));
  const right = Math.min(box.width, placeOf(whole, range.to, box.width));
  context.globalAlpha = 0.55;
  context.fillStyle = colours.ground;
  context.fillRect(box.x, box.y, left, box.height);
  context.fillRect(box.x + right, box.y, box.width - right, box.height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.ink;
  context.lineWidth = 1.5;
  context.strokeRect(box.x + left + 0.5, box.y + 0.5, Math.max(2, right - left - 1), box.height - 1);
}

/** @param {Context} context @param {Box} box @param {Range} whole @param {Small} small @param {Colours} colours */
function bars(context, box, whole, small, colours) {
  const wide = box.width / small.map.columns;
  const ground = css(load(0.04, colours.theme));
  const busy = css(load(0.75, colours.theme));
  for (let column = 0; column < small.map.columns; column += 1) {
    const mean = small.mean[column];
    if (!Number.isFinite(mean)) continue;
    const x = box.x + placeOf(whole, small.map.from + column * small.map.column, box.width);
    context.fillStyle = ground;
    context.fillRect(x, box.y, wide + 0.6, box.height);
    context.fillStyle = busy;
    context.fillRect(x, box.y + box.height * (1 - mean), wide + 0.6, box.height * mean);
    if (!small.held[column]) continue;
    const strength = strengthOf(small.held[column], small.map.column / 1000);
    context.fillStyle = css(full(strength, colours.theme));
    context.fillRect(x, box.y, Math.max(1.5, wide + 0.6), 3 + 5 * strength);
  }
}

/** What was not read yet. @param {Context} context @param {Box} box @param {Range} range @param {import("./cores_picture.js").Layer[]} layers @param {Colours} colours */
export function reading(context, box, range, layers, colours) {
  const left = layers[layers.length - 1]?.map.notRead ?? [[range.from, range.to]];
  context.font = SMALL;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colours.ink;
  for (const [from, to] of left) {
    const begin = Math.max(0, placeOf(range, from, box.width));
    const end = Math.min(box.width, placeOf(range, to, box.width));
    if (end - begin > 60) context.fillText("reading …", box.x + (begin + end) / 2, box.y + box.height / 2);
  }
}

/** Flags with lines down to the end of the map; their labels never collide. @param {Context} context @param {Box} box @param {number} bottom @param {Range} range @param {import("./axis.js").Flag[]} flags @param {Colours} colours */
export function flagRow(context, box, bottom, range, flags, colours) {
  const found = groups(flags, range, box.width).filter((group) => group.at >= 0 && group.at <= box.width);
  context.font = SMALL;
  context.textBaseline = "middle";
  for (const group of found) flag(context, box.x + group.at, box.y + box.height - 6, bottom, group.flags[0].role, colours);
  const texts = found.map((group) => plain(group.flags[0].kind, 40) + (group.flags.length > 1 ? ` ×${group.flags.length}` : ""));
  const wishes = found.map((group, index) => ({ at: group.at + 8, width: context.measureText(texts[index]).width, rank: rankOf(group.flags[0]), index }));
  context.textAlign = "left";
  for (const one of placed(wishes.filter((wish) => wish.rank > 0), box.width, 2).placed) {
    context.fillStyle = flagColour(found[one.index].flags[0].role, colours);
    context.fillText(texts[one.index], box.x + one.left, box.y + 5 + one.row * 13);
  }
  context.fillStyle = colours.dim;
  context.textAlign = "right";
  context.fillText("flags", box.x - 6, box.y + box.height - 8);
}

/** @param {Context} context @param {number} x @param {number} y @param {number} bottom @param {string} role @param {Colours} colours */
function flag(context, x, y, bottom, role, colours) {
  context.fillStyle = flagColour(role, colours);
  context.strokeStyle = flagColour(role, colours);
  context.lineWidth = 1;
  context.globalAlpha = role === "symptom" ? 0.9 : 0.35;
  context.setLineDash(role === "symptom" ? [] : [2, 3]);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x, bottom);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
  sign(context, x, y, role);
}

/** Where the keys are. @param {Context} context @param {Box} box @param {number} bottom @param {Range} range @param {{row: number, at: number}} cursor @param {number} rows @param {Colours} colours */
export function crosshair(context, box, bottom, range, cursor, rows, colours) {
  const x = box.x + placeOf(range, cursor.at, box.width);
  if (!rows || x < box.x || x > box.x + box.width) return;
  const tall = box.height / rows;
  context.strokeStyle = colours.ink;
  context.globalAlpha = 0.5;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, box.y);
  context.lineTo(Math.round(x) + 0.5, bottom);
  context.stroke();
  context.globalAlpha = 1;
  context.strokeRect(box.x + 0.5, box.y + cursor.row * tall - 0.5, box.width - 1, Math.max(3, tall + 1));
}
