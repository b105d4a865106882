/**
 * Which origins may publish tools, by the setting `pageOrigins` of each server: those that any of
 * them wants. Content scripts of other pages are told to ask for none. Until a server has connected
 * none asks, since nobody wants to know.
 */

import { allFrames, onFrame } from "../frames/frames.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */

const WEB = /^https?:\/\//;
/** What `*` stands for in a pattern never has one of these, as on the server. */
const BOUNDARY = /[/?#@]/;

/** @typedef {(origin: string) => boolean} Matcher */

export class PageOrigins {
  /** @type {Map<object, Matcher[]>} by server */
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
    return WEB.test(origin) && (!this.#patterns.size || all.some((isMatch) => isMatch(origin)));
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

/**
 * In linear time: a server elsewhere chooses its patterns.
 * @param {string} pattern
 * @returns {Matcher}
 */
function matcher(pattern) {
  if (pattern === "*") return (origin) => WEB.test(origin);
  const [first = "", ...rest] = pattern.replace(/\/+$/, "").split("*");
  const last = rest.pop();
  if (last === undefined) return (origin) => origin === first;
  return (origin) => {
    const end = origin.length - last.length;
    let at = first.length;
    if (!origin.startsWith(first) || !origin.endsWith(last) || end < at) return false;
    for (const part of rest) {
      const found = origin.indexOf(part, at);
      if (found < 0 || BOUNDARY.test(origin.slice(at, found))) return false;
      at = found + part.length;
    }
    return at <= end && !BOUNDARY.test(origin.slice(at, end));
  };
}
