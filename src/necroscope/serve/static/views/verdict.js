// The story beside the timeline: the cause, what to do, each claim with a way to its evidence, and what was ruled out.

import { html, nothing } from "../vendor/lit-html.js";
import { figure, percent, plain } from "../lib/text.js";
import { moment as when, span, timeOfDay } from "../lib/time.js";

/** @typedef {import("./model.js").Model} Model */

const OUTCOMES = { "ruled-out": ["✗", "Ruled out"], "not-ruled-out": ["!", "Not ruled out"], untested: ["?", "Not tested"] };

/** @param {Model} model */
export function verdict(model) {
  const error = model.errors.why;
  if (error && !model.verdict) return html`<p class="problem">${error.message} ${error.hint}</p>`;
  if (!model.verdict) return html`<p class="quiet" aria-busy="true">Looking for the cause …</p>${symptoms(model)}`;
  const told = model.verdict;
  return html`${head(told)} ${symptoms(model)} ${remedies(told)} ${links(model, told)} ${tested(model, told)} ${rest(told)}`;
}

/** The words of the terminal, in sentence case. @param {any} told */
function titleOf(told) {
  const words = plain(told.headline ?? told.verdict);
  return words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
}

/** @param {any} told */
function head(told) {
  const { cause } = told;
  const title = titleOf(told);
  return html`<div class="cause ${told.verdict}">
    <h3>${title}${cause ? html` <code>${plain(cause.kind)}</code>` : nothing}</h3>
    ${cause ? html`<p class="claim">${plain(told.titles?.[cause.kind] ?? "")}</p>
        ${cause.subject ? html`<p>Root cause: ${plain(cause.subject.kind)} <b>${plain(cause.subject.name, 160)}</b></p>` : nothing}
        ${cause.process ? html`<p>On ${cause.cpu === null ? "the core" : `core ${cause.cpu}`}: <b>${plain(cause.process.name, 80)}</b> (pid ${cause.process.pid})</p>` : nothing}
        <p>Confidence <b>${cause.confidence.toFixed(2)}</b>${told.weakest ? html`; weakest link: ${plain(told.weakest.kind)} ${told.weakest.strength?.toFixed(2)}` : nothing}</p>` : nothing}
    ${told.verdict === "no-symptom" ? html`<p>Nobody complained, and no core was starved. The map shows what the cores did; look for orange and red.</p>` : nothing}
    ${told.symptom ? html`<p class="quiet">${plain(told.symptom.kind)}${told.symptom.subject ? ` of ${plain(told.symptom.subject, 60)}` : ""} at ${plain(told.symptom.at)}</p>` : nothing}
  </div>`;
}

/** Other symptoms that can be asked about. @param {Model} model */
function symptoms(model) {
  const known = model.flags.filter((flag) => flag.role === "symptom");
  if (known.length < 2 && !model.state.event) return nothing;
  const shown = known.slice(-200);
  return html`<label class="field">Symptom
    <select @change=${(/** @type {any} */ event) => model.judge(event.target.value)}>
      <option value="" ?selected=${!model.state.event}>the latest</option>
      ${shown.map((flag) => html`<option value=${flag.id} ?selected=${flag.id === model.state.event}>${timeOfDay(flag.at, model.state.zone, 1000)} ${plain(flag.kind, 40)} ${plain(flag.subject, 40)}</option>`)}
    </select></label>`;
}

/** @param {any} told */
function remedies(told) {
  if (!told.remedies.length) return nothing;
  return html`<section aria-labelledby="do"><h4 id="do">What to do now</h4>
    <ol class="remedies">${told.remedies.map((/** @type {any} */ one) => html`<li>
      ${plain(one.text, 600)}
      ${one.command ? html`<div class="command"><code>${plain(one.command, 400)}</code></div>` : nothing}
      <p class="quiet">${[one.risk && `risk: ${plain(one.risk)}`, one.cost && `cost: ${plain(one.cost)}`, one.purges_existing && "frees what has accumulated"].filter(Boolean).join(" · ")}</p>
    </li>`)}</ol>
    <p class="quiet">This page changes nothing. <code>necroscope fix</code> on the node shows the plan and carries it out.</p></section>`;
}

/** @param {Model} model @param {any} told */
function links(model, told) {
  return html`<section aria-labelledby="evidence"><h4 id="evidence">Evidence</h4>
    <ol class="links">${told.links.map((/** @type {any} */ link, /** @type {number} */ place) => html`<li>
      <button class="claim" data-link=${link.kind} @click=${() => follow(model, link)} title="Show it on the timeline">
        <span class="kind">${plain(link.kind).replaceAll("-", " ")}</span>
        ${link.strength === null ? nothing : html`<span class="strength">${link.strength.toFixed(2)}</span>`}
        <span>${plain(link.claim, 400)}</span></button>
      <details ?open=${place === 1}><summary>${link.evidence.length} ${link.evidence.length === 1 ? "line" : "lines"} of evidence</summary>
        <ul>${link.evidence.map((/** @type {any} */ one) => html`<li>${plain(one.text, 600)} <span class="quiet">[${plain(one.source, 60)}]</span></li>`)}</ul></details>
      ${link.doubt ? html`<p class="doubt">doubt: ${plain(link.doubt, 400)}</p>` : nothing}
    </li>`)}</ol></section>`;
}

/** @param {Model} model @param {any} told */
function tested(model, told) {
  if (!told.tested.length) return nothing;
  return html`<section aria-labelledby="tested"><h4 id="tested">What else was tested</h4>
    <ul class="tested">${told.tested.map((/** @type {any} */ one) => {
      const [sign, name] = /** @type {Record<string, string[]>} */ (OUTCOMES)[one.outcome] ?? ["", one.outcome];
      const window = one.evidence.find((/** @type {any} */ line) => line.window)?.window;
      return html`<li class=${one.outcome}><b><span aria-hidden="true">${sign}</span> ${plain(one.hypothesis)}</b>
        <span class="quiet">${name.toLowerCase()}${one.explains === null ? "" : `; explains ${percent(one.explains)}`}</span>
        <div>${plain(one.because, 400)}</div>
        ${window ? html`<button class="plain" @click=${() => model.show(choiceOf(window, []), { event: model.state.event })}>show when</button>` : nothing}</li>`;
    })}</ul></section>`;
}

/** @param {any} told */
function rest(told) {
  return html`${told.candidates.length > 1 ? html`<section><h4>Other candidates</h4><ul>${told.candidates.slice(1).map((/** @type {any} */ one) => html`<li>
      <b>${plain(one.kind)}</b> core ${one.cpu ?? "?"}${one.process ? `, ${plain(one.process.name, 60)}` : ""}: explains ${percent(one.explains)}, confidence ${one.confidence.toFixed(2)}; ${plain(one.because, 300)}</li>`)}</ul></section>` : nothing}
    ${told.missing.length ? html`<section><h4>Not recorded</h4><ul>${told.missing.map((/** @type {any} */ one) => html`<li>${plain(one.what, 400)} <span class="quiet">${plain(one.hint, 200)}</span></li>`)}</ul></section>` : nothing}
    ${told.notes.length ? html`<section><h4>Notes</h4><ul>${told.notes.map((/** @type {any} */ one) => html`<li>${plain(one, 300)}</li>`)}</ul></section>` : nothing}`;
}

/** @param {string[]} window @param {number[]} cpus @returns {import("../lib/url_state.js").Choice} */
export function choiceOf(window, cpus) {
  const [from, to] = window.map((one) => Date.parse(one));
  return { from, to: Math.max(to, from + 1), cpus, pids: [], tids: [], cgroups: [] };
}

/** A claim moves the view to its evidence: the stretch it is about, and the core where it is about one. @param {Model} model @param {any} link */
export function follow(model, link) {
  const told = model.verdict;
  const cpu = told.cause?.cpu ?? null;
  const of = (/** @type {any} */ one) => one.window && Date.parse(one.window[1]) - Date.parse(one.window[0]) >= 1;
  if (link.kind === "leak-source" || link.kind === "accumulation") model.say("zombies and owners are on the Zombies view");
  const window = link.evidence.find(of)?.window ?? told.window;
  if (link.kind === "symptom" || !window) {
    const at = Date.parse(told.symptom?.at ?? "");
    if (Number.isFinite(at)) model.show({ from: at - 2500, to: at + 2500, cpus: [], pids: [], tids: [], cgroups: [] }, { view: "timeline" });
    return;
  }
  const onCore = ["starved-core", "blocked", "on-core", "mechanism", "ordered-by"].includes(link.kind) && cpu !== null;
  const against = onCore && link.kind !== "starved-core" ? "usual" : model.state.against;
  model.show(choiceOf(window, onCore ? [cpu] : []), { view: "timeline", against: /** @type {any} */ (against) });
  model.say(`${link.claim}: ${when(Date.parse(window[0]), model.state.zone, 1000)}, ${span(Date.parse(window[1]) - Date.parse(window[0]))}`);
}

/** @param {any} told */
export function headline(told) {
  if (!told) return "looking for the cause …";
  const title = titleOf(told);
  return told.cause ? `${title}: ${told.cause.kind}${told.cause.subject ? `, ${plain(told.cause.subject.name, 60)}` : ""} (${figure(told.cause.confidence)})` : title;
}
