/** How every action goes: one at a time, aimed, done with someone looking on, and told. */

import { CommandError } from "../shared/command-errors.js";
import { withTab } from "../debugger/debugger.js";
import { onChange, openDialog, unlessDialog } from "../debugger/page-dialogs.js";
import { withHand } from "./hand.js";
import { waitUntilDrawn } from "../onlooker.js";
import { settleOf, Watch } from "../settle.js";
import { requireKnownSite } from "../sites.js";
import { findPlace } from "../spots.js";
import { findTarget } from "./targets.js";
import { Turns } from "../turns.js";

/** @import { Context } from "../tabs/navigation.js" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../frame.js").Frame} Frame */
/** @typedef {import("../debugger/page-dialogs.js").Dialog} Dialog */
/** @typedef {Awaited<ReturnType<Watch["rest"]>>} Rested */
/** @typedef {Partial<Rested> & {mutated: boolean, dialog?: Dialog}} Outcome */

const turns = new Turns();
/** @type {Map<number, Watch>} of actions that wait behind a dialog of their own */
const interrupted = new Map();

/**
 * One action at a time on a tab: each must see its own effect.
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} work
 */
export function inTurn({ tabId, signal }, work) {
  return turns.take(tabId, signal, work);
}

/**
 * The same with the debugger on the tab.
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} work
 */
export function inTurnWithTab(context, work) {
  return inTurn(context, () => withTab(context.tabId, work));
}

/**
 * The same with a hand to act with, where that need not be the debugger's.
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
 * @returns {Promise<import("../spots.js").Place>}
 */
export async function findNamed(context) {
  const { tabId, input, signal } = context;
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    return findPlace(context, input);
  });
}

/**
 * A page takes what it is asked in turn, and nothing can be taken back: it is not asked to
 * change anything before it has shown that it is not busy.
 * @param {Frame} frame
 */
export function untilIdle(frame) {
  return frame.ask("idle", {});
}

/**
 * What opens a dialog while an action is prepared keeps it from being done.
 * @template T
 * @param {Context<{settle?: number}> & Partial<Handed>} context without a hand: the debugger is on
 *   the tab
 * @param {Frame} frame
 * @param {(signal: AbortSignal) => Promise<T>} prepare
 * @param {(prepared: T, signal: AbortSignal) => Promise<unknown>} act
 */
export async function actAndRest(context, frame, prepare, act) {
  const { tabId, input, site, signal } = context;
  const watch = new Watch(frame, settleOf(input), context.hand?.trusted);
  const preparing = unlessDialog(tabId, signal, async (live) => {
    // Neither waits for the other: a page that is only looked at opens no chooser.
    const [, ready] = await Promise.all([watch.start(), prepare(live)]);
    live.throwIfAborted();
    requireKnownSite(tabId, site);
    return ready;
  });
  preparing.catch(() => watch.stop());
  const prepared = await preparing;
  return restAfter(context, watch, (live) => act(prepared, live));
}

/**
 * Acts, and waits for rest; a dialog that opens meanwhile ends the waiting. What follows from its
 * answer still belongs to this action, so the watch goes on.
 * @param {Context} context
 * @param {Watch} watch
 * @param {(signal: AbortSignal) => Promise<unknown>} act
 * @returns {Promise<Outcome>}
 */
export async function restAfter({ tabId, signal }, watch, act) {
  let dialog;
  try {
    return await unlessDialog(tabId, signal, async (live) => {
      await act(live);
      live.throwIfAborted();
      return watch.rest();
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
 * The watch of the action that a dialog has interrupted; whoever takes it has to end it.
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
export function requireArrival({ arrived, dialog }, what) {
  if (arrived || dialog) return;
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
 * Whoever keeps a record of the call must know, also of one that failed.
 * @param {unknown} error
 * @param {boolean} sensitive
 */
export function marked(error, sensitive) {
  if (error instanceof CommandError && sensitive) error.data = { ...error.data, sensitive };
  return error;
}
