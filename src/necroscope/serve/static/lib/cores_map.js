// The map of cores as the server pooled it: what a cell says, in words and as a table.

/**
 * @typedef {object} CoresMap
 * @property {number} from milliseconds
 * @property {number} to
 * @property {number} column milliseconds of a column
 * @property {number} columns
 * @property {number[]} cpus
 * @property {string} look
 * @property {number} full
 * @property {number} unknown
 * @property {Uint8Array} mean
 * @property {Uint8Array} peak
 * @property {Uint16Array} held
 * @property {[number, number][]} notRead
 */

/** @param {import("./columns.js").Columns} told @returns {CoresMap} */
export function coresMap({ head, arrays }) {
  const from = head.from_ns / 1e6;
  const column = head.column_ns / 1e6;
  return {
    from, to: from + column * head.columns, column, columns: head.columns, cpus: head.cpus, look: head.look, full: head.full,
    unknown: head.unknown, mean: /** @type {Uint8Array} */ (arrays.mean), peak: /** @type {Uint8Array} */ (arrays.peak),
    held: /** @type {Uint16Array} */ (arrays.held),
    notRead: head.not_read.map((/** @type {[number, number]} */ one) => [one[0] / 1e6, one[1] / 1e6]),
  };
}

/** @typedef {{known: boolean, mean: number, peak: number, held: number}} Cell */

/** @param {CoresMap} map @param {number} row @param {number} column @returns {Cell} */
export function cell(map, row, column) {
  const place = row * map.columns + column;
  const known = column >= 0 && column < map.columns && row >= 0 && row < map.cpus.length && map.mean[place] !== map.unknown;
  return { known, mean: known ? map.mean[place] / map.full : 0, peak: known ? map.peak[place] / map.full : 0, held: known ? map.held[place] : 0 };
}

/** @typedef {{cpu: number, mean: number, peak: number, held: number, heldAt: number | null, known: number}} CoreRow */

/** Each core within a stretch: mean, highest second, longest full stretch and when. Full stretches that go on from column to column count as one. @param {CoresMap} map @param {number} from @param {number} to @returns {CoreRow[]} */
export function table(map, from, to) {
  const first = Math.max(0, Math.floor((from - map.from) / map.column));
  const last = Math.min(map.columns, Math.ceil((to - map.from) / map.column));
  const second = map.column / 1000;
  return map.cpus.map((cpu, row) => {
    let sum = 0;
    let known = 0;
    let peak = 0;
    let held = 0;
    /** @type {number | null} */
    let heldAt = null;
    let running = 0;
    for (let column = first; column < last; column += 1) {
      const one = cell(map, row, column);
      if (!one.known) {
        running = 0;
        continue;
      }
      known += 1;
      sum += one.mean;
      peak = Math.max(peak, one.peak);
      // Where in a column that is full in part the full seconds lie is not told: they count by themselves.
      const whole = one.held >= second;
      running = whole ? running + one.held : 0;
      if (Math.max(running, one.held) > held) {
        held = Math.max(running, one.held);
        heldAt = map.from + (column + 1) * map.column - (whole ? running * 1000 : map.column);
      }
    }
    return { cpu, mean: known ? sum / known : NaN, peak: known ? peak : NaN, held, heldAt, known: last > first ? known / (last - first) : 0 };
  });
}

/** All cores together by column, for the small map: the mean, and the longest full stretch of any core. @param {CoresMap} map */
export function summed(map) {
  const mean = new Float32Array(map.columns).fill(NaN);
  const held = new Uint16Array(map.columns);
  for (let column = 0; column < map.columns; column += 1) {
    let sum = 0;
    let known = 0;
    for (let row = 0; row < map.cpus.length; row += 1) {
      const one = cell(map, row, column);
      if (!one.known) continue;
      sum += one.mean;
      known += 1;
      held[column] = Math.max(held[column], one.held);
    }
    if (known) mean[column] = sum / known;
  }
  return { mean, held };
}
