// Labels that never collide: of those that would, the more important one stays; what is left out is counted.

/** @typedef {{at: number, width: number, rank: number, index: number}} Wish */
/** @typedef {{index: number, left: number, row: number}} Placed */

/**
 * Labels in rows: each beside its place, in the first row that has room; those without room are left out.
 * @param {Wish[]} wishes @param {number} width @param {number} rows @param {number} [gap] @returns {{placed: Placed[], left: number[]}}
 */
export function placed(wishes, width, rows, gap = 6) {
  /** @type {[number, number][][]} */
  const taken = Array.from({ length: rows }, () => []);
  const found = [];
  const left = [];
  for (const wish of [...wishes].sort((one, other) => other.rank - one.rank || one.at - other.at)) {
    const from = Math.max(0, Math.min(wish.at, width - wish.width));
    const row = taken.findIndex((spans) => spans.every(([low, high]) => from + wish.width + gap <= low || from >= high + gap));
    if (row < 0 || wish.width > width) {
      left.push(wish.index);
      continue;
    }
    taken[row].push([from, from + wish.width]);
    found.push({ index: wish.index, left: from, row });
  }
  return { placed: found, left };
}

/** The texts of an axis that have room, of those that stand at these places. @param {{at: number, width: number}[]} marks @param {number} width @returns {boolean[]} */
export function roomFor(marks, width) {
  let end = -Infinity;
  return marks.map((mark) => {
    const from = mark.at - mark.width / 2;
    if (from < end + 8 || from < 0 || mark.at + mark.width / 2 > width) return false;
    end = mark.at + mark.width / 2;
    return true;
  });
}
