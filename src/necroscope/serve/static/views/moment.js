// The inside of what is looked at: rows by bins of milliseconds. Dragging draws a rectangle, with Shift or Alt the baseline.

import { axis, flagColour, groups, sign } from "../draw/axis.js";
import { coresAt, moment } from "../draw/moment_picture.js";
import { COLOURS, FONT } from "../draw/theme.js";
import { chosen, words } from "../lib/choice.js";
import { placeOf, timeAt } from "../lib/range.js";
import { figure, percent, plain } from "../lib/text.js";
import { moment as when, span } from "../lib/time.js";
import { pointer } from "./drag.js";
import { LONGEST_MOMENT } from "./model.js";
import { Picture } from "./picture.js";
import { marked } from "./rectangles.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("../draw/theme.js").Context} Context */

export class MomentView {
  /** @param {HTMLCanvasElement} canvas @param {Model} model @param {(text: string) => void} read */
  constructor(canvas, model, read) {
    this.model = model;
    this.read = read;
    this.picture = new Picture(canvas, (context, width) => this.paint(context, width), (width) => this.boxes(width).height);
    /** @type {{row: number, at: number} | null} */
    this.cursor = null;
    /** @type {{row: number, at: number} | null} */
    this.anchor = null;
    /** @type {import("../lib/url_state.js").Choice | null} */
    this.drawing = null;
    this.drawingBaseline = false;
    this.selecting = false;
    pointer(canvas, this.#hands());
  }

  get rows() {
    return this.model.moment?.moment.rows ?? [];
  }

  /** @param {number} width */
  boxes(width) {
    const named = this.model.state.rows !== "core";
    const left = named ? Math.min(220, width * 0.3) : width < 560 ? 44 : 64;
    const inner = { x: left, width: Math.max(20, width - left - 8) };
    const rows = Math.max(1, this.rows.length);
    const tall = Math.max(2, Math.min(22, Math.floor(520 / rows)));
    const flags = { ...inner, y: 0, height: 16 };
    const map = { ...inner, y: 18, height: Math.max(80, rows * tall) };
    return { flags, map, time: { ...inner, y: map.y + map.height, height: 26 }, height: map.y + map.height + 28 };
  }

  /** @param {Context} context @param {number} width */
  paint(context, width) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    const { flags, map, time, height } = this.boxes(width);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    model.width = map.width;
    if (!model.whole) return;
    const { range } = model;
    if (model.moment && this.rows.length) moment(context, map, range, model.moment.moment, model.moment.image, colours);
    else this.#empty(context, map);
    axis(context, time, range, model.state.zone, colours);
    for (const group of groups(model.flags, range, flags.width)) {
      if (group.at < 0 || group.at > flags.width) continue;
      context.fillStyle = flagColour(group.flags[0].role, colours);
      sign(context, flags.x + group.at, flags.y + 8, group.flags[0].role);
    }
    for (const [choice, name] of this.#chosen()) marked(context, map, map.y + map.height, range, choice, name, this.#rowsOf(choice), this.rows.length, colours);
    this.#cursor(context, map);
  }

  /** @param {Context} context @param {import("../draw/axis.js").Box} box */
  #empty(context, box) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    context.fillStyle = colours.panel;
    context.fillRect(box.x, box.y, box.width, box.height);
    context.fillStyle = colours.ink;
    context.font = FONT;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const long = model.range.to - model.range.from > LONGEST_MOMENT;
    const text = long ? "zoom in to ten minutes or less" : model.busy.has("moment") || !model.moment ? "reading …" : "no samples here";
    context.fillText(text, box.x + box.width / 2, box.y + box.height / 2);
  }

  #chosen() {
    const { a, b } = this.model.state;
    /** @type {[import("../lib/url_state.js").Choice, "A" | "B"][]} */
    const found = [];
    if (b && !(this.drawing && this.drawingBaseline)) found.push([b, "B"]);
    if (a && !(this.drawing && !this.drawingBaseline)) found.push([a, "A"]);
    if (this.drawing) found.push([this.drawing, this.drawingBaseline ? "B" : "A"]);
    return found;
  }

  /** @param {import("../lib/url_state.js").Choice} choice @returns {[number, number]} */
  #rowsOf(choice) {
    const places = this.rows.flatMap((row, place) => {
      const mine = (row.cpu !== undefined && choice.cpus.includes(row.cpu)) || (row.tid !== undefined && choice.tids.includes(row.tid)) || (row.tid === undefined && row.pid !== undefined && choice.pids.includes(row.pid)) || (row.cgroup !== undefined && choice.cgroups.includes(row.cgroup));
      return mine ? [place] : [];
    });
    return places.length ? [Math.min(...places), Math.max(...places)] : [0, Math.max(0, this.rows.length - 1)];
  }

  /** @param {Context} context @param {import("../draw/axis.js").Box} box */
  #cursor(context, box) {
    if (!this.cursor || !this.rows.length) return;
    const colours = COLOURS[this.model.theme];
    const x = box.x + placeOf(this.model.range, this.cursor.at, box.width);
    const tall = box.height / this.rows.length;
    context.strokeStyle = colours.ink;
    context.lineWidth = 1;
    context.strokeRect(Math.round(x) - 2.5, box.y + this.cursor.row * tall - 0.5, 5, Math.max(3, tall + 1));
  }

  /** @returns {import("./drag.js").Hands} */
  #hands() {
    const boxes = () => this.boxes(this.picture.width);
    const { model } = this;
    return {
      kind: (_, y) => (y < boxes().time.y ? "rectangle" : "pan"),
      rectangle: (from, to, baseline, done) => {
        const made = this.#rectangle(from, to);
        if (!made) return;
        this.drawing = done ? null : made;
        this.drawingBaseline = baseline;
        if (done) model.choose(made, baseline);
        else {
          this.read(words(made));
          this.picture.repaint();
        }
      },
      pan: (dx) => model.pan(-dx / boxes().map.width),
      zoom: (factor, x) => model.zoom(factor, timeAt(model.range, x - boxes().map.x, boxes().map.width)),
      click: (x, y) => {
        this.cursor = this.#place(x, y);
        this.anchor = null;
        this.#tell();
      },
      twice: (x) => model.zoom(0.25, timeAt(model.range, x - boxes().map.x, boxes().map.width)),
      rest: (x, y) => this.read(y < boxes().time.y ? this.cellWords(this.#place(x, y)) : ""),
      leave: () => this.read(""),
      selecting: () => this.selecting,
    };
  }

  /** @param {number} x @param {number} y */
  #place(x, y) {
    const { map } = this.boxes(this.picture.width);
    return { row: Math.min(this.rows.length - 1, Math.max(0, Math.floor(((y - map.y) / map.height) * this.rows.length))), at: timeAt(this.model.range, x - map.x, map.width) };
  }

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
  #rectangle(from, to) {
    const { map } = this.boxes(this.picture.width);
    if (!this.rows.length) return null;
    const [one, other] = [this.#place(Math.min(map.x + map.width, Math.max(map.x, from.x)), from.y), this.#place(Math.min(map.x + map.width, Math.max(map.x, to.x)), to.y)];
    const rows = [one.row, other.row].sort((low, high) => low - high);
    const made = chosen(one.at, other.at, this.rows.slice(rows[0], rows[1] + 1), this.model.moment?.moment.leftOut ? Infinity : this.rows.length);
    return made.to - made.from >= 1 ? made : null;
  }

  /** @param {{row: number, at: number}} place */
  cellWords(place) {
    const shown = this.model.moment?.moment;
    const row = this.rows[place.row];
    if (!shown || !row) return "";
    const bin = Math.floor((place.at - shown.from) / shown.bin);
    const cores = coresAt(shown, place.row, bin);
    const told = !Number.isFinite(cores) ? "not known" : shown.by === "core" ? `${percent(cores)} busy` : `${figure(cores)} cores`;
    return `${when(shown.from + bin * shown.bin, this.model.state.zone)} · ${plain(row.label, 120)}: ${told} for ${span(shown.bin)}`;
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  key(event) {
    const { model } = this;
    if (!this.rows.length) return false;
    const step = (model.range.to - model.range.from) / (event.ctrlKey ? 10 : 100);
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const by = arrows[/** @type {keyof typeof arrows} */ (event.key)];
    if (by) {
      const at = this.cursor ?? { row: 0, at: (model.range.from + model.range.to) / 2 };
      this.anchor = event.shiftKey ? this.anchor ?? at : null;
      this.cursor = { row: Math.min(this.rows.length - 1, Math.max(0, at.row + by[1])), at: Math.min(model.range.to, Math.max(model.range.from, at.at + by[0] * step)) };
      this.drawing = this.anchor ? this.#fromCursor() : null;
      this.drawingBaseline = false;
      this.#tell();
      return true;
    }
    if (event.key !== "Enter" && event.key !== "b") return false;
    const made = this.#fromCursor();
    if (!made) return false;
    this.drawing = this.anchor = null;
    model.choose(made, event.key === "b" || event.shiftKey);
    model.say(`${event.key === "b" ? "baseline" : "chosen"}: ${words(made)}`);
    return true;
  }

  #fromCursor() {
    if (!this.cursor) return null;
    const { range } = this.model;
    const half = (range.to - range.from) / 20;
    const other = this.anchor ?? this.cursor;
    const rows = [this.cursor.row, other.row].sort((one, two) => one - two);
    const [from, to] = this.anchor && other.at !== this.cursor.at ? [other.at, this.cursor.at] : [this.cursor.at - half, this.cursor.at + half];
    return chosen(from, to, this.rows.slice(rows[0], rows[1] + 1), this.model.moment?.moment.leftOut ? Infinity : this.rows.length);
  }

  #tell() {
    if (!this.cursor) return;
    const told = this.cellWords(this.cursor);
    this.read(told);
    this.model.say(told);
    this.picture.repaint();
  }
}
