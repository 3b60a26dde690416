// The stretch of time that is looked at: moved, zoomed, and kept within what there is.

/** @typedef {{from: number, to: number}} Range */

/** The shortest stretch that can be looked at, in milliseconds. */
export const SHORTEST = 10;

/** The part of `share` of it that lies before `at` stays where it is. @param {Range} range @param {number} factor @param {number} at @param {Range} whole @returns {Range} */
export function zoomed(range, factor, at, whole) {
  const most = Math.max(SHORTEST, whole.to - whole.from);
  const length = Math.min(most, Math.max(SHORTEST, (range.to - range.from) * factor));
  const share = (at - range.from) / (range.to - range.from);
  const from = at - share * length;
  return within({ from, to: from + length }, whole);
}

/** @param {Range} range @param {number} by @param {Range} whole @returns {Range} */
export function moved(range, by, whole) {
  return within({ from: range.from + by, to: range.to + by }, whole);
}

/** As long as it is, within the whole; what is longer becomes the whole. @param {Range} range @param {Range} whole @returns {Range} */
export function within(range, whole) {
  const length = range.to - range.from;
  if (length >= whole.to - whole.from) return { from: whole.from, to: Math.max(whole.to, whole.from + SHORTEST) };
  const from = Math.min(Math.max(range.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** A stretch with room around it. @param {Range} range @param {number} share @param {Range} whole @returns {Range} */
export function widened(range, share, whole) {
  const more = (range.to - range.from) * share;
  return within({ from: range.from - more, to: range.to + more }, whole);
}

/** @param {Range} range @param {number} x @param {number} width @returns {number} */
export function timeAt(range, x, width) {
  return range.from + ((range.to - range.from) * x) / Math.max(1, width);
}

/** @param {Range} range @param {number} at @param {number} width @returns {number} */
export function placeOf(range, at, width) {
  return ((at - range.from) / Math.max(1e-9, range.to - range.from)) * width;
}

/** Whether one covers the other. @param {Range} outer @param {Range} inner */
export function covers(outer, inner) {
  return outer.from <= inner.from && outer.to >= inner.to;
}
