// A rectangle that was drawn: a stretch of time, and which rows of it.

import { nanoseconds, span } from "./time.js";

/** @typedef {import("./url_state.js").Choice} Choice */
/** @typedef {{label: string, cpu?: number, pid?: number, tid?: number, cgroup?: string}} Row */

/** A choice of some rows; all of them ask for no row in particular. @param {number} from @param {number} to @param {Row[]} rows @param {number} of @returns {Choice} */
export function chosen(from, to, rows, of) {
  /** @type {Choice} */
  const made = { from: Math.min(from, to), to: Math.max(from, to), cpus: [], pids: [], tids: [], cgroups: [] };
  if (rows.length >= of) return made;
  for (const row of rows) {
    if (row.cpu !== undefined) made.cpus.push(row.cpu);
    else if (row.tid !== undefined) made.tids.push(row.tid);
    else if (row.pid !== undefined) made.pids.push(row.pid);
    else if (row.cgroup !== undefined) made.cgroups.push(row.cgroup);
  }
  return made;
}

/** Parameters of the API for a choice. @param {Choice} one @returns {Record<string, string>} */
export function parameters(one) {
  /** @type {Record<string, string>} */
  const made = { from: nanoseconds(one.from), to: nanoseconds(one.to) };
  return Object.assign(made, rowParameters(one, ""));
}

/** @param {Choice} one @param {string} prefix @returns {Record<string, string>} */
export function rowParameters(one, prefix) {
  /** @type {Record<string, string>} */
  const made = {};
  if (one.cpus.length) made[`${prefix}cpus`] = one.cpus.join(",");
  if (one.pids.length) made[`${prefix}pids`] = one.pids.join(",");
  if (one.tids.length) made[`${prefix}tids`] = one.tids.join(",");
  if (one.cgroups.length) made[`${prefix}cgroups`] = JSON.stringify(one.cgroups);
  return made;
}

/** In words: 5 s of cores 38-40. @param {Choice} one @returns {string} */
export function words(one) {
  const of = [];
  if (one.cpus.length) of.push(`${one.cpus.length === 1 ? "core" : "cores"} ${ranges(one.cpus)}`);
  if (one.pids.length) of.push(one.pids.length === 1 ? `process ${one.pids[0]}` : `${one.pids.length} processes`);
  if (one.tids.length) of.push(one.tids.length === 1 ? `thread ${one.tids[0]}` : `${one.tids.length} threads`);
  if (one.cgroups.length) of.push(one.cgroups.length === 1 ? one.cgroups[0] : `${one.cgroups.length} cgroups`);
  return `${span(one.to - one.from)} of ${of.join(", ") || "all rows"}`;
}

/** 1-3, 7. @param {number[]} numbers */
export function ranges(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  /** @type {[number, number][]} */
  const found = [];
  for (const one of sorted) {
    const last = found[found.length - 1];
    if (last && last[1] === one - 1) last[1] = one;
    else found.push([one, one]);
  }
  return found.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`)).join(", ");
}

/** Everything in a stretch. @param {import("./range.js").Range} range @returns {Choice} */
export function choiceWhole(range) {
  return { from: range.from, to: range.to, cpus: [], pids: [], tids: [], cgroups: [] };
}
