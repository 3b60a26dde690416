// The time axis, and the flags that stand on it.

import { roomFor } from "../lib/labels.js";
import { placeOf } from "../lib/range.js";
import { day, ticks, timeOfDay, zoneName } from "../lib/time.js";
import { SMALL } from "./theme.js";

/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** Ticks with labels that do not collide; the day, and the zone, stand at the left. @param {Context} context @param {Box} box @param {import("../lib/range.js").Range} range @param {import("../lib/time.js").Zone} zone @param {Colours} colours */
export function axis(context, box, range, zone, colours) {
  const { step, at } = ticks(range.from, range.to, Math.max(2, Math.floor(box.width / 95)), zone);
  const labels = at.map((one) => (step >= 86400000 ? day(one, zone) : timeOfDay(one, zone, step)));
  context.font = SMALL;
  const marks = at.map((one, place) => ({ at: placeOf(range, one, box.width), width: context.measureText(labels[place]).width }));
  const room = roomFor(marks, box.width);
  context.strokeStyle = colours.line;
  context.fillStyle = colours.dim;
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.beginPath();
  context.moveTo(box.x, box.y + 0.5);
  context.lineTo(box.x + box.width, box.y + 0.5);
  marks.forEach((mark) => {
    context.moveTo(box.x + mark.at, box.y);
    context.lineTo(box.x + mark.at, box.y + 5);
  });
  context.stroke();
  marks.forEach((mark, place) => {
    if (room[place]) context.fillText(labels[place], box.x + mark.at, box.y + 14);
  });
  context.textAlign = "right";
  context.fillText(zoneName(zone, range.from), box.x - 6, box.y + 14);
}

/** @typedef {{id: string, at: number, kind: string, role: string, subject: string, text: string, cpu: number | null, from: number | null, to: number | null}} Flag */
/** @typedef {{flags: Flag[], at: number}} FlagGroup */

const RANK = { symptom: 4, mark: 3, complaint: 2, gap: 1, note: 0 };

/** Flags that stand too close to be told apart, together; a group is called after its most important one. @param {Flag[]} flags @param {import("../lib/range.js").Range} range @param {number} width @returns {FlagGroup[]} */
export function groups(flags, range, width) {
  /** @type {FlagGroup[]} */
  const found = [];
  for (const flag of flags) {
    const at = placeOf(range, flag.at, width);
    if (at < -8 || at > width + 8) continue;
    const last = found[found.length - 1];
    if (last && at - last.at < 14) last.flags.push(flag);
    else found.push({ flags: [flag], at });
  }
  for (const group of found) group.flags.sort((one, other) => rankOf(other) - rankOf(one));
  return found;
}

/** @param {Flag} flag */
export function rankOf(flag) {
  return RANK[/** @type {keyof typeof RANK} */ (flag.role)] ?? 0;
}

/** @param {string} role @param {Colours} colours */
export function flagColour(role, colours) {
  return role === "symptom" || role === "complaint" ? colours.symptom : role === "mark" ? colours.mark : colours.gap;
}

/** A sign for each role, so that flags are told apart without colours. @param {Context} context @param {number} x @param {number} y @param {string} role */
export function sign(context, x, y, role) {
  context.beginPath();
  if (role === "symptom") {
    context.moveTo(x, y + 5);
    context.lineTo(x - 5, y - 4);
    context.lineTo(x + 5, y - 4);
  } else if (role === "complaint") {
    context.moveTo(x, y - 5);
    context.lineTo(x + 5, y);
    context.lineTo(x, y + 5);
    context.lineTo(x - 5, y);
  } else if (role === "mark") {
    context.moveTo(x - 4, y + 5);
    context.lineTo(x - 4, y - 5);
    context.lineTo(x + 5, y - 2);
    context.lineTo(x - 2, y + 1);
    context.lineTo(x - 2, y + 5);
  } else context.rect(x - 3, y - 3, 6, 6);
  context.closePath();
  context.fill();
}
