/**
 * How every action runs: one at a time in a tab, aimed, observed until its effects settle, and
 * reported.
 */

import { waitUntilDrawn, withTab } from "../debugger/debugger.js";
import { catchChoosers, leaveChoosers } from "../debugger/file-choosers.js";
import { Requests } from "../debugger/network-events.js";
import { onChange, openDialog, unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { bringBack } from "../shared/front-tab.js";
import { describe, getTab, requireKnownSite } from "../shared/known-tabs.js";
import { Outcomes, TabListeners, onHeldUp, watchLoads } from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { Observations, Turns } from "../shared/timing.js";
import { withHand } from "./hand.js";
import { findPlace, findTarget } from "./targets.js";

// Observing what an action does, by events, until its effects have settled.

const ABORTED = "net::ERR_ABORTED";
const START_MS = 3000;
const DOM_MS = 5000;
/** A navigation that becomes a download is aborted first. */
const DOWNLOAD_MS = 1000;
const SETTLE_MS = 8000;
const REQUESTS_MS = 1000;
const MOST_REQUESTS_MS = 10_000;
/** Frames in other processes report later that they have refused a press. */
const REFUSED_MS = 300;

/** @type {TabListeners<[frame: Frame, by: string]>} frames that have refused a press of ours */
const refusals = new TabListeners();

/** @type {Map<number, Frame>} the frame of the last action in each tab */
const acted = new Map();

/** @param {number} tabId */
export function lastActed(tabId) {
  return acted.get(tabId);
}

/** @param {Frame} frame */
function frameGone(frame) {
  if (acted.get(frame.tabId) === frame) acted.delete(frame.tabId);
}

register({
  name: "actions",
  forget: (tabId) => void acted.delete(tabId),
  gone: frameGone,
  said: (frame, { type, by }) =>
    type === "refused" && refusals.call(frame.tabId, frame, String(by)),
});

/** @typedef {import("../frames/frames.js").Frame} Frame */

/**
 * What the page reports: what has happened, and what it expects to happen.
 * @typedef {object} Rest
 * @property {boolean} arrived
 * @property {boolean} mutated
 * @property {boolean} navigating
 * @property {boolean} [opening]
 * @property {boolean} [downloading]
 */

/** Follows navigations of a tab, starting before the action. */
export class NavigationWatch {
  /** @type {Observations<import("../shared/tab-events.js").Step | "held">} */
  #seen = new Observations();
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    const unwatch = watchLoads(tabId, ({ step, error }) => this.#seen.note(step, error));
    const held = () => this.#seen.note("held", true);
    const stops = [unwatch, onHeldUp(tabId, held)];
    this.stop = () => stops.forEach((stop) => stop());
  }

  get wasAborted() {
    return this.#seen.get("failed") === ABORTED;
  }

  get hasBegun() {
    return this.#seen.has("started", "committed");
  }

  /** @param {boolean} expected whether the page expects to navigate */
  async rest(expected) {
    if (expected) await this.#seen.until(START_MS, "started", "committed", "moved", "failed");
    if (this.hasBegun) await this.loaded();
  }

  /** For a navigation that has begun: until its page is there or has failed. */
  loaded() {
    return this.#seen.until(DOM_MS, "dom", "complete", "failed", "held");
  }

  /** @returns {Promise<string | undefined>} the URL, if it has changed */
  async destination() {
    const went = this.#seen.has("committed", "moved");
    return went ? describe(await getTab(this.#tabId)).url : undefined;
  }
}

/** Observes a frame's page during an action. */
export class Watch {
  #navigation;
  #outcomes;
  #requests;
  #frame;
  #ms;
  #isDebugged;
  #isCatching = false;
  /** @type {Observations<"refused">} */
  #refused = new Observations();
  #stopListening;
  hasArrived = false;

  /**
   * @param {Frame} frame
   * @param {number} ms how long to wait for requests
   * @param {boolean} isDebugged without the debugger, choosers and requests are not seen
   */
  constructor(frame, ms, isDebugged = true) {
    this.#frame = frame;
    this.#ms = ms;
    this.#isDebugged = isDebugged;
    this.#navigation = new NavigationWatch(frame.tabId);
    this.#outcomes = new Outcomes(frame.tabId);
    this.#requests = new Requests(frame.tabId);
    frame.onNews = () => (this.hasArrived = true);
    this.#stopListening = refusals.add(frame.tabId, (other, by) =>
      this.#refused.note("refused", other === frame ? by : "another frame"),
    );
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
    this.#stopListening();
    this.#navigation.stop();
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
    await this.#navigation.rest(rest.navigating);
    if (rest.opening) await this.#outcomes.until(START_MS, "opened");
    const { opened } = this.found;
    if (opened !== undefined) await bringBack(opened, this.#frame.tabId);
    if (rest.downloading) await this.#outcomes.until(START_MS, "download");
    if (this.#navigation.wasAborted) await this.#outcomes.until(DOWNLOAD_MS, "download");
    const navigated = await this.#navigation.destination();
    return { ...rest, ...this.found, mutated: rest.mutated || navigated !== undefined, navigated };
  }

  /** @returns {Promise<string | undefined>} what was in the way of a press that has not arrived */
  async refusedBy() {
    await this.#refused.until(REFUSED_MS, "refused");
    return this.#refused.get("refused");
  }

  /** The page may react to the responses, and send further requests. */
  async #untilQuiet() {
    const end = Date.now() + this.#ms;
    for (;;) {
      const rest = await this.#askToSettle();
      const left = end - Date.now();
      if (rest.navigating || this.#navigation.hasBegun || left <= 0) return rest;
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

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../debugger/page-dialogs.js").Dialog} Dialog */
/** @typedef {Awaited<ReturnType<Watch["rest"]>>} Rested */
/**
 * @typedef {Partial<Rested> & {mutated: boolean, dialog?: Dialog, refusedBy?: string}} Outcome
 *   `refusedBy`: what a press would have hit, and did not
 */

const turns = new Turns();
/** @type {Map<number, Watch>} of actions that a dialog of their own has interrupted */
const interrupted = new Map();

/**
 * One action at a time in a tab: each must see its own effect.
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} work
 */
export function inTurn({ tabId, signal }, work) {
  return turns.take(tabId, signal, work);
}

/**
 * The same, with the debugger attached.
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} work
 */
export function inTurnWithTab(context, work) {
  return inTurn(context, () => withTab(context.tabId, work));
}

/**
 * The same, with a hand to act with, which need not be the debugger's.
 * @template T, I
 * @param {Context<I>} context
 * @param {(context: Handed<I>) => Promise<T>} work
 */
export function inTurnWithHand(context, work) {
  return inTurn(context, () => withHand(context, work));
}

/**
 * @param {Context<Wire.Named>} context
 * @returns {Promise<import("./targets.js").Target>}
 */
export async function find({ tabId, input, reach, signal }) {
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    return findTarget(tabId, input, reach);
  });
}

/**
 * What a command names: an element, or a point.
 * @param {Context<Wire.Place>} context
 * @returns {Promise<import("./targets.js").Place>}
 */
export async function findNamed(context) {
  const { tabId, input, signal } = context;
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    return findPlace(context, input);
  });
}

/**
 * A page handles requests in order, and none can be withdrawn: it is not asked to change anything
 * before it has shown that it is not busy.
 * @param {Frame} frame
 */
export function untilIdle(frame) {
  return frame.ask("idle", {});
}

/**
 * A dialog that opens while an action is prepared prevents the action.
 * @template T
 * @param {Context<{settle?: number}> & Partial<Handed>} context without a hand: the debugger is
 *   attached
 * @param {Frame} frame
 * @param {(signal: AbortSignal) => Promise<T>} prepare
 * @param {(prepared: T, signal: AbortSignal) => Promise<unknown>} act
 * @param {boolean} [isPress]
 */
export async function actAndRest(context, frame, prepare, act, isPress) {
  const { tabId, input, site, signal } = context;
  const watch = new Watch(frame, settleOf(input), context.hand?.trusted);
  const preparing = unlessDialog(tabId, signal, async (live) => {
    // Neither waits for the other: preparing opens no chooser.
    const [, ready] = await Promise.all([watch.start(), prepare(live)]);
    live.throwIfAborted();
    requireKnownSite(tabId, site);
    return ready;
  });
  preparing.catch(() => watch.stop());
  const prepared = await preparing;
  acted.set(context.tabId, frame);
  return restAfter(context, watch, (live) => act(prepared, live), isPress);
}

/**
 * Acts, and waits until the page has settled; a dialog that opens meanwhile ends the wait. The
 * effects of its answer still belong to this action, so the watch goes on.
 * @param {Context} context
 * @param {Watch} watch
 * @param {(signal: AbortSignal) => Promise<unknown>} act
 * @param {boolean} [isPress]
 * @returns {Promise<Outcome>}
 */
export async function restAfter({ tabId, signal }, watch, act, isPress = false) {
  let dialog;
  try {
    return await unlessDialog(tabId, signal, async (live) => {
      await act(live);
      live.throwIfAborted();
      const rest = await watch.rest();
      const isLost = isPress && !rest.arrived;
      return isLost ? { ...rest, refusedBy: await watch.refusedBy() } : rest;
    });
  } catch (error) {
    dialog = isDialog(error) ? openDialog(tabId) : undefined;
    if (!dialog) throw error;
    return { ...watch.found, arrived: watch.hasArrived, mutated: false, dialog };
  } finally {
    if (dialog) keepInterrupted(tabId, watch);
    else watch.stop();
  }
}

/** @param {unknown} error */
function isDialog(error) {
  return error instanceof CommandError && error.reason === "dialog_open";
}

/**
 * @param {number} tabId
 * @param {Watch} watch
 */
function keepInterrupted(tabId, watch) {
  interrupted.set(tabId, watch);
  const stop = onChange(tabId, () => {
    stop();
    if (interrupted.get(tabId) === watch) takeInterrupted(tabId)?.stop();
  });
}

/**
 * The watch of the action that a dialog has interrupted; the caller must stop it.
 * @param {number} tabId
 */
export function takeInterrupted(tabId) {
  const watch = interrupted.get(tabId);
  interrupted.delete(tabId);
  return watch;
}

/**
 * @param {Outcome} outcome
 * @param {string} what
 */
export function requireArrival({ arrived, dialog, refusedBy }, what) {
  if (arrived || dialog) return;
  if (refusedBy !== undefined) {
    const message = `The ${what} would have hit ${quoted(refusedBy)}, so it was kept back and nothing was done.`;
    throw new CommandError("covered_by", message, { coveredBy: refusedBy });
  }
  const message = `The ${what} was sent, but the page did not receive it on this element.`;
  throw new CommandError("page_may_have_received", message);
}

/**
 * @param {Outcome} outcome
 * @returns {Wire.Effect}
 */
export function effectOf({ navigated, mutated, dialog, chooser, login, opened, download }) {
  return { navigated, mutated, dialog: dialog ?? chooser ?? login, opened, download };
}

/**
 * The call's record must say so even if it failed.
 * @param {unknown} error
 * @param {boolean} sensitive
 */
export function marked(error, sensitive) {
  if (error instanceof CommandError && sensitive) error.data = { ...error.data, sensitive };
  return error;
}
