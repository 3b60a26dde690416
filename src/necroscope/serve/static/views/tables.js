// A table behind each picture: the same numbers for those who read them, hear them or copy them.

import { html, nothing } from "../vendor/lit-html.js";
import { coresAt } from "../draw/moment_picture.js";
import { table as coreRows } from "../lib/cores_map.js";
import { changed, functions, moduleOf, nameOf } from "../lib/flame_layout.js";
import { figure, percent, plain } from "../lib/text.js";
import { span, timeOfDay } from "../lib/time.js";
import { table } from "./zombies.js";

/** @typedef {import("./model.js").Model} Model */

const MOST = 60;

/** Cores in view, the longest full stretch first. @param {Model} model */
export function coresTable(model) {
  const { range, state } = model;
  const layers = model.layers.filter(({ map }) => map.look === state.look);
  const layer = layers[layers.length - 1];
  if (!layer) return nothing;
  const rows = coreRows(layer.map, range.from, range.to).sort((one, other) => other.held - one.held || (other.mean || 0) - (one.mean || 0));
  return table(`Cores, ${state.look}`, ["core", "mean", "highest second", "longest full stretch", "from", "known"], rows.map((one) => [
    `core ${one.cpu}`, percent(one.mean), percent(one.peak), one.held ? span(one.held * 1000) : "none",
    one.heldAt === null ? "" : timeOfDay(one.heldAt, state.zone, 1000), percent(one.known),
  ]));
}

/** @param {Model} model */
export function tracksTable(model) {
  const set = model.tracks;
  if (!set) return nothing;
  const { range } = model;
  const first = Math.max(0, Math.floor((range.from - set.from) / set.column));
  const last = Math.min(set.columns, Math.ceil((range.to - set.from) / set.column));
  const rows = set.tracks.flatMap((one) => one.lines.map((line) => {
    const known = [...line.mean.subarray(first, last)].filter(Number.isFinite);
    const most = [...line.most.subarray(first, last)].filter(Number.isFinite);
    const mean = known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
    return [`${one.title}: ${line.name}`, one.unit, figure(mean), most.length ? figure(Math.max(...most)) : "not known", figure(known[known.length - 1])];
  }));
  return table("Tracks", ["line", "unit", "mean", "highest second", "at the end"], rows);
}

/** @param {Model} model */
export function flagsTable(model) {
  const { range, state } = model;
  const rows = model.flags.filter((flag) => flag.at >= range.from && flag.at <= range.to).slice(-MOST);
  return table("Flags", ["when", "kind", "role", "subject", "text"], rows.map((one) => [timeOfDay(one.at, state.zone, 1), plain(one.kind), one.role, plain(one.subject, 80), plain(one.text, 200)]));
}

/** @param {Model} model */
export function momentTable(model) {
  const shown = model.moment?.moment;
  if (!shown) return nothing;
  const rows = shown.rows.map((row, place) => {
    let sum = 0;
    let most = 0;
    let known = 0;
    for (let bin = 0; bin < shown.bins; bin += 1) {
      const cores = coresAt(shown, place, bin);
      if (!Number.isFinite(cores)) continue;
      sum += cores;
      known += 1;
      most = Math.max(most, cores);
    }
    return { label: plain(row.label, 160), mean: known ? sum / known : NaN, most: known ? most : NaN };
  });
  return table(`Rows by ${shown.by}`, [shown.by, "cores, mean", `highest in ${span(shown.bin)}`], rows.map((one) => [one.label, figure(one.mean), figure(one.most)]));
}

/** Functions of the flame graph, those that changed most or took most first. @param {Model} model */
export function functionsTable(model) {
  const graph = model.flame?.graph;
  if (!graph) return nothing;
  const every = functions(graph).sort((one, other) => Math.abs(other.cores - (graph.before ? other.before : 0)) - Math.abs(one.cores - (graph.before ? one.before : 0))).slice(0, MOST);
  const head = ["function", "module", "with callees", "itself", ...(graph.before ? ["before", "change"] : [])];
  const total = graph.cores[0] || 1;
  return table("Functions", head, every.map((one) => [plain(one.name, 160), plain(one.module, 80), percent(one.cores / total), percent(one.own), ...(graph.before ? [figure(one.before), `${figure(one.cores - one.before)} cores${one.change ? `, ${one.change}` : ", may be chance"}`] : [])]));
}

/** What differs from the baseline and is hardly chance. @param {Model} model @param {(box: number) => void} zoom */
export function changes(model, zoom) {
  const graph = model.flame?.graph;
  if (!graph?.before) return nothing;
  const before = graph.before;
  const found = changed(graph, 8);
  if (!found.length) return html`<p class="quiet">Nothing differs from ${plain(graph.head.compared || "the baseline")} by more than chance.</p>`;
  return html`<ol class="changes" aria-label="Largest changes">${found.map((box) => {
    const by = graph.cores[box] - before[box];
    const what = before[box] <= 0 ? "new" : graph.cores[box] <= 0 ? "vanished" : by > 0 ? "more" : "less";
    return html`<li><button class="plain" @click=${() => zoom(box)}><b>${by > 0 ? "+" : "−"}${figure(Math.abs(by))}</b> cores, ${what}: ${plain(nameOf(graph, box), 80)} <span class="quiet">${plain(moduleOf(graph, box), 40)}</span></button></li>`;
  })}</ol>`;
}
