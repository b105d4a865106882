/**
 * Where the files of a page came from. The page names each by the address it asked for; that
 * another one has answered, after a redirect, only a recording knows.
 */

import { recordingOf } from "./recording/recorder.js";
import { clip, URL_LENGTH } from "./shared/clip.js";

/** @typedef {import("./recording/network-log.js").Request} Request */

export class Ways {
  /** @type {Map<string, Request[]>} every step from an address on */
  #steps = new Map();

  /** @param {number} tabId */
  constructor(tabId) {
    const network = recordingOf(tabId)?.network;
    for (const entry of network?.entries ?? []) {
      const all = network?.courseOf(entry)?.steps ?? [];
      const key = keyOf(entry.url);
      this.#steps.set(key, [...this.#from(key), ...all.slice(all.indexOf(entry))]);
    }
  }

  /** @param {string} key */
  #from(key) {
    return this.#steps.get(key) ?? [];
  }

  /**
   * @param {string} url
   * @returns {string[]} all addresses that had to do with it
   */
  of(url) {
    return this.#from(keyOf(url)).flatMap((step) => [step.url, step.redirectedTo ?? ""]);
  }

  /**
   * Whether it is recorded to the end.
   * @param {string} url
   */
  isKnown(url) {
    const last = this.#from(keyOf(url)).at(-1);
    return Boolean(last) && !last?.redirectedTo;
  }
}

/** @param {string} url */
function keyOf(url) {
  return clip(url.split("#")[0], URL_LENGTH);
}
