// Questions to the server. A token stands behind the # of the address that `necroscope serve` prints; it is kept for the
// tab and taken out of the address, so that a copied address does not give it away.

import { unpacked } from "./columns.js";

const KEY = "necroscope-token";

export class Refused extends Error {
  /** @param {string} message @param {string} hint @param {number} status */
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export class Api {
  constructor() {
    const words = new URLSearchParams(location.hash.slice(1));
    const given = words.get("token");
    if (given) {
      sessionStorage.setItem(KEY, given);
      words.delete("token");
      history.replaceState(null, "", `#${words}`);
    }
    this.token = given ?? sessionStorage.getItem(KEY) ?? "";
  }

  /** @param {string} path @param {Record<string, string>} asked @param {AbortSignal} [signal] @returns {Promise<any>} */
  async document(path, asked = {}, signal) {
    return (await this.#ask(path, asked, signal)).json();
  }

  /** @param {string} path @param {Record<string, string>} asked @param {AbortSignal} [signal] */
  async columns(path, asked, signal) {
    return unpacked(await (await this.#ask(path, asked, signal)).arrayBuffer());
  }

  /** @param {string} path @param {Record<string, string>} asked @param {AbortSignal} [signal] */
  async #ask(path, asked, signal) {
    const words = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ""));
    const headers = this.token ? { authorization: `Bearer ${this.token}` } : undefined;
    let answer;
    try {
      answer = await fetch(`/api/v1/${path}${words.size ? `?${words}` : ""}`, { headers, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refused("The server does not answer.", "is `necroscope serve` still running?", 0);
    }
    if (answer.ok) return answer;
    const told = await answer.json().catch(() => ({}));
    throw new Refused(told.error?.message ?? `The server answered ${answer.status}.`, told.error?.hint ?? "", answer.status);
  }
}
