// Where the page begins: the model, the pictures, keys.

import { render } from "./vendor/lit-html.js";
import { Api } from "./lib/api.js";
import { Kept } from "./lib/kept.js";
import { choiceWhole } from "./lib/choice.js";
import { widened } from "./lib/range.js";
import { moment as when, span, zoneName } from "./lib/time.js";
import { plain } from "./lib/text.js";
import { keys } from "./views/keys.js";
import { Model } from "./views/model.js";
import { FlameView } from "./views/flame.js";
import { MomentView } from "./views/moment.js";
import { download } from "./views/picture.js";
import { shell } from "./views/shell.js";
import { Timeline } from "./views/timeline.js";
import { Growth } from "./views/zombies.js";

const THEME = "necroscope-theme";

export class Page {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    const kept = document.getElementById("kept")?.textContent;
    this.model = new Model(kept ? new Kept(kept) : new Api());
    this.reading = "";
    this.selecting = false;
    /** @type {Timeline | null} */
    this.timeline = null;
    /** @type {MomentView | null} */
    this.moment = null;
    /** @type {FlameView | null} */
    this.flame = null;
    /** @type {Growth | null} */
    this.growth = null;
    this.waiting = 0;
    this.#dress(remembered() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  }

  start() {
    this.#render();
    const canvas = (/** @type {string} */ id) => /** @type {HTMLCanvasElement} */ (document.getElementById(id));
    const read = (/** @type {string} */ text) => this.#read(text);
    this.timeline = new Timeline(canvas("timeline"), this.model, read);
    this.moment = new MomentView(canvas("moment"), this.model, read);
    this.flame = new FlameView(canvas("flame"), /** @type {HTMLElement} */ (document.getElementById("scroller")), this.model, read);
    this.growth = new Growth(canvas("zombies"), this.model);
    this.model.listeners.add(() => this.#later());
    window.addEventListener("hashchange", () => this.model.readAddress());
    window.addEventListener("popstate", () => this.model.readAddress());
    window.addEventListener("resize", () => this.model.load());
    document.addEventListener("keydown", (event) => keys(this, event));
    this.model.start();
  }

  // -- verbs ------------------------------------------------------------------------------------------------

  all() {
    if (this.model.whole) this.model.look(this.model.whole, true);
  }

  follow() {
    const { model } = this;
    const { whole, range } = model;
    if (!whole) return;
    const follow = !model.state.follow;
    const length = Math.min(range.to - range.from, 120_000);
    model.set(follow ? { follow, from: whole.to - length, to: whole.to } : { follow });
  }

  /** What was chosen, from the inside. */
  inside() {
    const { model } = this;
    const { a } = model.state;
    if (!model.whole) return;
    const wide = widened(a ?? choiceWhole(model.range), a ? 0.25 : 0, model.whole);
    model.set({ view: "moment", from: wide.from, to: wide.to }, true);
  }

  /** Fingers draw rectangles instead of moving. */
  select() {
    this.selecting = !this.selecting;
    if (this.timeline) this.timeline.selecting = this.selecting;
    if (this.moment) this.moment.selecting = this.selecting;
    this.#later();
  }

  /** @param {boolean} open */
  help(open) {
    const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("help"));
    if (open) dialog.showModal();
    else dialog.close();
  }

  turn() {
    const theme = this.model.theme === "dark" ? "light" : "dark";
    remember(theme);
    this.#dress(theme);
  }

  /** The picture that is looked at. */
  get picture() {
    const { view } = this.model.state;
    return view === "moment" ? this.moment?.picture : view === "zombies" ? this.growth?.picture : this.timeline?.picture;
  }

  /** @param {"png" | "svg"} kind */
  async save(kind) {
    const { model, picture } = this;
    if (!picture || !model.recording) return;
    const { range, state } = model;
    const host = plain(model.recording.host.name, 60);
    const head = [`${host} · ${state.view}`, `${when(range.from, state.zone)} – ${when(range.to, state.zone)} ${zoneName(state.zone, range.from)} · ${span(range.to - range.from)}`];
    const name = `necroscope-${host.replace(/[^A-Za-z0-9.-]/g, "_")}-${state.view}.${kind}`;
    if (kind === "png") download(await picture.png(head, model.theme), name);
    else download(new Blob([picture.svg(head, model.theme).document()], { type: "image/svg+xml" }), name);
  }

  // -- drawing ----------------------------------------------------------------------------------------------

  /** @param {string} text */
  #read(text) {
    if (text === this.reading) return;
    this.reading = text;
    this.#later();
  }

  #later() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.#render();
    });
  }

  #render() {
    render(shell(this), this.root);
    this.timeline?.picture.repaint();
    this.moment?.picture.repaint();
    this.growth?.picture.repaint();
    if (this.flame) {
      this.flame.renew();
      const tall = /** @type {HTMLElement} */ (document.getElementById("tall"));
      tall.style.height = `${this.flame.whole}px`;
      this.flame.scroller.style.height = `${this.flame.height + 2}px`;
      this.flame.settle();
    }
    document.title = `${this.model.recording?.host.name ?? "Necroscope"} · Necroscope`;
  }

  /** @param {string} theme */
  #dress(theme) {
    document.documentElement.dataset.theme = theme;
    this.model.dressed(theme === "dark" ? "dark" : "light");
  }
}

/** A file from disk may have no memory. @returns {string | null} */
function remembered() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // The next page begins as the system says.
  }
}

const page = new Page(/** @type {HTMLElement} */ (document.getElementById("page")));
page.start();
// For tests and measurements: what was painted, and how long it took.
Object.assign(window, { necroscope: page });
