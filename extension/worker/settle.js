/** What an action has done: waits, by events, until its consequences have come to rest. */

import { onLogin } from "./debugger/logins.js";
import { catchChoosers, leaveChoosers } from "./debugger/file-choosers.js";
import { CommandError } from "./shared/command-errors.js";
import { bringBack } from "./shared/front-tab.js";
import { onHeldUp } from "./emulation/interception.js";
import { watchLoads } from "./shared/tab-events.js";
import { Outcomes } from "./outcomes.js";
import { Requests } from "./requests.js";
import { Sightings } from "./sightings.js";
import { describe, getTab } from "./shared/known-tabs.js";

const ABORTED = "net::ERR_ABORTED";
const START_MS = 3000;
const DOM_MS = 5000;
/** A navigation that becomes a download is given up first. */
const DOWNLOAD_MS = 1000;
const SETTLE_MS = 8000;
const REQUESTS_MS = 1000;
const MOST_REQUESTS_MS = 10_000;

/** @typedef {import("./frame.js").Frame} Frame */

/**
 * What the page says of itself: beside what has happened, what it expects to happen.
 * @typedef {object} Rest
 * @property {boolean} arrived
 * @property {boolean} mutated
 * @property {boolean} navigating
 * @property {boolean} [opening]
 * @property {boolean} [downloading]
 */

/** Follows navigations of a tab from before an action on. */
export class Departure {
  /** @type {Sightings<import("./shared/tab-events.js").Step | "held">} */
  #seen = new Sightings();
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    const unwatch = watchLoads(tabId, ({ step, error }) => this.#seen.note(step, error));
    const held = () => this.#seen.note("held", true);
    const stops = [unwatch, onHeldUp(tabId, held), onLogin(tabId, held)];
    this.stop = () => stops.forEach((stop) => stop());
  }

  get wasAborted() {
    return this.#seen.get("failed") === ABORTED;
  }

  get hasBegun() {
    return this.#seen.has("started", "committed");
  }

  /** @param {boolean} expected whether the page has said that it is about to navigate */
  async rest(expected) {
    if (expected) await this.#seen.until(START_MS, "started", "committed", "moved", "failed");
    if (this.hasBegun) await this.arrival();
  }

  /** For a navigation that has begun: until its page is there, or does not come. */
  arrival() {
    return this.#seen.until(DOM_MS, "dom", "complete", "failed", "held");
  }

  /** @returns {Promise<string | undefined>} the address, if the tab has another document or place */
  async destination() {
    const went = this.#seen.has("committed", "moved");
    return went ? describe(await getTab(this.#tabId)).url : undefined;
  }
}

/** Looks on while something is done to a frame's page. */
export class Watch {
  #departure;
  #outcomes;
  #requests;
  #frame;
  #ms;
  #isDebugged;
  #isCatching = false;
  hasArrived = false;

  /**
   * @param {Frame} frame
   * @param {number} ms how long to wait for requests
   * @param {boolean} isDebugged without the debugger, choosers and requests go unseen
   */
  constructor(frame, ms, isDebugged = true) {
    this.#frame = frame;
    this.#ms = ms;
    this.#isDebugged = isDebugged;
    this.#departure = new Departure(frame.tabId);
    this.#outcomes = new Outcomes(frame.tabId);
    this.#requests = new Requests(frame.tabId);
    frame.onNews = () => (this.hasArrived = true);
  }

  async start() {
    if (!this.#isDebugged) return;
    const { tabId, frameId } = this.#frame;
    this.#isCatching = true;
    await Promise.all([
      catchChoosers(tabId, frameId !== 0),
      this.#ms && this.#requests.start(frameId !== 0),
    ]);
  }

  stop() {
    this.#departure.stop();
    this.#outcomes.stop();
    this.#requests.stop();
    if (this.#isCatching) leaveChoosers(this.#frame.tabId);
  }

  /** What is known at this moment, without waiting. */
  get found() {
    return this.#outcomes.found;
  }

  async rest() {
    const rest = await this.#untilQuiet();
    void this.#frame.ask("unwatch", {}).catch(() => {});
    await this.#departure.rest(rest.navigating);
    if (rest.opening) await this.#outcomes.until(START_MS, "opened");
    const { opened } = this.found;
    if (opened !== undefined) await bringBack(opened, this.#frame.tabId);
    if (rest.downloading) await this.#outcomes.until(START_MS, "download");
    if (this.#departure.wasAborted) await this.#outcomes.until(DOWNLOAD_MS, "download");
    const navigated = await this.#departure.destination();
    return { ...rest, ...this.found, mutated: rest.mutated || navigated !== undefined, navigated };
  }

  /** The page may act on answers to its requests, and ask again. */
  async #untilQuiet() {
    const end = Date.now() + this.#ms;
    for (;;) {
      const rest = await this.#askToSettle();
      const left = end - Date.now();
      if (rest.navigating || this.#departure.hasBegun || left <= 0) return rest;
      if (!(await this.#requests.rest(left))) return rest;
    }
  }

  /** @returns {Promise<Rest>} */
  async #askToSettle() {
    try {
      return await this.#frame.ask("settle", {}, SETTLE_MS);
    } catch (error) {
      if (!(error instanceof CommandError) || error.reason !== "navigated_away") throw error;
      const navigating = this.#frame.frameId === 0;
      return { arrived: this.hasArrived, mutated: true, navigating };
    }
  }
}

/**
 * @param {{settle?: number}} input
 * @returns {number}
 */
export function settleOf({ settle = REQUESTS_MS }) {
  if (Number.isFinite(settle) && settle >= 0 && settle <= MOST_REQUESTS_MS) return settle;
  const message = `settle is a number of milliseconds, 0 to ${MOST_REQUESTS_MS}.`;
  throw new CommandError("invalid_arguments", message);
}
