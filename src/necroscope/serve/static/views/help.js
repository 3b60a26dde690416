// What keys do, and how the pictures are read.

import { html } from "../vendor/lit-html.js";

const KEYS = [
  ["1 2 3 4", "timeline, moment, zombies, verdict"],
  ["Tab, arrows", "into a picture; move in it; with Shift, draw a rectangle"],
  ["Enter / b", "choose what the cursor is on / as the baseline"],
  ["g", "to the longest full stretch of any core in view"],
  ["+ − 0", "zoom in, out, to the whole recording"],
  ["[ ]", "earlier, later"],
  ["n p", "next and previous flag"],
  ["m", "the chosen moment from the inside"],
  ["d", "against usual times, on and off"],
  ["i u", "invert the flame graph; turn it upside down"],
  ["/", "search functions"],
  ["c", "copy the stack (in the flame graph)"],
  ["t z f", "tables, time zone, follow"],
  ["Esc", "zoom out; let go of what was chosen"],
];

/** @param {() => void} close */
export function help(close) {
  return html`<h2 id="help-title">Keys and pictures</h2>
    <dl class="keys">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <p>Wheel: zoom. Drag: a rectangle; its samples become a flame graph. Shift or Alt and drag: the baseline to compare with. Drag the axis: move.</p>
    <p>Blue: how busy, on average. Orange and red (yellow in the dark): a core that was full (97 % and more) for a second or longer, the stronger the longer. Slanted lines: not known.</p>
    <button @click=${close}>Close</button>`;
}
