/** What an action has done: waits, by events, until its consequences have come to rest. */

import { CommandError } from "./errors.js";
import { watchLoads } from "./loads.js";
import { describe, getTab } from "./tabs.js";

const START_MS = 1000;
const DOM_MS = 5000;
const SETTLE_MS = 8000;

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {{arrived: boolean, mutated: boolean, navigating: boolean, value?: string}} Rest */

/** Follows navigations of a tab from before an action on. */
export class Departure {
  /** @type {Set<import("./loads.js").Step>} */
  #seen = new Set();
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #unwatch;
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    this.#unwatch = watchLoads(tabId, ({ step }) => {
      this.#seen.add(step);
      this.#waiting.forEach((check) => check());
    });
  }

  stop() {
    this.#unwatch();
  }

  get hasBegun() {
    return this.#seen.has("started") || this.#seen.has("committed");
  }

  /** @param {boolean} expected whether the page has said that it is about to navigate */
  async rest(expected) {
    if (expected) await this.#until(START_MS, "started", "committed", "moved", "failed");
    if (this.hasBegun) await this.#until(DOM_MS, "dom", "complete", "failed");
  }

  /** @returns {Promise<string | undefined>} the address, if the tab has another document or place */
  async destination() {
    const went = this.#seen.has("committed") || this.#seen.has("moved");
    return went ? describe(await getTab(this.#tabId)).url : undefined;
  }

  /**
   * @param {number} ms
   * @param {import("./loads.js").Step[]} steps
   */
  async #until(ms, ...steps) {
    /** @type {PromiseWithResolvers<void>} */
    const { promise, resolve } = Promise.withResolvers();
    const check = () => steps.some((step) => this.#seen.has(step)) && resolve();
    const timer = setTimeout(resolve, ms);
    this.#waiting.add(check);
    check();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(check);
  }
}

/**
 * @param {Frame} frame
 * @param {Departure} departure
 * @param {() => boolean} hasArrived
 * @returns {Promise<Rest & {navigated?: string}>}
 */
export async function comeToRest(frame, departure, hasArrived) {
  const rest = await askToSettle(frame, hasArrived);
  await departure.rest(rest.navigating);
  const navigated = await departure.destination();
  return { ...rest, mutated: rest.mutated || navigated !== undefined, navigated };
}

/**
 * @param {Frame} frame
 * @param {() => boolean} hasArrived
 * @returns {Promise<Rest>}
 */
async function askToSettle(frame, hasArrived) {
  try {
    return await frame.ask("settle", {}, SETTLE_MS);
  } catch (error) {
    if (!(error instanceof CommandError) || error.reason !== "navigated_away") throw error;
    return { arrived: hasArrived(), mutated: true, navigating: frame.frameId === 0 };
  }
}
