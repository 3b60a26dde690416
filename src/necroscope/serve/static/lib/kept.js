// Answers that came with the page, in a file for a ticket: the same questions as those to a server, of one window.

import { unpacked } from "./columns.js";
import { Refused } from "./api.js";

/** @typedef {{path: string, asked: Record<string, string>, body: string}} Answer */

const FLAME = ["from", "to", "cpus", "pids", "tids", "cgroups", "against", "include", "exclude", "inverted"];
const USUAL = /** @type {Record<string, string>} */ ({ against: "none", inverted: "no" });

export class Kept {
  /** @param {string} text */
  constructor(text) {
    /** @type {Answer[]} */
    this.answers = JSON.parse(text).answers;
  }

  /** @param {string} path @param {Record<string, string>} asked @returns {Promise<any>} */
  async document(path, asked = {}) {
    return JSON.parse(new TextDecoder().decode(await this.#body(path, asked)));
  }

  /** @param {string} path @param {Record<string, string>} asked */
  async columns(path, asked) {
    return unpacked(await this.#body(path, asked));
  }

  /** @param {string} path @param {Record<string, string>} asked @returns {Promise<ArrayBuffer>} */
  async #body(path, asked) {
    const found = this.#found(path, asked);
    if (!found) throw new Refused(...words(path));
    const packed = Uint8Array.from(atob(found.body), (one) => one.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  /** @param {string} path @param {Record<string, string>} asked */
  #found(path, asked) {
    const mine = this.answers.filter((one) => one.path === path);
    if (path === "cores") return mine.find((one) => one.asked.look === asked.look);
    if (path === "moment") return asked.include || asked.exclude ? undefined : inside(mine, asked);
    if (path === "flame") return mine.find((one) => FLAME.every((name) => same(name, one.asked[name], asked[name])));
    return mine[0];
  }
}

/** Of those that hold the stretch the shortest, as it is the finest; else the one that holds all. @param {Answer[]} mine @param {Record<string, string>} asked */
function inside(mine, asked) {
  const rows = mine.filter((one) => one.asked.rows === asked.rows);
  const length = (/** @type {Answer} */ one) => Number(one.asked.to) - Number(one.asked.from);
  const holds = rows.filter((one) => Number(one.asked.from) <= Number(asked.from) + 1e6 && Number(one.asked.to) >= Number(asked.to) - 1e6);
  return [...holds].sort((one, other) => length(one) - length(other))[0] ?? [...rows].sort((one, other) => length(other) - length(one))[0];
}

/** Times within a millisecond are the same: verdicts tell milliseconds. @param {string} name @param {string | undefined} kept @param {string | undefined} asked */
function same(name, kept, asked) {
  if (name === "from" || name === "to") return Math.abs(Number(kept) - Number(asked)) <= 1e6;
  return (kept || USUAL[name] || "") === (asked || USUAL[name] || "");
}

/** @param {string} path @returns {[string, string, number]} */
function words(path) {
  if (path === "flame") return ["This file holds the flame graphs of the verdict's moment only.", "follow a claim; for any other moment, `necroscope serve --bundle` over the recording", 404];
  if (path === "moment") return ["This file has no samples to filter.", "`necroscope serve --bundle` over the recording does", 404];
  return ["This file has nothing of that.", "", 404];
}
