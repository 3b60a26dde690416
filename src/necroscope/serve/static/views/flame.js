// The flame graph of what was chosen: pointed at, zoomed, searched, walked with the arrows, its stacks copied.

import { flame, heightOf, pointedAt, rowTop, ROW } from "../draw/flame_picture.js";
import { COLOURS } from "../draw/theme.js";
import { boxAt, changeOf, children, matches, moduleOf, nameOf, path, sibling, stackText } from "../lib/flame_layout.js";
import { figure, percent, plain } from "../lib/text.js";
import { Picture } from "./picture.js";

/** @typedef {import("./model.js").Model} Model */

const MOST_HEIGHT = 560;

export class FlameView {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} scroller @param {Model} model @param {(text: string) => void} read */
  constructor(canvas, scroller, model, read) {
    this.model = model;
    this.read = read;
    this.scroller = scroller;
    this.picture = new Picture(canvas, (context, width, height) => this.paint(context, width, height), () => this.height);
    this.zoomed = 0;
    this.focus = -1;
    this.pointed = -1;
    this.key_ = "";
    /** @type {{hit: Uint8Array, number: number, share: number} | null} */
    this.found = null;
    scroller.addEventListener("scroll", () => this.picture.repaint());
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerleave", () => this.#left());
    canvas.addEventListener("click", (event) => this.#click(event));
    canvas.addEventListener("dblclick", () => this.zoom(0));
  }

  get graph() {
    return this.model.flame?.graph ?? null;
  }

  get height() {
    return this.graph ? Math.min(MOST_HEIGHT, heightOf(this.graph)) : 1;
  }

  /** How high the whole graph is, for the scroll bar. */
  get whole() {
    return this.graph ? heightOf(this.graph) : 0;
  }

  /** @returns {import("../draw/flame_picture.js").Look} */
  get look() {
    const { graph } = this;
    const x0 = graph ? graph.x0[this.zoomed] : 0;
    const x1 = graph ? Math.max(graph.x1[this.zoomed], x0 + 1e-7) : 1;
    return { x0, x1, top: this.scroller.scrollTop, upright: this.model.state.upright, focus: this.focus, hit: this.found?.hit ?? null, pointed: this.pointed };
  }

  /** Take notice of another graph, or another search. */
  renew() {
    const key = this.model.flame?.key ?? "";
    if (key !== this.key_) {
      this.key_ = key;
      this.zoomed = 0;
      this.focus = this.pointed = -1;
      this.fresh = true;
    }
    this.found = this.graph && this.model.state.search ? matches(this.graph, this.model.state.search) : null;
    this.picture.repaint();
  }

  /** After the page has made room: roots are seen first. */
  settle() {
    if (!this.fresh) return;
    this.fresh = false;
    this.scroller.scrollTop = this.model.state.upright ? this.whole : 0;
  }

  /** @param {import("../draw/theme.js").Context} context @param {number} width @param {number} height */
  paint(context, width, height) {
    if (this.graph) flame(context, width, height, this.graph, this.look, COLOURS[this.model.theme]);
  }

  /** @param {number} box */
  zoom(box) {
    this.zoomed = Math.max(0, box);
    this.picture.repaint();
    this.model.changed();
  }

  /** The frames above what is zoomed to. */
  get trail() {
    return this.graph ? path(this.graph, this.zoomed) : [];
  }

  /** @param {MouseEvent} event */
  #at(event) {
    const { graph } = this;
    if (!graph) return -1;
    const box = this.picture.canvas.getBoundingClientRect();
    return pointedAt(graph, this.look, (event.clientX - box.left) / box.width, event.clientY - box.top);
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const box = this.#at(event);
    if (box === this.pointed) return;
    this.pointed = box;
    this.read(box < 0 ? "" : this.words(box));
    this.picture.repaint();
  }

  #left() {
    this.pointed = -1;
    this.read("");
    this.picture.repaint();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const box = this.#at(event);
    if (box < 0) return;
    this.focus = box;
    this.zoom(box === this.zoomed ? this.graph?.parent[box] ?? 0 : box);
  }

  /** What a box says. @param {number} box */
  words(box) {
    const { graph } = this;
    if (!graph) return "";
    const share = graph.cores[0] > 0 ? graph.cores[box] / graph.cores[0] : 0;
    const module = moduleOf(graph, box) ? ` [${plain(moduleOf(graph, box), 60)}]`.replace("[[", "[").replace("]]", "]") : "";
    const own = graph.own[box] ? `, ${percent(graph.own[box] / Math.max(1, graph.samples[0]))} itself` : "";
    const amount = graph.head.timed ? `${figure(graph.cores[box])} cores, ` : "";
    return `${plain(nameOf(graph, box), 160)}${module}: ${amount}${percent(share)} of ${figure(graph.samples[0])} samples${own}${this.#change(box)}`;
  }

  /** @param {number} box */
  #change(box) {
    const { graph } = this;
    if (!graph?.before) return "";
    const now = graph.cores[box];
    const before = graph.before[box];
    const told = { new: "new", gone: "vanished", more: "more", less: "less", "": "may be chance" }[changeOf(graph, box)];
    const chance = /** @type {Float32Array} */ (graph.chance)[box];
    const p = chance < 0.001 ? "p < 0.001" : `p = ${chance.toPrecision(2)}`;
    return ` · ${told}: ${figure(before)} before, ${now >= before ? "+" : "−"}${figure(Math.abs(now - before))} (${p})`;
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  key(event) {
    const { graph } = this;
    if (!graph) return false;
    const at = this.focus < 0 ? 0 : this.focus;
    const up = this.model.state.upright;
    const down = event.key === (up ? "ArrowUp" : "ArrowDown");
    const back = event.key === (up ? "ArrowDown" : "ArrowUp");
    if (down) return this.#walk(children(graph, at).sort((one, other) => graph.x1[other] - graph.x0[other] - (graph.x1[one] - graph.x0[one]))[0] ?? -1);
    if (back) return this.#walk(at > 0 ? graph.parent[at] : -1);
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") return this.#walk(sibling(graph, at, event.key === "ArrowLeft" ? -1 : 1));
    if (event.key === "Enter" || event.key === " ") {
      this.zoom(at);
      this.model.say(`zoomed to ${plain(nameOf(graph, at), 80)}`);
      return true;
    }
    if (event.key === "Backspace" || event.key === "Escape") {
      if (this.zoomed === 0) return false;
      this.zoom(event.key === "Escape" ? 0 : graph.parent[this.zoomed]);
      return true;
    }
    if (event.key === "c" && !event.ctrlKey && !event.metaKey) {
      this.copy();
      return true;
    }
    return false;
  }

  /** @param {number} box */
  #walk(box) {
    const { graph } = this;
    if (box < 0 || !graph) {
      this.model.say("nothing further that way");
      return true;
    }
    this.focus = box;
    const { x0, x1 } = this.look;
    if (graph.x0[box] < x0 - 1e-9 || graph.x1[box] > x1 + 1e-9) this.zoomed = boxAt(graph, 0, 0.5) < 0 ? 0 : graph.parent[box];
    const top = rowTop(graph, graph.depth[box], this.look);
    if (top < 0) this.scroller.scrollTop += top - ROW;
    if (top > this.height - ROW) this.scroller.scrollTop += top - this.height + 2 * ROW;
    const told = this.words(box);
    this.read(told);
    this.model.say(told);
    this.picture.repaint();
    return true;
  }

  /** The stack of the box that has the focus, into the clipboard. */
  async copy() {
    const { graph } = this;
    const box = this.focus < 0 ? this.zoomed : this.focus;
    if (!graph) return;
    try {
      await navigator.clipboard.writeText(stackText(graph, box));
      this.model.say(`copied the stack of ${plain(nameOf(graph, box), 80)}`);
    } catch {
      this.model.say("the browser does not let the page write to the clipboard");
    }
  }
}
