// Rectangles that were chosen, on whatever rows a picture has.

import { placeOf } from "../lib/range.js";
import { BOLD } from "../draw/theme.js";

/**
 * @param {import("../draw/theme.js").Context} context @param {import("../draw/axis.js").Box} box @param {number} bottom
 * @param {import("../lib/range.js").Range} range @param {import("../lib/url_state.js").Choice} choice @param {"A" | "B"} name
 * @param {[number, number]} rows @param {number} of @param {import("../draw/theme.js").Colours} colours
 */
export function marked(context, box, bottom, range, choice, name, rows, of, colours) {
  const left = Math.max(-2, placeOf(range, choice.from, box.width));
  const right = Math.min(box.width + 2, placeOf(range, choice.to, box.width));
  if (right < 0 || left > box.width) return;
  const tall = box.height / Math.max(1, of);
  const top = box.y + rows[0] * tall;
  const high = Math.max(4, (rows[1] - rows[0] + 1) * tall);
  const colour = name === "A" ? colours.a : colours.b;
  context.save();
  context.globalAlpha = 0.10;
  context.fillStyle = colour;
  context.fillRect(box.x + left, box.y, right - left, bottom - box.y);
  context.globalAlpha = 1;
  context.lineWidth = 4;
  context.strokeStyle = colours.halo;
  context.strokeRect(box.x + left, top, Math.max(2, right - left), high);
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.setLineDash(name === "A" ? [] : [6, 3]);
  context.strokeRect(box.x + left, top, Math.max(2, right - left), high);
  context.setLineDash([]);
  context.font = BOLD;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const at = Math.min(box.x + box.width - 10, Math.max(box.x + 10, box.x + left - 10));
  context.fillStyle = colour;
  context.fillRect(at - 8, top, 16, 16);
  context.fillStyle = colours.halo;
  context.fillText(name, at, top + 8);
  context.restore();
}
