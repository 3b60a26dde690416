// The boxes of a flame graph, as the server laid them out: found by depth and place, zoomed, searched, walked.

/**
 * @typedef {object} Graph
 * @property {any} head
 * @property {Float32Array} x0
 * @property {Float32Array} x1
 * @property {Uint32Array} parent
 * @property {Uint32Array} name
 * @property {Uint32Array} module
 * @property {Uint16Array} depth
 * @property {Uint8Array} kind
 * @property {Uint32Array} samples
 * @property {Uint32Array} own
 * @property {Float32Array} cores
 * @property {Float32Array | null} before
 * @property {Float32Array | null} chance
 * @property {Uint32Array[]} rows boxes by depth, from left to right
 * @property {Uint32Array} end the box after the last one below each
 */

/** @param {import("./columns.js").Columns} columns @returns {Graph} */
export function graph({ head, arrays }) {
  const told = /** @type {any} */ (arrays);
  const depth = /** @type {Uint16Array} */ (told.depth);
  const counts = new Uint32Array(depth.reduce((most, one) => Math.max(most, one), 0) + 1);
  for (const one of depth) counts[one] += 1;
  const rows = Array.from(counts, (count) => new Uint32Array(count));
  const filled = new Uint32Array(counts.length);
  for (let box = 0; box < depth.length; box += 1) rows[depth[box]][filled[depth[box]]++] = box;
  const end = new Uint32Array(depth.length);
  /** @type {number[]} */
  const open = [];
  for (let box = 0; box <= depth.length; box += 1) {
    const level = box < depth.length ? depth[box] : -1;
    while (open.length && depth[open[open.length - 1]] >= level) end[/** @type {number} */ (open.pop())] = box;
    if (box < depth.length) open.push(box);
  }
  return { head, ...told, before: told.before ?? null, chance: told.chance ?? null, rows, end };
}

/** @param {Graph} one @param {number} box */
export function nameOf(one, box) {
  return one.head.names[one.name[box]];
}

/** @param {Graph} one @param {number} box */
export function moduleOf(one, box) {
  return one.head.modules[one.module[box]];
}

/** @param {Graph} one @param {number} box @returns {string} */
export function kindOf(one, box) {
  return one.head.kinds[one.kind[box]];
}

/** The box at a place of the whole width, in a row; -1: there is none. @param {Graph} one @param {number} depth @param {number} x */
export function boxAt(one, depth, x) {
  const row = one.rows[depth];
  if (!row) return -1;
  let low = 0;
  let high = row.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const box = row[middle];
    if (x < one.x0[box]) high = middle - 1;
    else if (x >= one.x1[box]) low = middle + 1;
    else return box;
  }
  return -1;
}

/** The boxes of a row from the first that ends after `x0` to the last that begins before `x1`. @param {Graph} one @param {number} depth @param {number} x0 @param {number} x1 @returns {[number, number]} */
export function between(one, depth, x0, x1) {
  const row = one.rows[depth];
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (one.x1[row[middle]] <= x0) low = middle + 1;
    else high = middle;
  }
  const first = low;
  high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (one.x0[row[middle]] < x1) low = middle + 1;
    else high = middle;
  }
  return [first, low];
}

/** From the outermost box to this one. @param {Graph} one @param {number} box */
export function path(one, box) {
  const found = [];
  for (let at = box; at > 0; at = one.parent[at]) found.push(at);
  return [0, ...found.reverse()].filter((at, place, all) => place === 0 || at !== all[place - 1]);
}

/** The stack as text, outermost first, one frame a line. @param {Graph} one @param {number} box */
export function stackText(one, box) {
  return path(one, box).slice(1).map((at) => `${nameOf(one, at)}${moduleOf(one, at) ? ` (${moduleOf(one, at)})` : ""}`).join("\n");
}

/** @param {Graph} one @param {number} box @returns {number[]} */
export function children(one, box) {
  const found = [];
  for (let at = box + 1; at < one.end[box]; at = one.end[at]) found.push(at);
  return found;
}

/** The next or previous box below the same parent; -1: there is none. @param {Graph} one @param {number} box @param {number} step */
export function sibling(one, box, step) {
  if (box === 0) return -1;
  const all = children(one, one.parent[box]);
  return all[all.indexOf(box) + step] ?? -1;
}

/** What a search finds: which boxes, and the share of the whole that is below any of them, none counted twice. @param {Graph} one @param {string} text */
export function matches(one, text) {
  const wanted = text.toLowerCase();
  const names = one.head.names.map((/** @type {string} */ name) => wanted !== "" && name.toLowerCase().includes(wanted));
  const modules = one.head.modules.map((/** @type {string} */ name) => wanted !== "" && name.toLowerCase().includes(wanted));
  const hit = new Uint8Array(one.name.length);
  let cores = 0;
  let number = 0;
  let until = 0;
  for (let box = 0; box < hit.length; box += 1) {
    if (box === 0 || !(names[one.name[box]] || modules[one.module[box]])) continue;
    hit[box] = 1;
    number += 1;
    if (box >= until) {
      cores += one.cores[box];
      until = one.end[box];
    }
  }
  return { hit, number, share: one.cores[0] > 0 ? cores / one.cores[0] : 0 };
}

/** What a change against the baseline is; "" where there is no baseline, or where it may be chance. @param {Graph} one @param {number} box @returns {"" | "new" | "gone" | "more" | "less"} */
export function changeOf(one, box) {
  if (!one.before || !one.chance || one.chance[box] >= one.head.sure) return "";
  if (one.before[box] <= 0) return "new";
  if (one.cores[box] <= 0) return "gone";
  return one.cores[box] > one.before[box] ? "more" : "less";
}

/** @typedef {{name: string, module: string, kind: string, own: number, cores: number, before: number, change: string, box: number}} FunctionRow */

/**
 * The functions of a graph, each once: cores with what they call, and samples of their own. Recursion counts once.
 * @param {Graph} one @returns {FunctionRow[]}
 */
export function functions(one) {
  /** @type {Map<string, FunctionRow>} */
  const found = new Map();
  const until = new Map();
  const total = one.samples[0] || 1;
  for (let box = 1; box < one.name.length; box += 1) {
    const key = `${one.name[box]}:${one.module[box]}`;
    let row = found.get(key);
    if (!row) {
      row = { name: nameOf(one, box), module: moduleOf(one, box), kind: kindOf(one, box), own: 0, cores: 0, before: 0, change: "", box };
      found.set(key, row);
    }
    row.own += one.own[box] / total;
    if (box >= (until.get(key) ?? 0)) {
      row.cores += one.cores[box];
      row.before += one.before ? one.before[box] : 0;
      until.set(key, one.end[box]);
      if (one.cores[box] > one.cores[row.box] || row.box === box) {
        row.box = box;
        row.change = changeOf(one, box) || row.change;
      }
    }
  }
  return [...found.values()];
}

/** The boxes that changed most and surely, without those that only call one that changed as much. @param {Graph} one @param {number} most */
export function changed(one, most) {
  if (!one.before) return [];
  const before = one.before;
  const size = (/** @type {number} */ box) => one.cores[box] - before[box];
  const found = [];
  for (let box = 1; box < one.name.length; box += 1) {
    if (!changeOf(one, box)) continue;
    const own = size(box);
    const below = children(one, box).filter((child) => changeOf(one, child));
    if (!below.some((child) => Math.abs(size(child)) >= 0.8 * Math.abs(own) && Math.sign(size(child)) === Math.sign(own))) found.push(box);
  }
  return found.sort((a, b) => Math.abs(size(b)) - Math.abs(size(a))).slice(0, most);
}
