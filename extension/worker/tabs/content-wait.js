/**
 * Waiting until a page shows something. An application's document is complete before its scripts
 * have drawn anything, and a tab that a page has just opened is blank.
 */

import { isTaken } from "../debugger/debugger.js";
import { openLogin } from "../debugger/logins.js";
import { onChange as onDialog, openDialog } from "../debugger/page-dialogs.js";
import { waitingIn } from "../emulation/interception.js";
import { framesOf, isBlank, lateFrames, onFrame } from "../frames/frames.js";
import { openRequests, recordingOf } from "../recording/recorder.js";
import { isInFront } from "../shared/front-tab.js";
import { getTab, siteOf } from "../shared/known-tabs.js";
import { goingTo, onHeldUp, watchLoads } from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { onAbort } from "../shared/timing.js";

/** A page that changes nothing for this long, and waits for nothing, is as it is. */
const QUIET_MS = 1000;
/** Where requests are not recorded, one may be under way. */
const QUIET_UNRECORDED_MS = 2000;
const STEP_MS = 3000;
const LOOK_MS = 2000;
const ARRIVE_MS = 200;
/** A page can be complete a moment before the frames in it have reported. */
const FRAMES_MS = 500;
/** An application that shows something may wait for the rest of it: as long as requests end. */
const MOST_CALM_MS = 2000;
const PENDING_MS = 700;
const CALM_STEP_MS = 50;
const CALM_STEPS = 2;
/** How long the first look at a page waits. */
const FIRST_LOOK_MS = 10_000;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {"shown" | "yet" | "background"} Content */

/** @type {Set<number>} tabs whose document nobody has looked at */
const unseen = new Set();
/** @type {Set<number>} tabs that show something, and had requests under way when they did */
const restless = new Set();
/** @type {Set<number>} tabs in whose page somebody has named an element */
const known = new Set();

/**
 * @param {number} tabId
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {boolean} [calms] whether to wait for the requests under way too
 * @returns {Promise<Content>} `yet`: nothing is drawn yet; `background`: because the browser does
 *   not draw the tab
 */
export async function awaitContent(tabId, ms, signal, calms = false) {
  const wait = new ContentWait(tabId, Date.now() + ms);
  const stops = [
    onAbort(signal, () => wait.end()),
    // The page goes on only when the caller has answered.
    onHeldUp(tabId, () => wait.end()),
    onDialog(tabId, () => openDialog(tabId) && wait.end()),
  ];
  try {
    const isShown = await wait.run(calms);
    // Whoever comes next has not waited yet.
    if (signal.aborted) return "shown";
    unseen.delete(tabId);
    if (calms || !isShown || !openRequests(tabId)) restless.delete(tabId);
    else restless.add(tabId);
    if (isShown) return "shown";
    return isTaken(tabId) || isInFront(tabId) ? "yet" : "background";
  } finally {
    stops.forEach((stop) => stop());
    wait.end();
  }
}

/**
 * Waits only at the first look at a document.
 * @param {number} tabId
 * @param {AbortSignal} signal
 * @param {boolean} calms whether to wait for the requests under way too
 */
export async function awaitFirstContent(tabId, signal, calms) {
  const isHeldUp = waitingIn(tabId).length || openLogin(tabId);
  const isFirst = unseen.has(tabId) || (calms && restless.has(tabId));
  if (isFirst && !isHeldUp) await awaitContent(tabId, FIRST_LOOK_MS, signal, calms);
  if (!calms) known.add(tabId);
}

/**
 * @param {number} tabId
 * @returns {boolean} whether somebody has named an element of its page
 */
export function isKnown(tabId) {
  return known.has(tabId);
}

/**
 * The same for what need not see the page.
 * @param {number} tabId
 * @param {AbortSignal} signal
 */
export async function awaitCalm(tabId, signal) {
  if (restless.has(tabId)) await awaitFirstContent(tabId, signal, true);
}

class ContentWait {
  /** @type {PromiseWithResolvers<null>} */
  #ended = Promise.withResolvers();
  #isEnded = false;
  #tabId;
  #until;

  /**
   * @param {number} tabId
   * @param {number} until
   */
  constructor(tabId, until) {
    this.#tabId = tabId;
    this.#until = until;
  }

  end() {
    this.#isEnded = true;
    this.#ended.resolve(null);
  }

  get #left() {
    return Math.max(0, this.#until - Date.now());
  }

  /**
   * @param {boolean} calms
   * @returns {Promise<boolean>} false: it shows nothing, although it could
   */
  async run(calms) {
    for (let isCalm = !calms; !this.#isEnded;) {
      const isShown = await this.#round();
      if (isShown === undefined) continue;
      if (!isShown || isCalm || !openRequests(this.#tabId)) return isShown;
      // What comes next may cover it again.
      await this.#calm();
      isCalm = true;
    }
    return true;
  }

  /** Waits for the requests under way, unless one is held open. */
  async #calm() {
    const end = Date.now() + Math.min(MOST_CALM_MS, this.#left);
    let [open, since, calm] = [openRequests(this.#tabId), Date.now(), 0];
    const isAtWork = () => calm < CALM_STEPS && Date.now() - since < PENDING_MS;
    while ((open || calm) && isAtWork() && Date.now() < end && !this.#isEnded) {
      await this.#orEnd(new Promise((resolve) => setTimeout(resolve, CALM_STEP_MS)));
      const now = openRequests(this.#tabId);
      if (now !== open) since = Date.now();
      calm = now ? 0 : calm + 1;
      open = now;
    }
  }

  /** @returns {Promise<boolean | undefined>} undefined: look again */
  async #round() {
    const main = framesOf(this.#tabId).find(({ frameId }) => frameId === 0);
    const seen = main && (await this.#orEnd(main.ask("seen", {}, LOOK_MS)));
    if (seen?.isDone) return true;
    if (await this.#isGoing(main)) {
      if (!this.#left) return Boolean(seen?.shows);
      return void (await this.#nextDocument(this.#left));
    }
    if (!main) return this.#unconnected();
    if (!seen) return (await this.#nextDocument(ARRIVE_MS)) ? undefined : true;
    if (!seen.mayDraw && !seen.hasFrames) return true;
    return this.#left ? this.#step(main, seen) : seen.shows;
  }

  /**
   * Nothing of ours runs in a page that scripts do not draw; in others it may not have started yet.
   * @returns {Promise<boolean | undefined>}
   */
  async #unconnected() {
    const tab = await this.#orEnd(getTab(this.#tabId));
    if (!/^https?:/.test(tab?.url ?? "")) return true;
    return (await this.#nextDocument(FRAMES_MS)) ? undefined : true;
  }

  /**
   * A tab that a page has just opened is blank for a moment before its navigation begins.
   * @param {Frame | undefined} main
   */
  async #isGoing(main) {
    if (goingTo(this.#tabId) !== undefined) return true;
    if (main && !isBlank(main)) return false;
    const tab = await this.#orEnd(getTab(this.#tabId));
    return Boolean(tab?.pendingUrl) && siteOf(tab?.pendingUrl) !== "";
  }

  /**
   * @param {Frame} main
   * @param {TabhubSeen} seen
   * @returns {Promise<boolean | undefined>} undefined: the page is still at work
   */
  async #step(main, { hasFrames }) {
    if (hasFrames) await this.#orEnd(lateFrames(this.#tabId, FRAMES_MS));
    const frames = hasFrames ? framesOf(this.#tabId) : [main];
    const quietMs = isRecorded(main) ? QUIET_MS : QUIET_UNRECORDED_MS;
    const body = { maxMs: Math.min(STEP_MS, this.#left), quietMs };
    const ask = (/** @type {Frame} */ frame) =>
      frame.ask("awaitContent", body, STEP_MS + LOOK_MS).catch(() => null);
    const seen = await this.#orEnd(firstDone(frames.map(ask)));
    if (!seen?.length) return void (await this.#nextDocument(ARRIVE_MS));
    if (seen.some(({ isDone }) => isDone) || !seen.some(({ mayDraw }) => mayDraw)) return true;
    const isAtWork = openRequests(this.#tabId) > 0 || seen.some(({ isQuiet }) => !isQuiet);
    return isAtWork ? undefined : seen.some(({ shows }) => shows);
  }

  /**
   * @param {number} ms
   * @returns {Promise<boolean>} whether it is there
   */
  async #nextDocument(ms) {
    /** @type {PromiseWithResolvers<boolean>} */
    const { promise, resolve } = Promise.withResolvers();
    const isMain = (/** @type {Frame} */ { tabId, frameId }) =>
      tabId === this.#tabId && frameId === 0;
    const stopHearing = onFrame((frame) => isMain(frame) && resolve(true));
    const stopWatching = watchLoads(this.#tabId, ({ step }) => step === "failed" && resolve(false));
    const timer = setTimeout(resolve, ms, false);
    const arrived = await this.#orEnd(promise);
    clearTimeout(timer);
    stopHearing();
    stopWatching();
    return Boolean(arrived);
  }

  /**
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T | null>} null: it has ended or failed
   */
  #orEnd(work) {
    return Promise.race([work.catch(() => null), this.#ended.promise]);
  }
}

/**
 * @param {Promise<TabhubAwaited | null>[]} asked
 * @returns {Promise<TabhubAwaited[]>} the first that is done, or what all of them answered
 */
async function firstDone(asked) {
  /** @type {PromiseWithResolvers<TabhubAwaited[]>} */
  const { promise, resolve } = Promise.withResolvers();
  for (const one of asked) void one.then((seen) => seen?.isDone && resolve([seen]));
  void Promise.all(asked).then((all) => resolve(all.flatMap((seen) => seen ?? [])));
  return promise;
}

/**
 * Whether all requests of the document are known.
 * @param {Frame} main
 */
function isRecorded({ tabId, since }) {
  return (recordingOf(tabId)?.hearsSince ?? Infinity) <= since;
}

register({
  name: "first looks",
  committed: (tabId) => {
    unseen.add(tabId);
    restless.delete(tabId);
    known.delete(tabId);
  },
  opened: (_, tabId) => unseen.add(tabId),
  forget: (tabId) => {
    unseen.delete(tabId);
    restless.delete(tabId);
    known.delete(tabId);
  },
});
