// What keys do. A picture that has the focus is asked first.

/** @typedef {import("../main.js").Page} Page */

const VIEWS = /** @type {const} */ ({ 1: "timeline", 2: "moment", 3: "zombies", 4: "verdict" });

/** @param {Page} page @param {KeyboardEvent} event */
export function keys(page, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.metaKey || (event.altKey && event.key !== "Alt") || target.closest("dialog")) return;
  if (target.matches("input, select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const pictures = { timeline: page.timeline, moment: page.moment, flame: page.flame };
  const here = pictures[/** @type {keyof typeof pictures} */ (target.id)];
  if (here?.key(event) || (!event.ctrlKey && general(page, event, target))) event.preventDefault();
}

/** @param {Page} page @param {KeyboardEvent} event @param {HTMLElement} target */
function general(page, event, target) {
  const { model } = page;
  const { state } = model;
  if (event.key in VIEWS) {
    model.set({ view: VIEWS[/** @type {keyof typeof VIEWS} */ (/** @type {unknown} */ (event.key))] }, true);
    return true;
  }
  /** @type {Record<string, () => void>} */
  const verbs = {
    "+": () => model.zoom(0.5, cursorOf(page)),
    "=": () => model.zoom(0.5, cursorOf(page)),
    "-": () => model.zoom(2, cursorOf(page)),
    0: () => page.all(),
    "[": () => model.pan(-0.25),
    "]": () => model.pan(0.25),
    n: () => step(page, 1),
    p: () => step(page, -1),
    m: () => page.inside(),
    d: () => model.set({ against: state.against === "usual" ? (state.b ? "b" : "none") : "usual" }),
    i: () => model.set({ inverted: !state.inverted }),
    u: () => model.set({ upright: !state.upright }),
    t: () => model.set({ tables: !state.tables }),
    z: () => model.set({ zone: state.zone === "utc" ? "local" : "utc" }),
    f: () => page.follow(),
    "/": () => document.getElementById("search")?.focus(),
    "?": () => page.help(true),
    Escape: () => model.clear(),
  };
  const verb = verbs[event.key];
  if (!verb || (target.matches("button") && event.key === "Enter")) return false;
  verb();
  return true;
}

/** Where zooming stays: the cursor of the picture, if it is in view. @param {Page} page */
function cursorOf(page) {
  const picture = page.model.state.view === "moment" ? page.moment : page.timeline;
  const at = picture?.cursor?.at;
  const { range } = page.model;
  return at !== undefined && at >= range.from && at <= range.to ? at : undefined;
}

/** To the next flag of some weight. @param {Page} page @param {number} by */
function step(page, by) {
  const { model } = page;
  const middle = (model.range.from + model.range.to) / 2;
  const telling = model.flags.filter((flag) => flag.role !== "note" && (by > 0 ? flag.at > middle + 1 : flag.at < middle - 1));
  const next = by > 0 ? telling[0] : telling[telling.length - 1];
  if (!next) return model.say("no further flag that way");
  const half = Math.min(30_000, (model.range.to - model.range.from) / 2);
  model.look({ from: next.at - half, to: next.at + half }, true);
  return model.say(`${next.kind} ${next.subject}`);
}
