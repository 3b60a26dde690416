// The page around the pictures: head, controls, sections. Sections that are not looked at stay there, hidden, so that
// their canvases do.

import { html, nothing } from "../vendor/lit-html.js";
import { nameOf } from "../lib/flame_layout.js";
import { words } from "../lib/choice.js";
import { figure, percent, plain } from "../lib/text.js";
import { moment as when, span, zoneName } from "../lib/time.js";
import { help } from "./help.js";
import { changes, coresTable, flagsTable, functionsTable, momentTable, tracksTable } from "./tables.js";
import { headline, verdict } from "./verdict.js";
import { zombieTables } from "./zombies.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("../main.js").Page} Page */

const VIEWS = /** @type {[import("../lib/url_state.js").ViewName, string][]} */ ([["timeline", "Timeline"], ["moment", "Moment"], ["zombies", "Zombies"], ["verdict", "Verdict"]]);
const LOOKS = ["busy", "system", "user", "irq", "steal", "idle"];
const ROWS = ["core", "process", "thread", "cgroup"];

/** @param {Page} page */
export function shell(page) {
  const { model } = page;
  const { view } = model.state;
  return html`${head(page)}
    <main class="view-${view}">
      <div class="pictures">
        ${problems(model)}
        <section class="card" ?hidden=${view !== "timeline"} aria-labelledby="h-timeline">
          <h2 id="h-timeline">Timeline</h2>${timelineBar(page)}
          <div class="frame"><canvas id="timeline" tabindex="0" role="application" aria-roledescription="map of cores over time" aria-label=${timelineLabel(model)} aria-describedby="keys-hint"></canvas></div>
          ${legend(model)}
          ${model.state.tables && view === "timeline" ? html`${coresTable(model)}${tracksTable(model)}${flagsTable(model)}` : nothing}
        </section>
        <section class="card" ?hidden=${view !== "moment"} aria-labelledby="h-moment">
          <h2 id="h-moment">Moment</h2>${momentBar(page)}
          <div class="frame"><canvas id="moment" tabindex="0" role="application" aria-roledescription="map of milliseconds" aria-label=${`The inside of ${span(model.range.to - model.range.from)}, rows by ${model.state.rows}`} aria-describedby="keys-hint"></canvas></div>
          ${momentWords(model)}
          ${model.state.tables && view === "moment" ? momentTable(model) : nothing}
        </section>
        <section class="card" ?hidden=${view !== "timeline" && view !== "moment"} aria-labelledby="h-flame">
          <h2 id="h-flame">Flame graph</h2>${flameBar(page)}
        </section>
        <section class="card" ?hidden=${view !== "zombies"} aria-labelledby="h-zombies">
          <h2 id="h-zombies">Zombie cgroups</h2>
          <div class="frame"><canvas id="zombies" tabindex="0" role="img" aria-label="Zombies over time, against restarts; the tables below say the same"></canvas></div>
          ${view === "zombies" ? zombieTables(model) : nothing}
        </section>
      </div>
      <aside class="card" aria-labelledby="h-verdict"><h2 id="h-verdict">Verdict</h2>${verdict(model)}</aside>
    </main>
    <p id="keys-hint" class="hidden">Arrows move, Shift with arrows draws a rectangle, Enter chooses, question mark lists all keys.</p>
    <dialog id="help" aria-labelledby="help-title">${help(() => page.help(false))}</dialog>
    <div class="readout" id="readout">${page.reading || hintOf(model)}</div>
    <div class="hidden" role="status" aria-live="polite" id="spoken">${model.spoken}</div>`;
}

/** @param {Page} page */
function head(page) {
  const { model } = page;
  const { recording, state, range, whole } = model;
  const host = recording ? plain(recording.host.name || "unnamed host", 80) : "…";
  return html`<header>
    <div class="who"><h1><span class="brand">Necroscope</span> <b id="host" title=${recording ? `kernel ${plain(recording.host.kernel, 80)}, told by ${recording.host.told_by}` : ""}>${host}</b></h1>
      ${recording?.live ? html`<span class="live" title="the recorder is writing">live</span>` : nothing}
      <span class="when" id="when">${whole ? `${when(range.from, state.zone, 1)} – ${when(range.to, state.zone, 1).slice(-12)} · ${span(range.to - range.from)}` : ""}</span>
      <button id="zone" class="plain" @click=${() => model.set({ zone: state.zone === "utc" ? "local" : "utc" })} title="UTC or this browser's zone (z)">${zoneName(state.zone, range.from)}</button></div>
    <nav aria-label="Views">${VIEWS.map(([view, name], place) => html`<button class="tab" aria-pressed=${state.view === view} title="${name} (${place + 1})" @click=${() => model.set({ view }, true)}>${name}</button>`)}</nav>
    <div class="tools">
      ${recording?.live ? html`<button aria-pressed=${state.follow} @click=${() => page.follow()} title="keep the newest in view (f)">Follow</button>` : nothing}
      <button aria-pressed=${state.tables} @click=${() => model.set({ tables: !state.tables })} title="the same as tables (t)">Tables</button>
      <button @click=${() => page.save("png")} title="what is on the screen, as a picture">PNG</button>
      <button @click=${() => page.save("svg")} title="what is on the screen, as a drawing">SVG</button>
      <button @click=${() => page.turn()} title="light or dark">${model.theme === "dark" ? "Light" : "Dark"}</button>
      <button @click=${() => page.help(true)} title="keys (?)">Keys</button></div>
    <p class="headline ${model.verdict?.verdict ?? ""}"><button class="plain" @click=${() => model.set({ view: "verdict" }, true)}>${headline(model.verdict)}</button></p>
  </header>`;
}

/** @param {Model} model */
function problems(model) {
  const { recording } = model;
  if (model.errors.recording?.message && !recording) {
    return html`<div class="card problem" role="alert"><h2>${model.errors.recording.message}</h2><p>${model.errors.recording.hint}</p></div>`;
  }
  if (recording && recording.from_ns === null) {
    return html`<div class="card empty"><h2>Nothing is recorded yet</h2><p>Start the recorder on the node: <code>necroscope record</code>. This page shows what it writes within two seconds.</p></div>`;
  }
  const told = ["cores", "tracks", "flags", "moment", "flame"].filter((name) => model.errors[name]).map((name) => html`<p class="problem" role="alert">${name}: ${model.errors[name].message} ${model.errors[name].hint}</p>`);
  const notes = recording?.notes?.length ? html`<details class="notes"><summary>${recording.notes.length} notes about this recording</summary><ul>${recording.notes.map((/** @type {string} */ note) => html`<li>${plain(note, 300)}</li>`)}</ul></details>` : nothing;
  return html`${told}${notes}`;
}

/** @param {Page} page */
function timelineBar(page) {
  const { model } = page;
  return html`<div class="bar">
    <label>Show <select @change=${(/** @type {any} */ event) => model.set({ look: event.target.value })}>${LOOKS.map((look) => html`<option ?selected=${look === model.state.look}>${look}</option>`)}</select></label>
    <span class="group"><button aria-label="zoom in" title="zoom in (+)" @click=${() => model.zoom(0.5)}>+</button><button aria-label="zoom out" title="zoom out (−)" @click=${() => model.zoom(2)}>−</button><button title="the whole recording (0)" @click=${() => page.all()}>All</button></span>
    <span class="group"><button title="earlier ([)" @click=${() => model.pan(-0.5)}>◀</button><button title="later (])" @click=${() => model.pan(0.5)}>▶</button></span>
    <button class="touch" aria-pressed=${page.selecting} @click=${() => page.select()}>Select</button>
    ${chosenBar(page)}</div>`;
}

/** @param {Page} page */
function momentBar(page) {
  const { model } = page;
  return html`<div class="bar">
    <label>Rows <select @change=${(/** @type {any} */ event) => model.set({ rows: event.target.value })}>${ROWS.map((one) => html`<option ?selected=${one === model.state.rows}>${one}</option>`)}</select></label>
    <span class="group"><button aria-label="zoom in" @click=${() => model.zoom(0.5)}>+</button><button aria-label="zoom out" @click=${() => model.zoom(2)}>−</button></span>
    <span class="group"><button aria-label="earlier" @click=${() => model.pan(-0.5)}>◀</button><button aria-label="later" @click=${() => model.pan(0.5)}>▶</button></span>
    <button class="touch" aria-pressed=${page.selecting} @click=${() => page.select()}>Select</button>
    ${chosenBar(page)}</div>`;
}

/** @param {Page} page */
function chosenBar(page) {
  const { model } = page;
  const { a, b, view } = model.state;
  if (!a && !b) return html`<span class="quiet">drag over the map to choose a moment</span>`;
  return html`<span class="chosen">${a ? html`<span class="a">A</span> ${plain(words(a), 90)}` : nothing} ${b ? html`<span class="b">B</span> ${plain(words(b), 90)}` : nothing}
    ${a && view === "timeline" ? html`<button title="milliseconds of it (m)" @click=${() => page.inside()}>Inside</button>` : nothing}
    <button title="let go (Esc)" @click=${() => model.clear()}>Clear</button></span>`;
}

/** @param {Model} model */
function momentWords(model) {
  const shown = model.moment?.moment;
  if (!shown) return nothing;
  const share = model.state.search && model.flame ? "" : "";
  return html`<p class="quiet">${figure(shown.samples)} samples, ${span(shown.bin)} a bin${shown.leftOut ? `, ${shown.leftOut} quieter rows left out` : ""}${share}</p>`;
}

/** @param {Page} page */
function flameBar(page) {
  const { model, flame } = page;
  const { state } = model;
  const graph = model.flame?.graph;
  const typed = (/** @type {"search" | "include" | "exclude"} */ name) => (/** @type {any} */ event) => model.set({ [name]: event.target.value });
  return html`<div class="bar">
      <label>Search <input type="search" id="search" .value=${state.search} @input=${typed("search")} placeholder="function or module" /></label>
      ${state.search && flame?.found ? html`<span id="match">${percent(flame.found.share)} in ${figure(flame.found.number)} boxes</span>` : nothing}
      <label>Only <input class="short" .value=${state.include} @change=${typed("include")} placeholder="with" /></label>
      <label>Not <input class="short" .value=${state.exclude} @change=${typed("exclude")} placeholder="without" /></label>
      <label>Against <select id="against" @change=${(/** @type {any} */ event) => model.set({ against: event.target.value })}>
        <option value="none" ?selected=${state.against === "none"}>nothing</option><option value="usual" ?selected=${state.against === "usual"}>usual times</option>
        <option value="b" ?selected=${state.against === "b"} ?disabled=${!state.b}>rectangle B</option></select></label>
      <button aria-pressed=${state.inverted} title="innermost frames first (i)" @click=${() => model.set({ inverted: !state.inverted })}>Inverted</button>
      <button aria-pressed=${state.upright} title="roots below (u)" @click=${() => model.set({ upright: !state.upright })}>Flame</button>
      <button title="the stack of the focused box (c)" @click=${() => flame?.copy()} ?disabled=${!graph}>Copy stack</button>
    </div>
    ${graph ? html`<p class="quiet flame-words">${flameWords(model)}</p>` : html`<p class="quiet">${model.chosen ? "reading …" : "Choose a moment: drag over the map, or press Enter on a cell."}</p>`}
    ${graph?.head.notes.length ? html`<ul class="quiet">${graph.head.notes.map((/** @type {string} */ note) => html`<li>${plain(note, 300)}</li>`)}</ul>` : nothing}
    ${graph && flame && flame.trail.length > 1 ? html`<p class="trail">${flame.trail.map((box) => html`<button class="plain" @click=${() => flame.zoom(box)}>${plain(nameOf(graph, box), 30)}</button>`)}</p>` : nothing}
    <div class="scroller" id="scroller" ?hidden=${!graph} tabindex="-1"><div class="tall" id="tall"><canvas id="flame" tabindex="0" role="application" aria-roledescription="flame graph" aria-label="Flame graph of the chosen samples" aria-describedby="keys-hint"></canvas></div></div>
    ${graph ? kindsLegend(graph) : nothing}
    ${changes(model, (box) => flame?.zoom(box))}
    ${state.tables && graph ? functionsTable(model) : nothing}`;
}

/** @param {Model} model */
function flameWords(model) {
  const shown = model.flame;
  if (!shown) return "";
  const { head } = shown.graph;
  const amount = head.timed ? `${figure(head.cores)} of ${plural(head.of_cores)} busy, ` : "";
  const against = head.compared ? `; against ${plain(head.compared)}` : model.state.against !== "none" ? "; there is nothing to compare with" : "";
  return `${plain(words(shown.choice), 120)}: ${amount}${figure(head.samples)} samples, ${figure(head.boxes)} boxes${head.left_out ? `, ${figure(head.left_out)} narrow ones left out` : ""}${against}`;
}

/** @param {number} cores */
function plural(cores) {
  return `${figure(cores)} ${cores === 1 ? "core" : "cores"}`;
}

/** @param {import("../lib/flame_layout.js").Graph} graph */
function kindsLegend(graph) {
  if (graph.before) return html`<p class="legend"><span><i class="swatch more"></i>more</span><span><i class="swatch less"></i>less</span><span><i class="swatch same"></i>may be chance</span></p>`;
  return html`<p class="legend">${graph.head.kinds.map((/** @type {string} */ kind) => html`<span><i class="swatch kind-${kind}"></i>${kind}</span>`)}</p>`;
}

/** @param {Model} model */
function legend(model) {
  return html`<p class="legend"><span><i class="swatch load"></i>${model.state.look}, mean of a column</span><span><i class="swatch full"></i>full (97 % and more), stronger the longer</span><span><i class="swatch unknown"></i>not known</span>
    <span><i class="sign">▼</i>symptom</span><span><i class="sign">⚑</i>mark</span><span><i class="sign">■</i>gap or note</span></p>`;
}

/** @param {Model} model */
function timelineLabel(model) {
  return `${model.cpus.length} cores over ${span(model.range.to - model.range.from)}, ${model.state.look}`;
}

/** @param {Model} model */
function hintOf(model) {
  if (matchMedia("(pointer: coarse)").matches) return "drag: move · pinch: zoom · Select, then drag: choose";
  if (model.state.view === "timeline") return "wheel: zoom · drag: choose · Shift-drag: baseline · ?: keys";
  if (model.state.view === "moment") return "drag: choose rows and milliseconds · Shift-drag: baseline · /: search";
  return "?: keys";
}
