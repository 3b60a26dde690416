// Times as people read them. Everywhere in the page a time is milliseconds since 1970, UTC, with fractions.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY,
];

/** @typedef {"utc" | "local"} Zone */

/** Nanoseconds, as the API takes them, of milliseconds. @param {number} ms @returns {string} */
export function nanoseconds(ms) {
  const whole = Math.floor(ms);
  const rest = Math.round((ms - whole) * 1e6);
  return (BigInt(whole) * 1000000n + BigInt(rest)).toString();
}

/** Milliseconds of nanoseconds as the API tells them. @param {number} ns @returns {number} */
export function milliseconds(ns) {
  return ns / 1e6;
}

/** How far local time is ahead of UTC then. @param {number} ms @param {Zone} zone @returns {number} */
function offset(ms, zone) {
  return zone === "utc" ? 0 : -new Date(ms).getTimezoneOffset() * MINUTE;
}

/** @param {number} value @param {number} [digits] */
function padded(value, digits = 2) {
  return String(value).padStart(digits, "0");
}

/** Date and time of day, to the given length of a step. @param {number} ms @param {Zone} zone @param {number} [step] */
export function moment(ms, zone, step = 1) {
  return `${day(ms, zone)} ${timeOfDay(ms, zone, step)}`;
}

/** @param {number} ms @param {Zone} zone */
export function day(ms, zone) {
  const at = new Date(ms + offset(ms, zone));
  return `${at.getUTCFullYear()}-${padded(at.getUTCMonth() + 1)}-${padded(at.getUTCDate())}`;
}

/** 14:03, 14:03:07 or 14:03:07.250, as a step needs it. @param {number} ms @param {Zone} zone @param {number} step */
export function timeOfDay(ms, zone, step) {
  const at = new Date(Math.floor(ms + offset(ms, zone)));
  const minutes = `${padded(at.getUTCHours())}:${padded(at.getUTCMinutes())}`;
  if (step >= MINUTE) return minutes;
  const seconds = `${minutes}:${padded(at.getUTCSeconds())}`;
  return step >= SECOND ? seconds : `${seconds}.${padded(at.getUTCMilliseconds(), 3)}`;
}

/** UTC, or the zone of the browser with its offset. @param {Zone} zone @param {number} ms */
export function zoneName(zone, ms) {
  if (zone === "utc") return "UTC";
  const minutes = Math.round(offset(ms, zone) / MINUTE);
  const sign = minutes < 0 ? "-" : "+";
  const from = `${padded(Math.floor(Math.abs(minutes) / 60))}:${padded(Math.abs(minutes) % 60)}`;
  return `UTC${sign}${from}`;
}

/** How long something is, in two units at most. @param {number} ms @returns {string} */
export function span(ms) {
  if (ms < 0) return `-${span(-ms)}`;
  if (ms < 1) return `${trimmed(ms)} ms`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${trimmed(ms / SECOND)} s`;
  const [unit, name, next, below] = ms < HOUR ? [MINUTE, "min", SECOND, "s"] : ms < DAY ? [HOUR, "h", MINUTE, "min"] : [DAY, "d", HOUR, "h"];
  let whole = Math.floor(ms / Number(unit));
  let rest = Math.round((ms - whole * Number(unit)) / Number(next));
  if (rest * Number(next) >= Number(unit)) {
    whole += 1;
    rest = 0;
    if (whole === 60 && ms < HOUR) return span(HOUR);
    if (whole === 24 && unit === HOUR) return span(DAY);
  }
  return rest ? `${whole} ${name} ${rest} ${below}` : `${whole} ${name}`;
}

/** @param {number} value */
function trimmed(value) {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/**
 * Where ticks of an axis stand, at most so many, at round times of the zone that is shown.
 * @param {number} from @param {number} to @param {number} most @param {Zone} zone
 * @returns {{step: number, at: number[]}}
 */
export function ticks(from, to, most, zone) {
  const wanted = (to - from) / Math.max(1, most);
  const step = STEPS.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY) * DAY;
  const shift = offset(from, zone);
  const at = [];
  for (let tick = Math.ceil((from + shift) / step) * step - shift; tick <= to; tick += step) at.push(tick);
  return { step, at };
}
