// The flame graph on a canvas as large as what is seen of it: rows that are scrolled away are not drawn, boxes of less
// than half a pixel are drawn together.

import { between, boxAt, changeOf, kindOf, nameOf } from "../lib/flame_layout.js";
import { change, codeKind, css, hit } from "../lib/palette.js";
import { plain } from "../lib/text.js";
import { SMALL, fitting } from "./theme.js";

/** @typedef {import("../lib/flame_layout.js").Graph} Graph */
/** @typedef {import("./theme.js").Context} Context */
/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {{x0: number, x1: number, top: number, upright: boolean, focus: number, hit: Uint8Array | null, pointed: number}} Look */

export const ROW = 18;
const INK = "#14141a";

/** How high all rows are. @param {Graph} graph */
export function heightOf(graph) {
  return graph.rows.length * ROW;
}

/** Where a row lies, in a picture that is so high and scrolled to `top`. @param {Graph} graph @param {number} depth @param {Look} look */
export function rowTop(graph, depth, look) {
  return (look.upright ? graph.rows.length - 1 - depth : depth) * ROW - look.top;
}

/** The box below a place of the picture; -1: there is none. @param {Graph} graph @param {Look} look @param {number} x share of the width @param {number} y */
export function pointedAt(graph, look, x, y) {
  const row = Math.floor((y + look.top) / ROW);
  const depth = look.upright ? graph.rows.length - 1 - row : row;
  return boxAt(graph, depth, look.x0 + x * (look.x1 - look.x0));
}

/** @param {Context} context @param {number} width @param {number} height @param {Graph} graph @param {Look} look @param {Colours} colours */
export function flame(context, width, height, graph, look, colours) {
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, width, height);
  context.font = SMALL;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const paint = painter(graph, look);
  const scale = width / (look.x1 - look.x0);
  for (let depth = 0; depth < graph.rows.length; depth += 1) {
    const y = rowTop(graph, depth, look);
    if (y > -ROW && y < height) row(context, graph, look, depth, y, scale, paint);
  }
  for (const [box, colour] of /** @type {[number, string][]} */ ([[look.pointed, colours.dim], [look.focus, colours.ink]])) {
    if (box < 0) continue;
    const left = Math.max(0, (graph.x0[box] - look.x0) * scale);
    const right = Math.min(width, (graph.x1[box] - look.x0) * scale);
    context.strokeStyle = colour;
    context.lineWidth = 2;
    if (right > left) context.strokeRect(left + 1, rowTop(graph, graph.depth[box], look) + 1, Math.max(1, right - left - 2), ROW - 3);
  }
}

/** @param {Context} context @param {Graph} graph @param {Look} look @param {number} depth @param {number} y @param {number} scale @param {(box: number) => string} paint */
function row(context, graph, look, depth, y, scale, paint) {
  const boxes = graph.rows[depth];
  const [first, last] = between(graph, depth, look.x0, look.x1);
  let narrowTo = -1;
  for (let place = first; place < last; place += 1) {
    const box = boxes[place];
    const left = Math.max(-2, (graph.x0[box] - look.x0) * scale);
    const right = Math.min((look.x1 - look.x0) * scale + 2, (graph.x1[box] - look.x0) * scale);
    if (right - left < 0.5) {
      if (left < narrowTo) continue;
      narrowTo = left + 1;
      context.fillStyle = "#a8a8ae";
      context.fillRect(left, y, 1, ROW - 1);
      continue;
    }
    context.fillStyle = paint(box);
    context.fillRect(left, y, Math.max(0.5, right - left - (right - left > 3 ? 1 : 0)), ROW - 1);
    if (right - left < 24) continue;
    context.fillStyle = INK;
    const sign = signOf(graph, box);
    context.fillText(fitting(context, sign + plain(nameOf(graph, box), 200), right - Math.max(0, left) - 7), Math.max(0, left) + 3, y + ROW / 2);
  }
}

/** A sign for each change, so that it is seen without colours; what is new or gone is told once, where it begins. @param {Graph} graph @param {number} box */
function signOf(graph, box) {
  const change = changeOf(graph, box);
  const above = box > 0 ? changeOf(graph, graph.parent[box]) : "";
  if (change === "new") return above === "new" ? "+ " : "+ NEW ";
  if (change === "gone") return above === "gone" ? "− " : "− GONE ";
  return change === "more" ? "+ " : change === "less" ? "− " : "";
}

/** @param {Graph} graph @param {Look} look @returns {(box: number) => string} */
function painter(graph, look) {
  const searched = css(hit());
  if (graph.before) {
    const before = graph.before;
    let largest = 1e-9;
    for (let box = 0; box < graph.cores.length; box += 1) {
      if (changeOf(graph, box)) largest = Math.max(largest, Math.abs(graph.cores[box] - before[box]));
    }
    const steps = Array.from({ length: 25 }, (_, step) => css(change((step - 12) / 12)));
    return (box) => {
      if (look.hit?.[box]) return searched;
      const size = changeOf(graph, box) ? (graph.cores[box] - before[box]) / largest : 0;
      return steps[12 + Math.round(12 * Math.max(-1, Math.min(1, size)))];
    };
  }
  /** @type {Map<string, string[]>} */
  const kinds = new Map(graph.head.kinds.map((/** @type {string} */ kind) => [kind, [0, 1, 2, 3, 4].map((turn) => css(codeKind(kind, turn)))]));
  return (box) => (look.hit?.[box] ? searched : /** @type {string[]} */ (kinds.get(kindOf(graph, box)))[graph.name[box] % 5]);
}
