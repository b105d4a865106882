/**
 * What an action changes, in its own frame, in the page around it and in other frames of its site,
 * as lines of a reading. Only frames of sites that the caller may read are asked.
 */

import { askMinting, framesOf } from "../frames/frames.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{observe?: number}} Observing */
/** @typedef {{lines: string, whole: boolean}} Lines */

const ANSWER_MS = 1000;
const MOST_INNER = 4;
/** What a frame says if it has no notes. */
export const NONE = { lines: "", whole: true };

export class ChangeWatch {
  /** @type {Frame[]} */
  #frames = [];
  #context;

  /** @param {Context<Observing> & {saysValue?: boolean}} context */
  constructor(context) {
    this.#context = context;
  }

  /**
   * A frame handles questions in order: it gets this one before it prepares the action.
   * @param {Frame} frame of the action
   */
  start(frame) {
    if (!this.#context.input.observe) return;
    const [main, ...inner] = framesOf(frame.tabId);
    const alike = inner.filter(({ site }) => site === frame.site).slice(0, MOST_INNER);
    const others = [main, ...alike].filter((other) => other !== undefined && other !== frame);
    this.#frames = [frame, ...others];
    void frame.ask("expectChanges", {}).catch(() => {});
    for (const other of others) void other.ask("watchChanges", {}).catch(() => {});
  }

  stop() {
    const isOver = { isOver: true };
    for (const frame of this.#frames.slice(1)) void frame.ask("unwatch", isOver).catch(() => {});
  }

  /**
   * How the frame of the action is to say them in the same answer in which it says that it has
   * settled: where no other frame is asked, and it is known that the caller may read this one.
   */
  get atOnce() {
    const { input, site, saysValue: isValueKnown = false } = this.#context;
    const [frame, ...others] = this.#frames;
    if (!frame || others.length || frame.site !== site) return undefined;
    return { maxChars: Number(input.observe), isValueKnown, mayAskAgain: true };
  }

  /**
   * @param {boolean} [mayAskAgain] whether the frames are to keep their notes
   * @returns {Promise<Lines | undefined>} undefined if the caller may not know, or the document has
   *   gone
   */
  async result(mayAskAgain = false) {
    const { input, saysValue: isValueKnown = false } = this.#context;
    const frames = await this.#readable();
    if (!frames.length) return undefined;
    let room = Number(input.observe);
    const all = [];
    for (const frame of frames) {
      const found = await ask(frame, { maxChars: room, isValueKnown, mayAskAgain });
      room -= found.lines.length;
      all.push(found);
    }
    const lines = all.flatMap((one) => one.lines || []).join("\n");
    return { lines, whole: all.every((one) => one.whole) };
  }

  async #readable() {
    const { site, readable } = this.#context;
    const others = new Set(this.#frames.map((frame) => frame.site).filter((one) => one !== site));
    const allowed = others.size ? await readable([...others]) : [];
    const sites = new Set([...allowed, ...(site === undefined ? [] : [site])]);
    return this.#frames.filter((frame) => sites.has(frame.site));
  }
}

/**
 * @param {Frame} frame
 * @param {{maxChars: number, isValueKnown: boolean, mayAskAgain: boolean}} body
 * @returns {Promise<Lines>}
 */
async function ask(frame, body) {
  if (body.maxChars <= 0) return { lines: "", whole: false };
  const cut = { lines: "", whole: false };
  const found = await askMinting(frame, "changes", body, ANSWER_MS).catch(() => cut);
  return found ?? NONE;
}
