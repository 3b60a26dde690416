// The whole recording: a small map of all of it, flags, the map of cores, the axis, and the tracks on the same axis.

import { axis, flagColour, groups, sign } from "../draw/axis.js";
import { cellAt, cores } from "../draw/cores_picture.js";
import { COLOURS, SMALL, hatch } from "../draw/theme.js";
import { isQuiet, track } from "../draw/tracks_picture.js";
import { chosen, words } from "../lib/choice.js";
import { placed } from "../lib/labels.js";
import { css, full, load, strengthOf } from "../lib/palette.js";
import { placeOf, timeAt } from "../lib/range.js";
import { percent, plain } from "../lib/text.js";
import { moment as when, span, timeOfDay } from "../lib/time.js";
import { pointer } from "./drag.js";
import { Picture } from "./picture.js";
import { marked } from "./rectangles.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("../draw/theme.js").Context} Context */
/** @typedef {import("../draw/axis.js").Box} Box */

const TRACK = 60;
// Of a track on which nothing happens in view.
const QUIET = 20;
const ROOM_WIDE = 64;
const ROOM_NARROW = 44;

export class Timeline {
  /** @param {HTMLCanvasElement} canvas @param {Model} model @param {(text: string) => void} read */
  constructor(canvas, model, read) {
    this.model = model;
    this.read = read;
    this.picture = new Picture(canvas, (context, width) => this.paint(context, width), (width) => this.boxes(width).height);
    /** @type {{row: number, at: number} | null} */
    this.cursor = null;
    /** @type {import("../lib/url_state.js").Choice | null} */
    this.drawing = null;
    this.drawingBaseline = false;
    this.selecting = false;
    /** @type {{row: number, at: number} | null} */
    this.anchor = null;
    pointer(canvas, this.#hands());
  }

  /** Where everything lies. @param {number} width */
  boxes(width) {
    const left = width < 560 ? ROOM_NARROW : ROOM_WIDE;
    const inner = { x: left, width: Math.max(20, width - left - 8) };
    const rows = Math.max(1, this.model.cpus.length);
    const tall = Math.max(1, Math.min(20, Math.floor(400 / rows) || 1));
    const small = { ...inner, y: 4, height: 26 };
    const flags = { ...inner, y: 34, height: 34 };
    const map = { ...inner, y: 70, height: Math.max(48, rows * tall) };
    const time = { ...inner, y: map.y + map.height, height: 26 };
    const shown = this.model.tracks?.tracks ?? [];
    let y = time.y + time.height + 4;
    const tracks = shown.map((one) => {
      const box = { ...inner, y, height: this.model.tracks && isQuiet(one, this.model.tracks, this.model.range) ? QUIET : TRACK };
      y += box.height + 6;
      return { track: one, box };
    });
    return { small, flags, map, time, tracks, height: y + 4, width };
  }

  /** @param {Context} context @param {number} width */
  paint(context, width) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    const boxes = this.boxes(width);
    const { range } = model;
    model.width = boxes.map.width;
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, boxes.height);
    if (!model.whole) return;
    this.#small(context, boxes.small);
    cores(context, boxes.map, range, model.layers.filter((layer) => layer.map.look === model.state.look), model.cpus, colours);
    this.#gaps(context, boxes.map);
    axis(context, boxes.time, range, model.state.zone, colours);
    const set = model.tracks;
    for (const { track: one, box } of boxes.tracks) if (set) track(context, box, range, one, set, colours);
    this.#flags(context, boxes);
    const last = boxes.tracks[boxes.tracks.length - 1];
    const bottom = last ? last.box.y + last.box.height : boxes.map.y + boxes.map.height;
    for (const [choice, name] of this.#chosen()) marked(context, boxes.map, bottom, range, choice, name, this.#rows(choice), model.cpus.length, colours);
    this.#cursor(context, boxes, bottom);
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

  /** First and last row of a choice. @param {import("../lib/url_state.js").Choice} choice @returns {[number, number]} */
  #rows(choice) {
    const rows = choice.cpus.map((cpu) => this.model.cpus.indexOf(cpu)).filter((row) => row >= 0);
    return rows.length ? [Math.min(...rows), Math.max(...rows)] : [0, this.model.cpus.length - 1];
  }

  /** @param {Context} context @param {Box} box */
  #small(context, box) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    const whole = /** @type {import("../lib/range.js").Range} */ (model.whole);
    hatch(context, box.x, box.y, box.width, box.height, colours);
    const small = model.small;
    if (small) {
      const wide = box.width / small.map.columns;
      const seconds = small.map.column / 1000;
      for (let column = 0; column < small.map.columns; column += 1) {
        const mean = small.mean[column];
        if (!Number.isFinite(mean)) continue;
        const x = box.x + placeOf(whole, small.map.from + column * small.map.column, box.width);
        context.fillStyle = css(load(0.04, model.theme));
        context.fillRect(x, box.y, wide + 0.6, box.height);
        context.fillStyle = css(load(0.75, model.theme));
        context.fillRect(x, box.y + box.height * (1 - mean), wide + 0.6, box.height * mean);
        if (small.held[column] > 0) {
          const strength = strengthOf(small.held[column], seconds);
          context.fillStyle = css(full(strength, model.theme));
          context.fillRect(x, box.y, Math.max(1.5, wide + 0.6), 3 + 5 * strength);
        }
      }
    }
    const left = Math.max(0, placeOf(whole, model.range.from, box.width));
    const right = Math.min(box.width, placeOf(whole, model.range.to, box.width));
    context.globalAlpha = 0.55;
    context.fillStyle = colours.ground;
    context.fillRect(box.x, box.y, left, box.height);
    context.fillRect(box.x + right, box.y, box.width - right, box.height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.strokeRect(box.x + left + 0.5, box.y + 0.5, Math.max(2, right - left - 1), box.height - 1);
  }

  /** What was not read yet, and stretches that the recorder says it missed. @param {Context} context @param {Box} box */
  #gaps(context, box) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    const reading = model.layers[model.layers.length - 1]?.map.notRead ?? [];
    if (!reading.length && model.layers.length) return;
    context.font = SMALL;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = colours.ink;
    if (!model.layers.length) context.fillText("reading the recording …", box.x + box.width / 2, box.y + box.height / 2);
    for (const [from, to] of reading) {
      const left = Math.max(0, placeOf(model.range, from, box.width));
      const right = Math.min(box.width, placeOf(model.range, to, box.width));
      if (right - left > 60) context.fillText("reading …", box.x + (left + right) / 2, box.y + box.height / 2);
    }
  }

  /** @param {Context} context @param {ReturnType<Timeline["boxes"]>} boxes */
  #flags(context, boxes) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    const box = boxes.flags;
    const found = groups(model.flags, model.range, box.width);
    context.font = SMALL;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const texts = found.map((group) => plain(group.flags[0].kind, 40) + (group.flags.length > 1 ? ` ×${group.flags.length}` : ""));
    const wishes = found.map((group, index) => ({ at: group.at + 8, width: context.measureText(texts[index]).width, rank: { symptom: 4, mark: 3, complaint: 2, gap: 1 }[group.flags[0].role] ?? 0, index }));
    const { placed: room } = placed(wishes.filter((wish) => wish.rank > 0), box.width, 2);
    for (const group of found) {
      const flag = group.flags[0];
      const x = box.x + group.at;
      if (group.at < 0 || group.at > box.width) continue;
      context.fillStyle = flagColour(flag.role, colours);
      context.strokeStyle = context.fillStyle;
      context.lineWidth = 1;
      context.globalAlpha = flag.role === "symptom" ? 0.9 : 0.35;
      context.setLineDash(flag.role === "symptom" ? [] : [2, 3]);
      context.beginPath();
      context.moveTo(x, box.y + box.height - 6);
      context.lineTo(x, boxes.map.y + boxes.map.height);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
      sign(context, x, box.y + box.height - 6, flag.role);
    }
    for (const one of room) {
      context.fillStyle = flagColour(found[one.index].flags[0].role, colours);
      context.fillText(texts[one.index], box.x + one.left, box.y + 5 + one.row * 13);
    }
    context.fillStyle = colours.dim;
    context.textAlign = "right";
    context.fillText("flags", box.x - 6, box.y + box.height - 8);
  }

  /** @param {Context} context @param {ReturnType<Timeline["boxes"]>} boxes @param {number} bottom */
  #cursor(context, boxes, bottom) {
    if (!this.cursor || !this.model.cpus.length) return;
    const colours = COLOURS[this.model.theme];
    const box = boxes.map;
    const x = box.x + placeOf(this.model.range, this.cursor.at, box.width);
    if (x < box.x || x > box.x + box.width) return;
    const tall = box.height / this.model.cpus.length;
    context.strokeStyle = colours.ink;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, box.y);
    context.lineTo(Math.round(x) + 0.5, bottom);
    context.stroke();
    context.globalAlpha = 1;
    context.strokeRect(box.x + 0.5, box.y + this.cursor.row * tall - 0.5, box.width - 1, Math.max(3, tall + 1));
  }

  // -- hands ------------------------------------------------------------------------------------------------

  /** @returns {import("./drag.js").Hands} */
  #hands() {
    const boxes = () => this.boxes(this.picture.width);
    const { model } = this;
    return {
      kind: (_, y) => {
        const { small, map, time } = boxes();
        if (y <= small.y + small.height + 2) return "small";
        return y >= map.y && y < time.y ? "rectangle" : "pan";
      },
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
      pan: (dx, x, small) => {
        const { map, small: box } = boxes();
        if (!small || !model.whole) return model.pan(-dx / map.width);
        const { range, whole } = model;
        const at = timeAt(whole, x - box.x, box.width);
        const half = (range.to - range.from) / 2;
        if (range.to - range.from < (whole.to - whole.from) * 0.999) model.look({ from: at - half, to: at + half });
        return undefined;
      },
      zoom: (factor, x) => model.zoom(factor, timeAt(model.range, x - boxes().map.x, boxes().map.width)),
      click: (x, y) => this.#click(x, y),
      twice: (x, y) => {
        const { map, time } = boxes();
        if (y >= map.y && y < time.y) model.zoom(0.2, timeAt(model.range, x - map.x, map.width));
      },
      rest: (x, y) => this.#rest(x, y),
      leave: () => this.read(""),
      selecting: () => this.selecting,
    };
  }

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
  #rectangle(from, to) {
    const { map } = this.boxes(this.picture.width);
    const { range, cpus } = this.model;
    const inside = (/** @type {number} */ x) => timeAt(range, Math.min(map.width, Math.max(0, x - map.x)), map.width);
    const row = (/** @type {number} */ y) => Math.min(cpus.length - 1, Math.max(0, Math.floor(((y - map.y) / map.height) * cpus.length)));
    if (!cpus.length) return null;
    const rows = [row(from.y), row(to.y)].sort((one, other) => one - other);
    const made = chosen(inside(from.x), inside(to.x), cpus.slice(rows[0], rows[1] + 1).map((cpu) => ({ label: `${cpu}`, cpu })), cpus.length);
    return made.to - made.from >= 1 ? made : null;
  }

  /** @param {number} x @param {number} y */
  #click(x, y) {
    const { small, flags, map, time } = this.boxes(this.picture.width);
    const { model } = this;
    if (y <= small.y + small.height + 2 && model.whole) {
      const at = timeAt(model.whole, x - small.x, small.width);
      const length = Math.min(model.range.to - model.range.from, (model.whole.to - model.whole.from) / 8);
      model.look({ from: at - length / 2, to: at + length / 2 }, true);
    } else if (y >= flags.y && y < map.y) {
      const near = groups(model.flags, model.range, flags.width).find((group) => Math.abs(group.at - (x - flags.x)) < 9);
      const symptom = near?.flags.find((flag) => flag.role === "symptom" || flag.role === "mark");
      if (near) this.read(near.flags.slice(0, 3).map((flag) => this.#flagWords(flag)).join(" · "));
      if (symptom) model.judge(symptom.id);
    } else if (y >= map.y && y < time.y && model.cpus.length) {
      this.cursor = this.#place(x, y);
      this.anchor = null;
      this.#tell();
    }
  }

  /** @param {number} x @param {number} y */
  #place(x, y) {
    const { map } = this.boxes(this.picture.width);
    const { cpus, range } = this.model;
    return { row: Math.min(cpus.length - 1, Math.max(0, Math.floor(((y - map.y) / map.height) * cpus.length))), at: timeAt(range, x - map.x, map.width) };
  }

  /** @param {number} x @param {number} y */
  #rest(x, y) {
    const { flags, map, time, tracks } = this.boxes(this.picture.width);
    const { model } = this;
    if (x < map.x || x > map.x + map.width) return this.read("");
    if (y >= flags.y && y < map.y) {
      const near = groups(model.flags, model.range, flags.width).find((group) => Math.abs(group.at - (x - flags.x)) < 9);
      return this.read(near ? near.flags.slice(0, 3).map((flag) => this.#flagWords(flag)).join(" · ") : "");
    }
    if (y >= map.y && y < time.y && model.cpus.length) return this.read(this.cellWords(this.#place(x, y)));
    const over = tracks.find(({ box }) => y >= box.y && y < box.y + box.height);
    return this.read(over ? this.#trackWords(over.track, timeAt(model.range, x - map.x, map.width)) : "");
  }

  /** @param {import("../draw/axis.js").Flag} flag */
  #flagWords(flag) {
    return `${timeOfDay(flag.at, this.model.state.zone, 1)} ${flag.kind} ${plain(flag.subject, 60)} ${plain(flag.text, 160)}`.trim();
  }

  /** @param {import("../draw/tracks_picture.js").Track} one @param {number} at */
  #trackWords(one, at) {
    const set = this.model.tracks;
    if (!set) return "";
    const column = Math.floor((at - set.from) / set.column);
    const values = one.lines.map((line) => `${line.name} ${Number.isFinite(line.mean[column]) ? line.mean[column].toPrecision(3) : "not known"}`);
    return `${when(at, this.model.state.zone, 1000)} · ${one.title}, ${one.unit}: ${values.join(", ")}`;
  }

  /** @param {{row: number, at: number}} place */
  cellWords(place) {
    const { model } = this;
    const cell = cellAt(model.layers.filter((layer) => layer.map.look === model.state.look), model.cpus, place.row, place.at);
    const core = `core ${model.cpus[place.row]}`;
    if (!cell) return `${when(place.at, model.state.zone, 1000)} · ${core}: not known`;
    const held = cell.held > 0 ? `, full for ${span(cell.held * 1000)}` : "";
    const more = cell.column > 1000 ? ` over ${span(cell.column)}, highest second ${percent(cell.peak)}${held}` : held;
    return `${when(cell.from, model.state.zone, 1000)} · ${core}: ${percent(cell.mean)} ${model.state.look}${more}`;
  }

  // -- keys -------------------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event @returns {boolean} whether it was one of its keys */
  key(event) {
    const { model } = this;
    if (!model.cpus.length || !model.whole) return false;
    const step = (model.range.to - model.range.from) / (event.ctrlKey ? 10 : 100);
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const by = arrows[/** @type {keyof typeof arrows} */ (event.key)];
    if (by) {
      const at = this.cursor ?? { row: 0, at: (model.range.from + model.range.to) / 2 };
      this.anchor = event.shiftKey ? this.anchor ?? at : null;
      this.cursor = { row: Math.min(model.cpus.length - 1, Math.max(0, at.row + by[1])), at: Math.min(model.range.to, Math.max(model.range.from, at.at + by[0] * step)) };
      this.drawing = this.anchor ? this.#fromCursor() : null;
      this.drawingBaseline = false;
      this.#tell();
      return true;
    }
    if (event.key === "Enter" || event.key === "b") {
      const made = this.#fromCursor();
      if (!made) return false;
      this.drawing = this.anchor = null;
      model.choose(made, event.key === "b" || event.shiftKey);
      model.say(`${event.key === "b" ? "baseline" : "chosen"}: ${words(made)}`);
      return true;
    }
    if (event.key === "g") {
      this.#toFullest();
      return true;
    }
    return false;
  }

  /** A cursor alone means five seconds of its core, or a twentieth of what is seen where that is less. */
  #fromCursor() {
    const { cpus, range } = this.model;
    if (!this.cursor) return null;
    const { cursor, anchor } = this;
    const half = Math.min(2500, (range.to - range.from) / 20);
    const other = anchor ?? cursor;
    const rows = [cursor.row, other.row].sort((one, two) => one - two);
    const [from, to] = anchor && anchor.at !== cursor.at ? [Math.min(anchor.at, cursor.at), Math.max(anchor.at, cursor.at)] : [cursor.at - half, cursor.at + half];
    return chosen(from, to, cpus.slice(rows[0], rows[1] + 1).map((cpu) => ({ label: `${cpu}`, cpu })), cpus.length);
  }

  /** The longest full stretch that is in view. */
  #toFullest() {
    const { model } = this;
    let best = null;
    for (const { map } of model.layers) {
      for (let place = 0; place < map.held.length; place += 1) {
        const at = map.from + ((place % map.columns) + 0.5) * map.column;
        if (map.held[place] && at >= model.range.from && at <= model.range.to && (!best || map.held[place] > best.held)) {
          best = { held: map.held[place], at, row: model.cpus.indexOf(map.cpus[Math.floor(place / map.columns)]) };
        }
      }
    }
    if (!best || best.row < 0) return model.say("no core is full in view");
    this.cursor = { row: best.row, at: best.at };
    return this.#tell();
  }

  #tell() {
    if (!this.cursor) return;
    const told = this.cellWords(this.cursor);
    this.read(told);
    this.model.say(told);
    this.picture.repaint();
  }
}
