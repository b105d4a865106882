/** page.click and page.fill. */

import { CommandError } from "./errors.js";
import { waitUntilDrawn, withTab } from "./debugger.js";
import { openDialog, unlessDialog } from "./dialogs.js";
import { clickAt, deleteSelection, insertText, pressOf } from "./input.js";
import { comeToRest, Departure } from "./settle.js";
import { requireKnownSite } from "./sites.js";
import { aim, findTarget } from "./target.js";

/** @typedef {import("./navigation.js").Context} Context */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {Awaited<ReturnType<typeof comeToRest>>} Rest */

/** @type {Map<number, Promise<unknown>>} the last action of each tab */
const turns = new Map();

/**
 * One action at a time on a tab: each must see its own effect.
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} work
 */
export async function inTurn({ tabId, signal }, work) {
  const before = turns.get(tabId);
  const turn = (async () => {
    await before?.catch(() => {});
    signal.throwIfAborted();
    return withTab(tabId, work);
  })();
  turns.set(tabId, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(tabId) === turn) turns.delete(tabId);
  }
}

/** @param {Context} context */
export async function click(context) {
  const { tabId, input, signal } = context;
  const press = pressOf(input);
  return inTurn(context, async () => {
    const { frame, point } = await unlessDialog(tabId, signal, (live) => aimAt(context, live));
    const act = () => clickAt(tabId, point, press);
    const { rest, dialog } = await actAndRest(context, frame, act);
    if (!rest.arrived && !dialog) throw notArrived();
    return { effect: effectOf(rest, dialog), trusted: true };
  });
}

/**
 * @param {Context} context
 * @param {AbortSignal} signal
 */
async function aimAt({ tabId, input, site }, signal) {
  await waitUntilDrawn(tabId);
  const target = await findTarget(tabId, input);
  signal.throwIfAborted();
  const point = await aim(target, signal);
  requireKnownSite(tabId, site);
  return { frame: target.frame, point };
}

function notArrived() {
  const message = "The click was sent, but the page did not receive it on this element.";
  return new CommandError("page_may_have_received", message);
}

/** @param {Context} context */
export async function fill(context) {
  const { tabId, input, signal } = context;
  const { text, clear = true } = input;
  if (typeof text !== "string") throw new CommandError("invalid_arguments", "text is missing.");
  return inTurn(context, async () => {
    const { frame, how } = await unlessDialog(tabId, signal, () => findIdle(context));
    let plan = { typed: false, sensitive: false };
    /** @param {AbortSignal} live */
    const act = async (live) => {
      plan = await frame.ask("fill", { ...how, text, clear: Boolean(clear) });
      live.throwIfAborted();
      if (plan.typed) await type(tabId, text);
    };
    try {
      const { rest, dialog } = await actAndRest(context, frame, act);
      const value = dialog ? undefined : await valueAfter(frame, rest);
      const { typed: trusted, sensitive } = plan;
      return { effect: { ...effectOf(rest, dialog), value }, trusted, sensitive };
    } catch (error) {
      throw marked(error, plan.sensitive);
    }
  });
}

/**
 * Whoever keeps a record of the call must know, also of one that failed.
 * @param {unknown} error
 * @param {boolean} sensitive
 */
function marked(error, sensitive) {
  if (error instanceof CommandError && sensitive) error.data = { ...error.data, sensitive };
  return error;
}

/**
 * A page takes what it is asked in turn, and nothing can be taken back: it is not asked to
 * change anything before it has shown that it is not busy.
 * @param {Context} context
 */
async function findIdle({ tabId, input, site }) {
  const target = await findTarget(tabId, input);
  await target.frame.ask("idle", {});
  requireKnownSite(tabId, site);
  return target;
}

/**
 * @param {number} tabId
 * @param {string} text
 */
async function type(tabId, text) {
  await (text ? insertText(tabId, text) : deleteSelection(tabId));
}

/**
 * @param {Frame} frame
 * @param {Rest} rest
 */
async function valueAfter(frame, rest) {
  if (rest.navigated !== undefined) return undefined;
  return frame.ask("filled", {});
}

/**
 * Acts, and waits for rest; a dialog that opens meanwhile ends the waiting.
 * @param {Context} context
 * @param {Frame} frame
 * @param {(signal: AbortSignal) => Promise<unknown>} act
 */
async function actAndRest({ tabId, signal }, frame, act) {
  const departure = new Departure(tabId);
  let arrived = false;
  frame.onNews = () => (arrived = true);
  try {
    const rest = await unlessDialog(tabId, signal, async (live) => {
      await act(live);
      return comeToRest(frame, departure, () => arrived);
    });
    return { rest, dialog: undefined };
  } catch (error) {
    const dialog = openDialog(tabId);
    if (!dialog || !isDialog(error)) throw error;
    return { rest: interruptedRest(arrived), dialog };
  } finally {
    departure.stop();
  }
}

/** @param {unknown} error */
function isDialog(error) {
  return error instanceof CommandError && error.reason === "dialog_open";
}

/**
 * @param {boolean} arrived
 * @returns {Rest}
 */
function interruptedRest(arrived) {
  return { arrived, mutated: false, navigating: false };
}

/**
 * @param {Rest} rest
 * @param {import("./dialogs.js").Dialog | undefined} dialog
 */
function effectOf({ navigated, mutated }, dialog) {
  return { navigated, mutated, dialog };
}
