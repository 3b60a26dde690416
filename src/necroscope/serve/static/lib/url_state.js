// Every view is an address: what is looked at stands behind the # of the page, which no server sees. `v` is the version
// of these words; addresses of older versions are brought up to date, those of newer ones are opened as far as they are
// understood.

/**
 * @typedef {{from: number, to: number, cpus: number[], pids: number[], tids: number[], cgroups: string[]}} Choice
 * @typedef {"timeline" | "moment" | "zombies" | "verdict"} ViewName
 * @typedef {"core" | "process" | "thread" | "cgroup"} Rows
 * @typedef {object} State
 * @property {ViewName} view
 * @property {number | null} from
 * @property {number | null} to
 * @property {string} look
 * @property {Rows} rows
 * @property {Choice | null} a
 * @property {Choice | null} b
 * @property {"none" | "usual" | "b"} against
 * @property {string} search
 * @property {string} include
 * @property {string} exclude
 * @property {boolean} inverted
 * @property {boolean} upright
 * @property {string} event
 * @property {"utc" | "local"} zone
 * @property {boolean} follow
 * @property {boolean} tables
 */

export const VERSION = 1;

/** @type {State} */
export const EMPTY = {
  view: "timeline", from: null, to: null, look: "busy", rows: "core", a: null, b: null, against: "none", search: "",
  include: "", exclude: "", inverted: false, upright: false, event: "", zone: "utc", follow: false, tables: false,
};

const VIEWS = ["timeline", "moment", "zombies", "verdict"];
const LOOKS = ["busy", "system", "user", "irq", "steal", "idle"];
const ROWS = ["core", "process", "thread", "cgroup"];
const MOST_TEXT = 512;

/** By version: what makes words of it into words of the next. @type {Record<number, (words: URLSearchParams) => void>} */
export const UPGRADERS = {
  // 0 was never released: `t` was the window.
  0: (words) => {
    const [from, to] = (words.get("t") ?? "").split("-");
    if (from && to) {
      words.set("from", from);
      words.set("to", to);
    }
    words.delete("t");
  },
};

/** @param {string} text @returns {State} */
export function parsed(text) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  let version = Number(words.get("v") ?? VERSION);
  while (version < VERSION && UPGRADERS[version]) {
    UPGRADERS[version](words);
    version += 1;
  }
  const from = time(words.get("from"));
  const to = time(words.get("to"));
  const ordered = from !== null && to !== null && to > from;
  const a = choice(words, "a");
  const b = choice(words, "b");
  const against = one(words.get("vs"), ["none", "usual", "b"], "none");
  return {
    view: /** @type {ViewName} */ (one(words.get("view"), VIEWS, "timeline")),
    from: ordered ? from : null,
    to: ordered ? to : null,
    look: one(words.get("look"), LOOKS, "busy"),
    rows: /** @type {Rows} */ (one(words.get("rows"), ROWS, "core")),
    a,
    b,
    against: /** @type {State["against"]} */ (against === "b" && !b ? "none" : against),
    search: (words.get("q") ?? "").slice(0, MOST_TEXT),
    include: (words.get("in") ?? "").slice(0, MOST_TEXT),
    exclude: (words.get("out") ?? "").slice(0, MOST_TEXT),
    inverted: words.get("inv") === "1",
    upright: words.get("up") === "1",
    event: (words.get("event") ?? "").slice(0, 64),
    zone: words.get("zone") === "local" ? "local" : "utc",
    follow: words.get("follow") === "1",
    tables: words.get("tables") === "1",
  };
}

/** The shortest address of a state. @param {State} state @returns {string} */
export function written(state) {
  const words = new URLSearchParams();
  words.set("v", String(VERSION));
  /** @type {[string, string, boolean][]} */
  const plain = [
    ["view", state.view, state.view !== "timeline"],
    ["from", rounded(state.from), state.from !== null],
    ["to", rounded(state.to), state.to !== null],
    ["look", state.look, state.look !== "busy"],
    ["rows", state.rows, state.rows !== "core"],
    ["vs", state.against, state.against !== "none"],
    ["q", state.search, state.search !== ""],
    ["in", state.include, state.include !== ""],
    ["out", state.exclude, state.exclude !== ""],
    ["inv", "1", state.inverted],
    ["up", "1", state.upright],
    ["event", state.event, state.event !== ""],
    ["zone", state.zone, state.zone !== "utc"],
    ["follow", "1", state.follow],
    ["tables", "1", state.tables],
  ];
  for (const [name, value, told] of plain) if (told) words.set(name, value);
  write(words, "a", state.a);
  write(words, "b", state.b);
  return `#${words}`;
}

/** @param {URLSearchParams} words @param {string} name @param {Choice | null} chosen */
function write(words, name, chosen) {
  if (!chosen) return;
  words.set(name, `${rounded(chosen.from)}-${rounded(chosen.to)}`);
  for (const [key, values] of /** @type {[string, number[]][]} */ ([["cpus", chosen.cpus], ["pids", chosen.pids], ["tids", chosen.tids]])) {
    if (values.length) words.set(`${name}.${key}`, values.join(","));
  }
  if (chosen.cgroups.length) words.set(`${name}.cgroups`, JSON.stringify(chosen.cgroups));
}

/** @param {URLSearchParams} words @param {string} name @returns {Choice | null} */
function choice(words, name) {
  const [low, high] = (words.get(name) ?? "").split("-");
  const from = time(low);
  const to = time(high);
  if (from === null || to === null || to <= from) return null;
  return { from, to, cpus: numbers(words.get(`${name}.cpus`)), pids: numbers(words.get(`${name}.pids`)), tids: numbers(words.get(`${name}.tids`)), cgroups: texts(words.get(`${name}.cgroups`)) };
}

/** @param {string | null | undefined} text */
function time(text) {
  const value = text ? Number(text) : NaN;
  return Number.isFinite(value) && value > 0 && value < 9.2e15 ? value : null;
}

/** @param {number | null} ms */
function rounded(ms) {
  return ms === null ? "" : String(Math.round(ms * 1000) / 1000);
}

/** @param {string | null} text @param {string[]} known @param {string} usual */
function one(text, known, usual) {
  return text !== null && known.includes(text) ? text : usual;
}

/** @param {string | null} text */
function numbers(text) {
  return (text ?? "").split(",").filter(Boolean).map(Number).filter(Number.isInteger).slice(0, 256);
}

/** @param {string | null} text */
function texts(text) {
  try {
    const found = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter((entry) => typeof entry === "string").slice(0, 64) : [];
  } catch {
    return [];
  }
}
