// What the page knows and looks at. Views read it and call its verbs; it asks the server, and says when it has changed.

import { Refused } from "../lib/api.js";
import { parameters, rowParameters } from "../lib/choice.js";
import { coresMap, summed } from "../lib/cores_map.js";
import { graph } from "../lib/flame_layout.js";
import { covers, moved, widened, within, zoomed } from "../lib/range.js";
import { milliseconds, nanoseconds } from "../lib/time.js";
import { parsed, written } from "../lib/url_state.js";
import { bitmap } from "../draw/cores_picture.js";
import { bitmap as momentBitmap, momentOf } from "../draw/moment_picture.js";
import { trackSet } from "../draw/tracks_picture.js";

/** @typedef {import("../lib/url_state.js").State} State */
/** @typedef {import("../lib/url_state.js").Choice} Choice */
/** @typedef {import("../lib/range.js").Range} Range */
/** @typedef {import("../draw/cores_picture.js").Layer} Layer */
/** @typedef {import("../draw/axis.js").Flag} Flag */

export const LONGEST_MOMENT = 600_000;
const MOST_LAYERS = 8;
const AGAIN_MS = 120;
const QUIET_MS = 90;

export class Model {
  /** @param {import("../lib/api.js").Api | import("../lib/kept.js").Kept} api */
  constructor(api) {
    this.api = api;
    this.state = parsed(location.hash);
    /** @type {any} */
    this.recording = null;
    /** @type {Range | null} */
    this.whole = null;
    /** @type {number[]} */
    this.cpus = [];
    /** @type {Layer[]} */
    this.layers = [];
    /** @type {{mean: Float32Array, held: Uint16Array, map: import("../lib/cores_map.js").CoresMap} | null} */
    this.small = null;
    /** @type {import("../draw/tracks_picture.js").TrackSet[]} */
    this.trackSets = [];
    /** @type {Flag[]} */
    this.flags = [];
    /** @type {{moment: import("../draw/moment_picture.js").Moment, image: HTMLCanvasElement, key: string} | null} */
    this.moment = null;
    /** @type {{graph: import("../lib/flame_layout.js").Graph, key: string, choice: Choice} | null} */
    this.flame = null;
    /** @type {any} */
    this.verdict = null;
    /** @type {any} */
    this.zombies = null;
    /** @type {Record<string, {message: string, hint: string}>} */
    this.errors = {};
    /** @type {Set<string>} */
    this.busy = new Set();
    this.spoken = "";
    this.width = 1000;
    /** @type {"light" | "dark"} */
    this.theme = "light";
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    /** @type {Map<string, AbortController>} */
    this.asking = new Map();
    /** @type {Record<string, number>} */
    this.timers = {};
    this.epoch = 0;
    this.flagsKey = "";
    this.address = location.hash;
  }

  /** The stretch of time that is looked at. @returns {Range} */
  get range() {
    const whole = this.whole ?? { from: 0, to: 1 };
    const { from, to } = this.state;
    return from === null || to === null ? whole : within({ from, to }, whole);
  }

  /** The samples of the flame graph. @returns {Choice | null} */
  get chosen() {
    if (this.state.a) return this.state.a;
    const { from, to } = this.range;
    if (this.state.view !== "moment" || to - from > LONGEST_MOMENT) return null;
    return { from, to, cpus: [], pids: [], tids: [], cgroups: [] };
  }

  // -- what people do ---------------------------------------------------------------------------------------

  /** @param {Partial<State>} change @param {boolean} [step] whether the browser's back button comes back here */
  set(change, step = false) {
    this.state = { ...this.state, ...change };
    this.#write(step);
    this.changed();
    this.load();
  }

  /** @param {Range} range @param {boolean} [step] */
  look(range, step = false) {
    if (!this.whole) return;
    const kept = within(range, this.whole);
    const all = kept.from <= this.whole.from && kept.to >= this.whole.to;
    const follow = this.state.follow && kept.to >= this.whole.to - 1;
    this.set(all ? { from: null, to: null } : { from: kept.from, to: kept.to, follow }, step);
  }

  /** @param {number} factor @param {number} [at] */
  zoom(factor, at) {
    if (this.whole) this.look(zoomed(this.range, factor, at ?? (this.range.from + this.range.to) / 2, this.whole));
  }

  /** @param {number} share of the width */
  pan(share) {
    if (this.whole) this.look(moved(this.range, (this.range.to - this.range.from) * share, this.whole));
  }

  /** A rectangle was drawn. @param {Choice} given @param {boolean} baseline */
  choose(given, baseline) {
    // As exact as an address says it.
    const exact = (/** @type {number} */ ms) => Math.round(ms * 1000) / 1000;
    const choice = { ...given, from: exact(given.from), to: exact(given.to) };
    if (baseline) this.set({ b: choice, against: "b" }, true);
    else this.set({ a: choice, against: this.state.b ? "b" : this.state.against }, true);
  }

  clear() {
    this.set({ a: null, b: null, against: "none" }, true);
  }

  /** Look at a stretch and choose it, with what is around it in view. @param {Choice} choice @param {Partial<State>} [change] */
  show(choice, change = {}) {
    if (!this.whole) return;
    const around = widened(choice, 1.5, this.whole);
    const least = 10_000;
    const wide = around.to - around.from < least ? widened(around, (least / (around.to - around.from) - 1) / 2, this.whole) : around;
    this.state = { ...this.state, from: wide.from, to: wide.to, a: choice, ...change };
    this.#write(true);
    this.changed();
    this.load();
  }

  /** Says something to those who cannot see the pictures. @param {string} text */
  say(text) {
    this.spoken = text;
    this.changed();
  }

  /** The address was changed by somebody else: the back button, a pasted link. */
  readAddress() {
    if (location.hash === this.address) return;
    this.address = location.hash;
    const event = this.state.event;
    this.state = parsed(location.hash);
    if (this.state.event !== event) this.verdict = null;
    this.changed();
    this.load();
  }

  // -- what is known ----------------------------------------------------------------------------------------

  async start() {
    await this.#one("recording", async () => this.#recorded(await this.api.document("recording")));
    this.load();
    setInterval(() => this.#live(), 1000);
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Ask for whatever the picture of now needs and is not there. */
  load() {
    if (!this.whole) return;
    this.#soon("cores", () => this.#cores());
    this.#soon("tracks", () => this.#tracks());
    this.#soon("flags", () => this.#flags());
    if (this.state.view === "moment") this.#soon("moment", () => this.#moment());
    this.#soon("flame", () => this.#flame());
    if (!this.verdict) this.#soon("why", () => this.#why());
    if (this.state.view === "zombies" && !this.zombies) this.#soon("zombies", () => this.#zombies());
    if (!this.small) this.#soon("small", () => this.#small());
  }

  /** Another symptom, by its id. @param {string} event */
  judge(event) {
    this.verdict = null;
    this.set({ event }, true);
  }

  /** @param {any} told */
  #recorded(told) {
    this.recording = told;
    if (told.from_ns === null) return;
    const whole = { from: milliseconds(told.from_ns), to: milliseconds(told.to_ns) };
    if (whole.to - whole.from < 10) whole.to = whole.from + 10;
    const before = this.whole;
    this.whole = whole;
    if (told.cpus.length) this.cpus = told.cpus;
    if (before && whole.to > before.to) this.#grew(before, whole);
    if (before && before.from !== whole.from) this.small = null;
  }

  /** @param {Range} before @param {Range} whole */
  #grew(before, whole) {
    const near = before.to - 5000;
    this.layers = this.layers.filter((layer) => layer.map.to < near || layer.map.from > this.range.to);
    this.trackSets = this.trackSets.filter((set) => set.to < near);
    this.epoch += 1;
    if (this.epoch % 10 === 0) this.small = null;
    if (this.state.follow && this.state.from !== null && this.state.to !== null) {
      const length = this.state.to - this.state.from;
      this.state = { ...this.state, from: whole.to - length, to: whole.to };
    }
  }

  async #live() {
    if (!this.recording?.live || document.hidden) return;
    await this.#one("recording", async () => this.#recorded(await this.api.document("recording")));
    this.load();
  }

  async #cores() {
    const range = this.range;
    const pixel = (range.to - range.from) / this.width;
    const good = (/** @type {Layer} */ { map }) => map.look === this.state.look && covers(map, range) && map.column <= Math.max(1000, pixel * 1.6) && !map.notRead.length;
    if (this.layers.some(good) || !this.whole) return;
    const wide = widened(range, 0.75, this.whole);
    const columns = Math.min(4000, Math.ceil((wide.to - wide.from) / Math.max(pixel, 1e-6)));
    const told = coresMap(await this.#columns("cores", { ...windowOf(wide), columns: `${columns}`, look: this.state.look }));
    if (told.look !== this.state.look) return;
    if (told.cpus.length > this.cpus.length) this.cpus = told.cpus;
    const kept = this.layers.filter(({ map }) => map.look === told.look && !(map.column === told.column && map.from >= told.from && map.to <= told.to));
    this.layers = [...kept.slice(-MOST_LAYERS + 1), { map: told, image: bitmap(told, this.theme) }].sort((one, other) => other.map.column - one.map.column);
    if (told.notRead.length) setTimeout(() => this.#soon("cores", () => this.#cores()), AGAIN_MS);
  }

  async #small() {
    if (!this.whole) return;
    const told = coresMap(await this.#columns("cores", { ...windowOf(this.whole), columns: "300", look: "busy" }, "small"));
    this.small = { ...summed(told), map: told };
    if (told.notRead.length) setTimeout(() => this.#soon("small", () => this.#small()), 2 * AGAIN_MS);
  }

  async #tracks() {
    const range = this.range;
    const pixel = (range.to - range.from) / this.width;
    const good = (/** @type {import("../draw/tracks_picture.js").TrackSet} */ set) => covers(set, range) && set.column <= Math.max(1000, pixel * 2.5) && !set.notRead.length;
    if (this.trackSets.some(good) || !this.whole) return;
    const wide = widened(range, 0.5, this.whole);
    const columns = Math.min(3000, Math.ceil((wide.to - wide.from) / pixel / 1.5));
    const told = trackSet(await this.#columns("tracks", { ...windowOf(wide), columns: `${Math.max(1, columns)}` }));
    this.trackSets = [...this.trackSets.filter((set) => set.column !== told.column || !covers(told, set)).slice(-3), told];
    if (told.notRead.length) setTimeout(() => this.#soon("tracks", () => this.#tracks()), AGAIN_MS);
  }

  /** The set of tracks that suits the picture best: the finest that covers it. */
  get tracks() {
    const range = this.range;
    const whole = this.trackSets.filter((set) => covers(set, range)).sort((one, other) => one.column - other.column);
    return whole[0] ?? this.trackSets[this.trackSets.length - 1] ?? null;
  }

  async #flags() {
    if (!this.whole) return;
    const key = `${this.whole.from}-${Math.floor(this.whole.to / 1000)}`;
    if (this.flagsKey === key) return;
    const told = await this.api.document("flags", windowOf(this.whole), this.#signal("flags"));
    this.flags = told.flags.map((/** @type {any} */ one) => ({
      id: one.id, at: milliseconds(one.at_ns), kind: one.kind, role: one.role, subject: one.subject, text: one.text, cpu: one.cpu,
      from: one.from_ns === null ? null : milliseconds(one.from_ns), to: one.to_ns === null ? null : milliseconds(one.to_ns),
    }));
    if (told.not_read.length) setTimeout(() => this.#soon("flags", () => this.#flags()), 2 * AGAIN_MS);
    else this.flagsKey = key;
  }

  async #moment() {
    const range = this.range;
    if (range.to - range.from > LONGEST_MOMENT) return;
    const { rows, include, exclude, search } = this.state;
    const key = JSON.stringify([range, rows, include, exclude, search, Math.round(this.width / 50), this.recording.live ? this.epoch : 0]);
    if (this.moment?.key === key) return;
    const asked = { ...windowOf(range), columns: `${Math.min(2000, Math.ceil(this.width))}`, rows, include, exclude, search };
    const moment = momentOf(await this.#columns("moment", asked));
    this.moment = { moment, image: momentBitmap(moment, this.theme), key };
  }

  async #flame() {
    const choice = this.chosen;
    if (!choice) {
      this.flame = null;
      return;
    }
    const { against, b, include, exclude, inverted } = this.state;
    const asked = { ...parameters(choice), include, exclude, inverted: inverted ? "yes" : "no", against: "none" };
    if (against === "usual") asked.against = "usual";
    if (against === "b" && b) Object.assign(asked, { against: `${nanoseconds(b.from)}-${nanoseconds(b.to)}` }, rowParameters(b, "against_"));
    const key = JSON.stringify(asked);
    if (this.flame?.key === key) return;
    const told = graph(await this.#columns("flame", asked));
    this.flame = { graph: told, key, choice };
  }

  async #why() {
    this.verdict = await this.api.document("why", { event: this.state.event }, this.#signal("why"));
  }

  async #zombies() {
    if (!this.whole) return;
    this.zombies = await this.api.document("zombies", { at: nanoseconds(this.whole.to) }, this.#signal("zombies"));
  }

  /** Pictures are made anew in another theme. @param {"light" | "dark"} theme */
  dressed(theme) {
    this.theme = theme;
    this.layers = this.layers.map(({ map }) => ({ map, image: bitmap(map, theme) }));
    if (this.moment) this.moment = { ...this.moment, image: momentBitmap(this.moment.moment, theme) };
    this.changed();
  }

  // -- asking -----------------------------------------------------------------------------------------------

  /** Once nothing has moved for a moment. @param {string} name @param {() => Promise<void>} ask */
  #soon(name, ask) {
    clearTimeout(this.timers[name]);
    this.timers[name] = window.setTimeout(() => this.#one(name, ask), this.busy.has(name) || this.layers.length ? QUIET_MS : 0);
  }

  /** @param {string} name @param {() => Promise<void>} ask */
  async #one(name, ask) {
    this.busy.add(name);
    try {
      await ask();
      delete this.errors[name];
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      const told = error instanceof Refused ? error : new Refused(String(error), "", 0);
      this.errors[name] = { message: told.message, hint: told.hint };
      if (!(error instanceof Refused)) console.error(error);
    } finally {
      this.busy.delete(name);
      this.changed();
    }
  }

  /** A new question of a kind ends the one before. @param {string} name */
  #signal(name) {
    this.asking.get(name)?.abort();
    const made = new AbortController();
    this.asking.set(name, made);
    return made.signal;
  }

  /** @param {string} path @param {Record<string, string>} asked @param {string} [name] */
  #columns(path, asked, name = path) {
    return this.api.columns(path, asked, this.#signal(name));
  }

  /** @param {boolean} step */
  #write(step) {
    const address = written(this.state);
    if (address === this.address) return;
    this.address = address;
    clearTimeout(this.timers.address);
    if (step) history.pushState(null, "", address);
    else this.timers.address = window.setTimeout(() => history.replaceState(null, "", address), 200);
  }
}

/** @param {Range} range */
function windowOf(range) {
  return { from: nanoseconds(range.from), to: nanoseconds(range.to) };
}
