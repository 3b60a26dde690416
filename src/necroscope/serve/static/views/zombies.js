// Zombie cgroups: how many, how they grew against restarts, whose they are, what they are called, what pins them.

import { html, nothing } from "../vendor/lit-html.js";
import { axis } from "../draw/axis.js";
import { BOLD, COLOURS, SMALL, hatch } from "../draw/theme.js";
import { css, lines } from "../lib/palette.js";
import { placeOf } from "../lib/range.js";
import { figure, plain, short } from "../lib/text.js";
import { moment as when, span } from "../lib/time.js";
import { Picture } from "./picture.js";

/** @typedef {import("./model.js").Model} Model */

export class Growth {
  /** @param {HTMLCanvasElement} canvas @param {Model} model */
  constructor(canvas, model) {
    this.model = model;
    this.picture = new Picture(canvas, (context, width, height) => this.paint(context, width, height), () => 200);
  }

  /** @param {import("../draw/theme.js").Context} context @param {number} width @param {number} height */
  paint(context, width, height) {
    const { model } = this;
    const colours = COLOURS[model.theme];
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    const told = model.zombies;
    const box = { x: 64, y: 22, width: Math.max(20, width - 64 - 64), height: height - 22 - 30 };
    if (!told || told.looks.length < 1 || !model.whole) {
      hatch(context, box.x, box.y, box.width, box.height, colours);
      return;
    }
    const looks = told.looks.map((/** @type {[number, number]} */ [at, count]) => ({ at: at / 1e6, count }));
    const restarts = told.restarts.flatMap((/** @type {any} */ one) => one.at_ns.map((/** @type {number} */ at) => at / 1e6)).sort((/** @type {number} */ one, /** @type {number} */ other) => one - other);
    const range = { from: Math.min(looks[0].at, ...restarts.slice(0, 1)), to: Math.max(looks[looks.length - 1].at, looks[0].at + 1000) };
    const counts = looks.map((/** @type {{count: number}} */ one) => one.count);
    const low = Math.min(...counts);
    const high = Math.max(...counts, low + 1);
    const y = (/** @type {number} */ value) => box.y + box.height - ((value - low) / (high - low)) * box.height;
    const paint = lines(model.theme).map(css);
    context.strokeStyle = paint[0];
    context.lineWidth = 2;
    context.beginPath();
    looks.forEach((/** @type {{at: number, count: number}} */ one, /** @type {number} */ place) => {
      const x = box.x + placeOf(range, one.at, box.width);
      if (place) context.lineTo(x, y(looks[place - 1].count));
      context[place ? "lineTo" : "moveTo"](x, y(one.count));
    });
    context.stroke();
    if (restarts.length) this.#restarts(context, box, range, restarts, paint[1]);
    axis(context, { ...box, y: box.y + box.height, height: 26 }, range, model.state.zone, colours);
    context.font = SMALL;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = paint[0];
    context.fillText(short(high), box.x - 6, box.y + 4);
    context.fillText(short(low), box.x - 6, box.y + box.height - 4);
    if (restarts.length) {
      context.textAlign = "left";
      context.fillStyle = paint[1];
      context.fillText(short(restarts.length), box.x + box.width + 6, box.y + 4);
      context.fillText("0", box.x + box.width + 6, box.y + box.height - 4);
    }
    context.font = BOLD;
    context.textAlign = "left";
    context.fillStyle = paint[0];
    context.fillText("zombies", box.x, 10);
    context.textAlign = "right";
    context.fillStyle = paint[1];
    if (restarts.length) context.fillText("restarts seen, summed up", box.x + box.width, 10);
  }

  /** @param {import("../draw/theme.js").Context} context @param {import("../draw/axis.js").Box} box @param {import("../lib/range.js").Range} range @param {number[]} restarts @param {string} colour */
  #restarts(context, box, range, restarts, colour) {
    context.strokeStyle = colour;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(box.x, box.y + box.height);
    restarts.forEach((at, place) => {
      const x = box.x + placeOf(range, at, box.width);
      context.lineTo(x, box.y + box.height * (1 - place / restarts.length));
      context.lineTo(x, box.y + box.height * (1 - (place + 1) / restarts.length));
    });
    context.stroke();
    context.setLineDash([]);
  }
}

/** What stands below the picture. @param {Model} model */
export function zombieTables(model) {
  const told = model.zombies;
  if (!told) return model.errors.zombies ? html`<p class="problem">${model.errors.zombies.message} ${model.errors.zombies.hint}</p>` : html`<p class="quiet" aria-busy="true">Reading what is known of zombies …</p>`;
  if (told.total === null && !told.families.length) return html`<p>Nobody counted zombies in this recording. <span class="quiet">The recorder counts them as root; <code>necroscope doctor</code> tells what it lacks.</span></p>`;
  const first = told.looks[0];
  const last = told.looks[told.looks.length - 1];
  return html`<p class="figures"><b>${figure(told.total)}</b> zombies${told.live === null ? nothing : html`, ${figure(told.live)} live`}${told.directories ? html`, ${figure(told.directories)} leaked directories` : nothing}.
      ${first && last && last[0] > first[0] ? html`${last[1] >= first[1] ? "+" : "−"}${figure(Math.abs(last[1] - first[1]))} in ${span((last[0] - first[0]) / 1e6)}.` : nothing}</p>
    ${told.pins.length ? table("What pins them", ["class", "zombies", "bytes", "files"], told.pins.map((/** @type {any} */ one) => [plain(one.kind), figure(one.zombies), bytes(one.bytes), one.files.map((/** @type {string} */ file) => plain(file, 120)).join(", ")])) : nothing}
    ${table("Where they are", ["nearest live ancestor", "zombies", "grew by"], told.below.map((/** @type {any} */ one) => {
      const grew = told.growth.find((/** @type {any} */ other) => other.parent === one.parent);
      return [plain(one.parent, 200), figure(one.count), grew ? figure(grew.last - grew.first) : "not known"];
    }))}
    ${told.owners.length ? table("Owners and their restarts", ["kind", "name", "restarts", "within the recording"], told.owners.map((/** @type {any} */ one) => [plain(one.kind), plain(one.name, 160), figure(one.restarts), figure(one.grew)])) : nothing}
    ${told.makers.length ? table("Who made cgroups", ["process", "pid", "cgroup"], told.makers.map((/** @type {any} */ one) => [plain(one.name, 60), String(one.pid), plain(one.cgroup, 200)])) : nothing}
    ${told.families.length ? table("What they are called", ["pattern", "zombies", "pinned by", "examples"], told.families.map((/** @type {any} */ one) => [plain(one.pattern, 200), figure(one.count), one.pins.map((/** @type {any} */ pin) => plain(pin.kind)).join(", ") || "not known", [...one.examples, ...one.newest].slice(0, 3).map((/** @type {string} */ path) => plain(path, 120)).join(", ")])) : nothing}
    <p class="quiet">As of ${when(told.at_ns / 1e6, model.state.zone, 1000)}.</p>`;
}

/** @param {string} title @param {string[]} head @param {string[][]} rows */
export function table(title, head, rows) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table><caption>${title}</caption>
    <thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((one, place) => (place ? html`<td>${one}</td>` : html`<th scope="row">${one}</th>`))}</tr>`)}</tbody></table></div>`;
}

/** @param {number | null} size */
function bytes(size) {
  if (size === null) return "not known";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  let left = size;
  while (left >= 1024 && place < units.length - 1) {
    left /= 1024;
    place += 1;
  }
  return `${figure(left)} ${units[place]}`;
}
