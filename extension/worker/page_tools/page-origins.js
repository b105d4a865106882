/**
 * Which origins may publish tools, by the setting `pageOrigins` of each server: those that any of
 * them wants. Content scripts of other pages are told to ask for none. Until a server has connected
 * none asks, since nobody wants to know.
 */

import { allFrames, onFrame } from "../frames/frames.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */

const WEB = /^https?:\/\//;
/** What `*` stands for in a pattern, as on the server. */
const ANY = "[^/?#@]*";

export class PageOrigins {
  /** @type {Map<object, RegExp[]>} by server */
  #patterns = new Map();
  /** @type {WeakMap<Frame, boolean>} what its content script knows */
  #told = new WeakMap();
  #forbidden;

  /** @param {(frame: Frame) => void} forbidden called for pages that may publish no longer */
  constructor(forbidden) {
    this.#forbidden = forbidden;
    onFrame((frame) => this.#tell(frame));
  }

  /**
   * @param {object} server
   * @param {unknown} patterns older servers send none, and take the tools of all pages
   */
  set(server, patterns = ["*"]) {
    if (!Array.isArray(patterns)) return;
    this.#patterns.set(server, patterns.map(String).map(matcher));
    for (const frame of allFrames()) this.#tell(frame);
  }

  /** @param {object} server */
  forget(server) {
    // The last one's patterns stay until a server says otherwise.
    if (this.#patterns.size < 2 || !this.#patterns.delete(server)) return;
    for (const frame of allFrames()) this.#tell(frame);
  }

  /**
   * A page that was asked for tools before the worker was stopped stays allowed until a server says
   * otherwise.
   * @param {Frame} frame
   */
  allows({ sender }) {
    const origin = sender?.origin ?? "";
    const all = [...this.#patterns.values()].flat();
    return WEB.test(origin) && (!this.#patterns.size || all.some((each) => each.test(origin)));
  }

  /** @param {Frame} frame */
  #tell(frame) {
    if (!this.#patterns.size) return;
    const isAllowed = this.allows(frame);
    if (this.#told.get(frame) === isAllowed) return;
    this.#told.set(frame, isAllowed);
    frame.ask("mayPublish", { isAllowed }).catch(() => {});
    if (!isAllowed) this.#forbidden(frame);
  }
}

/** @param {string} pattern */
function matcher(pattern) {
  if (pattern === "*") return WEB;
  const parts = pattern.replace(/\/+$/, "").split("*");
  return new RegExp(`^${parts.map(escaped).join(ANY)}$`);
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
