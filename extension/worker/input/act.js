/**
 * How every action runs: one at a time in a tab, aimed, observed until its effects settle, and
 * reported.
 */

import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { withTab } from "../debugger/debugger.js";
import { catchChoosers, leaveChoosers } from "../debugger/file-choosers.js";
import { Requests } from "../debugger/network-events.js";
import { onChange, openDialog, unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting } from "../frames/frames.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { bringBack } from "../shared/front-tab.js";
import { describe, getTab, requireKnownSite } from "../shared/known-tabs.js";
import {
  CLOSED,
  Outcomes,
  TabListeners,
  goingTo,
  onHeldUp,
  openerOf,
  watchLoads,
} from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { Observations, Turns, within } from "../shared/timing.js";
import { withHand } from "./hand.js";
import { ChangeWatch, NONE } from "./observed-changes.js";
import { NotHere, findPlace, findTarget, guessTarget, toCompare } from "./targets.js";
import { withFound } from "./found-target.js";

// Observing what an action does, by events, until its effects have settled.

const ABORTED = "net::ERR_ABORTED";
const START_MS = 3000;
const DOM_MS = 5000;
const CLOSING_MS = 1000;
/** A navigation that becomes a download is aborted first. */
const DOWNLOAD_MS = 1000;
const SETTLE_MS = 8000;
const REQUESTS_MS = 1000;
const MOST_REQUESTS_MS = 10_000;
/** What a page says comes by another way than that it shows a dialog. */
const NEWS_MS = 100;
/** Frames in other processes report later that they have refused a press. */
const REFUSED_MS = 300;

/** @type {TabListeners<[frame: Frame, refusal: Refusal]>} frames that have refused our press */
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
  said: (frame, { type, by, isChanged }) =>
    type === "refused" &&
    refusals.call(frame.tabId, frame, { refusedBy: String(by), isChanged: isChanged === true }),
});

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {Pick<Outcome, "refusedBy" | "isChanged">} Refusal */
/** @typedef {import("./editor-text.js").Answer} FieldState */
/** @typedef {{changes: Promise<Lines | undefined>, held?: Promise<FieldState>}} Early */
/** @typedef {import("./observed-changes.js").Lines} Lines */
/**
 * `saysValue`: the result says what the field holds; `askHeld`: asks for that, as often as needed;
 * `isAtOnce`: it acts before file choosers are caught, unless the page could open one
 * @typedef {Context<{settle?: number, observe?: number}>
 *   & {saysValue?: boolean, askHeld?: () => Promise<FieldState>, isAtOnce?: boolean}} Observed
 */

/**
 * What the page reports: what has happened, and what it expects to happen.
 * @typedef {object} Rest
 * @property {boolean} arrived
 * @property {boolean} mutated
 * @property {boolean} navigating
 * @property {boolean} [opening]
 * @property {boolean} [downloading]
 * @property {string} [outside] the scheme of a link that another program opens
 * @property {Lines | null} [changes] what has changed, if it was to say it at once
 * @property {FieldState} [held] what the field holds, likewise
 */

/** Follows navigations of a tab, starting before the action. */
export class NavigationWatch {
  /** @type {Observations<import("../shared/tab-events.js").Step | "held" | "closed">} */
  #seen = new Observations();
  #tabId;
  #wasGoing;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    this.#wasGoing = goingTo(tabId);
    const unwatch = watchLoads(tabId, ({ step, error }) => {
      this.#seen.note(step, error);
      // A page that closes its tab while it loads has failed before.
      if (error === CLOSED) this.#seen.note("closed");
    });
    const held = () => this.#seen.note("held", true);
    const stops = [unwatch, onHeldUp(tabId, held)];
    this.stop = () => stops.forEach((stop) => stop());
  }

  get wasAborted() {
    return this.#seen.get("failed") === ABORTED;
  }

  /** @returns {string | undefined} why the page that it led to could not be loaded */
  get failure() {
    const error = /** @type {string | undefined} */ (this.#seen.get("failed"));
    return error === ABORTED || error === CLOSED ? undefined : error;
  }

  /** Whether the tab has closed. */
  get wasClosed() {
    return this.#seen.has("closed");
  }

  /** @param {number} ms */
  closing(ms) {
    return this.#seen.until(ms, "closed");
  }

  /** Whether it has, or will have in a moment: what is asked of it fails before it is reported. */
  async isClosing() {
    const isThere = await chrome.tabs.get(this.#tabId).then(
      () => true,
      () => false,
    );
    if (!isThere) await this.#seen.until(CLOSING_MS, "closed");
    return this.wasClosed;
  }

  get hasBegun() {
    return this.#seen.has("started", "committed");
  }

  /** Whether the tab shows another document. */
  get hasLeft() {
    return this.#seen.has("committed");
  }

  /**
   * Whether the tab is on its way to another page. The browser may know of it before it reports it,
   * and the page may keep it from us.
   */
  async isUnderWay() {
    const to = goingTo(this.#tabId) ?? (await pendingUrl(this.#tabId));
    return to !== undefined && to !== this.#wasGoing;
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

/**
 * @param {number} tabId
 * @returns {Promise<string | undefined>}
 */
async function pendingUrl(tabId) {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  return tab?.pendingUrl;
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
  #changes;
  #askHeld;
  #opener;
  hasArrived = false;
  /** @type {PromiseWithResolvers<null>} */
  #news = Promise.withResolvers();
  /** Settles when file choosers are caught. */
  catching = Promise.resolve();

  /**
   * @param {Frame} frame
   * @param {Observed} context
   * @param {boolean} isDebugged without the debugger, choosers and requests are not seen
   */
  constructor(frame, context, isDebugged = true) {
    this.#frame = frame;
    this.#askHeld = context.askHeld;
    this.#ms = settleOf(context.input);
    this.#changes = new ChangeWatch(context);
    this.#isDebugged = isDebugged;
    this.#navigation = new NavigationWatch(frame.tabId);
    this.#outcomes = new Outcomes(frame.tabId);
    this.#opener = openerOf(frame.tabId);
    this.#requests = new Requests(frame.tabId);
    frame.onNews = () => {
      this.hasArrived = true;
      this.#news.resolve(null);
    };
    this.#stopListening = refusals.add(frame.tabId, (other, refusal) =>
      this.#refused.note("refused", other === frame ? refusal : { refusedBy: "another frame" }),
    );
  }

  /** @returns {Promise<boolean>} whether the page has begun, which it may have said just now */
  async hasBegun() {
    await within(NEWS_MS, this.#news.promise).catch(() => {});
    return this.hasArrived;
  }

  /** Settles when the requests of the page are watched. */
  async start() {
    this.#changes.start(this.#frame);
    if (!this.#isDebugged) return;
    const { tabId, frameId } = this.#frame;
    this.#isCatching = true;
    this.catching = catchChoosers(tabId, frameId !== 0);
    this.catching.catch(() => {});
    if (this.#ms) await this.#requests.start(frameId !== 0);
  }

  stop() {
    this.#stopListening();
    this.#navigation.stop();
    this.#outcomes.stop();
    this.#requests.stop();
    this.#changes.stop();
    if (this.#isCatching) leaveChoosers(this.#frame.tabId);
  }

  /** What is known at this moment, without waiting. */
  get found() {
    return this.#outcomes.found;
  }

  /**
   * @param {Promise<Rest>} [asked] what was asked by `settle` with the action
   * @returns {Promise<Outcome>}
   */
  async rest(asked) {
    const { rest, early } = await this.#untilQuiet(asked);
    // An action for which it has to succeed has waited for it.
    await this.catching.catch(() => {});
    const isQuiet = !rest.navigating && !rest.mutated;
    const isLeaving = isQuiet ? await this.#navigation.isUnderWay() : rest.navigating;
    const seen = !isLeaving && this.#staysAsItIs(rest) ? early : undefined;
    void this.#frame.ask("unwatch", { isOver: seen !== undefined }).catch(() => {});
    await this.#navigation.rest(isLeaving);
    if (this.#navigation.wasClosed) return this.#closed();
    if (rest.opening) await this.#outcomes.until(START_MS, "opened");
    const { opened } = this.found;
    if (opened !== undefined) await bringBack(opened, this.#frame.tabId);
    if (rest.downloading) await this.#outcomes.until(START_MS, "download");
    if (this.#navigation.wasAborted) await this.#downloadOrClosing();
    if (this.#navigation.wasClosed) return this.#closed();
    const { failure: unloaded } = this.#navigation;
    const gone = { mutated: true, changes: undefined, held: undefined };
    if (unloaded) return { ...rest, ...this.found, ...gone, unloaded };
    const navigated = await this.#navigation.destination();
    const changes = this.#navigation.hasLeft ? undefined : await this.#whatChanged(seen);
    const mutated = rest.mutated || navigated !== undefined;
    const leaving = navigated === undefined && (await this.#isLeaving(isLeaving));
    const effect = { mutated, navigated, changes, ...(leaving && { leaving }) };
    return { ...rest, ...this.found, ...effect, held: seen?.held };
  }

  /** A navigation is also aborted by a page that closes its tab, a moment before that. */
  async #downloadOrClosing() {
    const begun = this.#outcomes.until(DOWNLOAD_MS, "download");
    await Promise.race([begun, this.#navigation.closing(DOWNLOAD_MS)]);
  }

  /**
   * Whether nothing is to come after which the page may look different.
   * @param {Rest} rest
   */
  #staysAsItIs({ navigating, opening, downloading }) {
    const { hasBegun, wasAborted, wasClosed } = this.#navigation;
    const isGoing = navigating || hasBegun || wasAborted || wasClosed;
    return !isGoing && !opening && !downloading && this.found.opened === undefined;
  }

  /**
   * Whether the next page has not come within our time.
   * @param {boolean} expected
   */
  async #isLeaving(expected) {
    const { hasBegun, wasAborted } = this.#navigation;
    return (expected || hasBegun) && !wasAborted && (await this.#navigation.isUnderWay());
  }

  /**
   * The outcome of an action after which the tab is gone, such as the last click in a popup.
   * @returns {Outcome}
   */
  #closed() {
    const { opened, download } = this.found;
    const opener = this.#opener === undefined ? {} : { opener: this.#opener };
    return { arrived: true, mutated: true, closed: true, ...opener, opened, download };
  }

  /** @returns {Promise<Outcome | undefined>} of an action whose tab has closed meanwhile */
  async ifClosed() {
    return (await this.#navigation.isClosing()) ? this.#closed() : undefined;
  }

  /** @param {Early} [seen] */
  async #whatChanged(seen) {
    const changes = await (seen?.changes ?? this.#changes.result());
    const pending = this.#requests.size;
    return changes && { ...changes, ...(pending > 0 && { pending }) };
  }

  /**
   * What the page shows now, as far as it has not said so; it can be asked again.
   * @param {Rest} rest
   * @returns {Early}
   */
  #look({ changes, held }) {
    const said = held ? Promise.resolve(held) : this.#askHeld?.();
    said?.catch(() => {});
    const isSaid = changes !== undefined;
    return {
      changes: isSaid ? Promise.resolve(changes ?? NONE) : this.#changes.result(true),
      held: said,
    };
  }

  /** @returns {Promise<Refusal | undefined>} why a press has not arrived */
  async refusal() {
    await this.#refused.until(REFUSED_MS, "refused");
    return this.#refused.get("refused");
  }

  /**
   * The page may react to the responses, and send further requests. Most actions start none, so it
   * is asked what they have changed before that is known.
   * @param {Promise<Rest>} [asked]
   * @returns {Promise<{rest: Rest, early?: Early}>}
   */
  async #untilQuiet(asked) {
    const end = Date.now() + this.#ms;
    for (let next = asked; ; next = undefined) {
      const rest = await (next?.catch((error) => this.#settleAgain(error)) ?? this.settle());
      const left = end - Date.now();
      if (rest.navigating || this.#navigation.hasBegun || left <= 0) return { rest };
      const early = this.#staysAsItIs(rest) ? this.#look(rest) : undefined;
      if (!(await this.#requests.rest(left))) return { rest, early };
    }
  }

  /**
   * A page that carries out the action for long gets the question too late, and ignores it.
   * @param {unknown} error
   */
  #settleAgain(error) {
    if (error instanceof CommandError && error.reason === "timeout") return this.settle();
    throw error;
  }

  /**
   * Asks the page to answer once it has settled.
   * @returns {Promise<Rest>}
   */
  async settle() {
    try {
      const body = { changes: this.#changes.atOnce, isFilled: this.#askHeld !== undefined };
      return await askMinting(this.#frame, "settle", body, SETTLE_MS);
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
function settleOf({ settle = REQUESTS_MS }) {
  if (Number.isFinite(settle) && settle >= 0 && settle <= MOST_REQUESTS_MS) return settle;
  const message = `settle is a number of milliseconds, 0 to ${MOST_REQUESTS_MS}.`;
  throw new CommandError("invalid_arguments", message);
}

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../debugger/page-dialogs.js").Dialog} Dialog */
/** @typedef {{asked: Promise<Rest>}} Settling the page was asked to settle with the action */
/**
 * `refusedBy`: what a press would have hit, and did not; `isChanged`: that was meant, but is not
 * what the person said yes to any more; `closed`: the tab has closed; `leaving`: the
 * tab goes to another page, which is not there yet; `outside`: the scheme of a link that another
 * program opens; `unloaded`: why the page it led to could not be loaded; `held`: what the page says of the field, if it
 * was asked
 * @typedef {object} Outcome
 * @property {boolean} mutated
 * @property {boolean} [arrived]
 * @property {Dialog} [dialog]
 * @property {string} [refusedBy]
 * @property {boolean} [isChanged]
 * @property {string} [navigated]
 * @property {number} [opened]
 * @property {Wire.BegunDownload} [download]
 * @property {Dialog} [chooser]
 * @property {Dialog} [login]
 * @property {Wire.Changes} [changes]
 * @property {boolean} [closed]
 * @property {number} [opener]
 * @property {boolean} [leaving]
 * @property {string} [outside]
 * @property {string} [unloaded]
 * @property {Promise<FieldState>} [held]
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
 * @template {{effect: Wire.Effect}} T
 * @template I
 * @param {Context<I>} context
 * @param {(context: Handed<I>) => Promise<T>} work
 * @param {string} [kind] what must take the action, if words name it
 */
export function inTurnWithHand(context, work, kind = "") {
  return inTurn(context, () => withHand(context, (handed) => withFound(handed, kind, work)));
}

/**
 * @param {Context<Wire.Named & {confirmed?: Wire.ConfirmedTarget}>} context
 * @param {typeof findTarget} [seek]
 * @returns {ReturnType<typeof findTarget>}
 */
export async function find({ tabId, input, reach, signal }, seek = findTarget) {
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    const target = await seek(tabId, input, reach);
    return { ...target, how: { ...target.how, ...toCompare(input) } };
  });
}

/**
 * What a command names: an element, or a point.
 * @param {Context<Wire.Place>} context
 * @param {typeof findTarget} [seek]
 * @returns {Promise<import("./targets.js").Place>}
 */
export async function findNamed(context, seek) {
  const { tabId, input, signal } = context;
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    return findPlace(context, input, seek);
  });
}

/**
 * Acts on the element where it probably is; if it is not there, where it is found.
 * @template P, T
 * @param {(seek: typeof findTarget) => Promise<P>} seeking
 * @param {(place: P) => Promise<T>} work does nothing if the place is a wrong guess
 */
export async function atGuess(seeking, work) {
  const guess = await seeking(guessTarget);
  return work(guess).catch(async (error) => {
    if (!(error instanceof NotHere)) throw error;
    return work(await seeking(findTarget));
  });
}

/**
 * A page handles requests in order, and none can be withdrawn: it is not asked to change anything
 * before it has shown, by this or another answer, that it is not busy, unless the order says until
 * when it may be carried out.
 * @param {Frame} frame
 */
export function untilIdle(frame) {
  return frame.ask("idle", {});
}

/**
 * A dialog that opens while an action is prepared prevents the action.
 * @template T
 * @param {Observed & Partial<Handed>} context without a hand: the debugger is attached
 * @param {Frame} frame
 * @param {(signal: AbortSignal) => Promise<T>} prepare
 * @param {(prepared: T, signal: AbortSignal, watch: Watch) => Promise<Settling | void>} act
 * @param {boolean} [isPress]
 */
export async function actAndRest(context, frame, prepare, act, isPress) {
  const { tabId, site, signal } = context;
  const watch = new Watch(frame, context, context.hand?.trusted);
  const preparing = unlessDialog(tabId, signal, async (live) => {
    // Neither waits for the other: preparing opens no chooser.
    const started = watch.start();
    const caught = context.isAtOnce ? undefined : watch.catching;
    const [ready] = await Promise.all([prepare(live), started, caught]);
    live.throwIfAborted();
    requireKnownSite(tabId, site);
    return ready;
  });
  preparing.catch(() => watch.stop());
  const prepared = await preparing;
  acted.set(context.tabId, frame);
  return restAfter(context, watch, (live) => act(prepared, live, watch), isPress);
}

/**
 * Acts, and waits until the page has settled; a dialog that opens meanwhile ends the wait. The
 * effects of its answer still belong to this action, so the watch goes on.
 * @param {Context} context
 * @param {Watch} watch
 * @param {(signal: AbortSignal) => Promise<Settling | void>} act
 * @param {boolean} [isPress]
 * @returns {Promise<Outcome>}
 */
export async function restAfter({ tabId, signal }, watch, act, isPress = false) {
  let dialog;
  try {
    return await unlessDialog(tabId, signal, async (live) => {
      const settling = await act(live);
      live.throwIfAborted();
      const rest = await watch.rest(settling?.asked);
      const isLost = isPress && !rest.arrived;
      return isLost ? { ...rest, ...(await watch.refusal()) } : rest;
    });
  } catch (error) {
    dialog = isDialog(error) ? openDialog(tabId) : undefined;
    const closed = dialog || signal.aborted ? undefined : await watch.ifClosed();
    if (closed) return closed;
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
export function requireArrival({ arrived, dialog, refusedBy, isChanged }, what) {
  if (arrived || dialog) return;
  if (isChanged) {
    const message = `Nothing was done: when the ${what} came, the element was not what the person was asked about any more. Read the page again.`;
    throw new CommandError("target_changed", message);
  }
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
export function effectOf(outcome) {
  const { navigated, mutated, opened, download, changes, closed, opener, leaving } = outcome;
  const { outside, unloaded } = outcome;
  const dialog = outcome.dialog ?? outcome.chooser ?? outcome.login;
  const after = { closed, opener, leaving, outside, unloaded };
  return { navigated, mutated, dialog, opened, download, changes, ...after };
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
