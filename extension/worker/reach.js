/**
 * Which frames of a page a command may enter. What the server allowed, it allowed for the page's
 * site; about the frames of other sites it is asked.
 */

import { CommandError } from "./shared/command-errors.js";

/** @typedef {import("./frame.js").Frame} Frame */

export class Reach {
  /** @type {Set<string> | null} null: everywhere */
  #sites = null;
  #ask;

  /** @param {((sites: string[]) => Promise<{sites: string[]}>) | null} ask null: everywhere */
  constructor(ask) {
    this.#ask = ask;
  }

  /**
   * @param {Frame[]} frames
   * @param {string | undefined} site the page's own
   */
  async explore(frames, site) {
    await this.learn(new Set(frames.map((frame) => frame.site)), site);
  }

  /**
   * @param {Set<string>} sites
   * @param {string | undefined} site the page's own
   */
  async learn(sites, site) {
    this.#sites = await this.among([...sites], site);
  }

  /**
   * @param {string[]} places
   * @param {string | undefined} site the page's own
   * @returns {Promise<Set<string> | null>} those sites that may be dealt with; null: all there are
   */
  async among(places, site) {
    if (!this.#ask) return null;
    const others = new Set(places.filter((other) => other !== site));
    const allowed = others.size ? (await this.#ask([...others])).sites : [];
    return new Set([...allowed, ...(site === undefined ? [] : [site])]);
  }

  /** Whether no rule depends on the site. */
  get isEverywhere() {
    return !this.#ask;
  }

  /** @param {string} site */
  allowsSite(site) {
    return !this.#ask || Boolean(this.#sites?.has(site));
  }

  /** @param {Frame} frame */
  allows(frame) {
    return frame.frameId === 0 || this.allowsSite(frame.site);
  }

  /** @param {Frame} frame */
  require(frame) {
    if (!this.allows(frame)) this.requireSite(frame.site);
  }

  /** @param {string} site of a frame */
  requireSite(site) {
    if (this.allowsSite(site)) return;
    const message = `This is in a frame of ${site}, where this tool is not allowed.`;
    throw new CommandError("permission_off", message, { frameSite: site });
  }
}
