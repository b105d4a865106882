/** page.press and page.type: keys, to one element or to whatever has the focus. */

import {
  actAndRest,
  effectOf,
  find,
  inTurnWithHand,
  marked,
  requireArrival,
  untilIdle,
} from "./act.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { focusedDocument } from "../feigned.js";
import { framesOf, mainFrame } from "../frames/frames.js";
import { toldOf } from "./hand.js";
import { strokesOf } from "./key-strokes.js";
import { modifierBits } from "../modifiers.js";
import { waitUntilDrawn } from "../onlooker.js";
import { requireKnownSite, requireStay } from "../sites.js";
import { piecesOf } from "../typing.js";

/** @import { Context } from "../tabs/navigation.js" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../frame.js").Frame} Frame */
/** @typedef {{value?: string, focused?: string, sensitive?: boolean}} Told */
/** @typedef {import("../typing.js").Piece} Piece */
/** @typedef {{sensitive: boolean, isText?: boolean}} Ready what has the focus */

/** @param {Context<Wire.Press>} context */
export async function press(context) {
  const { input } = context;
  const strokes = strokesOf(input.key, modifierBits(input.modifiers), input.repeat);
  return inTurnWithHand(context, async (handed) => {
    const { frame, how } = await findFocus(handed);
    return sendKeys(
      handed,
      frame,
      () => frame.ask("focus", how),
      () => strokes,
    );
  });
}

/**
 * Into whatever has the focus, as if at the keyboard.
 * @param {Context<Wire.Type>} context
 */
export async function type(context) {
  const { text } = context.input;
  if (typeof text !== "string" || !text) {
    throw new CommandError("invalid_arguments", "text is missing.");
  }
  return inTurnWithHand(context, async (handed) => {
    const { frame } = await findFocus({ ...handed, input: {} });
    const focus = () => frame.ask("typing", {});
    return sendKeys(handed, frame, focus, ({ isText }) => piecesOf(text, Boolean(isText)));
  });
}

/**
 * @param {Handed<{settle?: number}>} context
 * @param {Frame} frame
 * @param {() => Promise<Ready>} focus
 * @param {(ready: Ready) => Piece[]} piecesFor
 */
async function sendKeys(context, frame, focus, piecesFor) {
  const { tabId, site, hand } = context;
  let sensitive = false;
  /** @type {(_: unknown, live: AbortSignal) => Promise<void>} */
  const act = async (_, live) => {
    const ready = await focus();
    ({ sensitive } = ready);
    const pieces = piecesFor(ready);
    requireKnownSite(tabId, site);
    for (const piece of pieces) {
      // A script's keys stay in their frame.
      if (hand.trusted) await requireFocus(context);
      live.throwIfAborted();
      requireStay(tabId, site);
      await (typeof piece === "string" ? hand.write(frame, piece) : hand.strike(frame, piece));
    }
  };
  try {
    const outcome = await actAndRest(context, frame, () => untilIdle(frame), act);
    requireArrival(outcome, "key");
    const told = await toldBy(frame, outcome);
    const effect = { ...effectOf(outcome), value: told.value, focused: told.focused };
    return { effect, ...toldOf(hand), sensitive: sensitive || Boolean(told.sensitive) };
  } catch (error) {
    throw marked(error, sensitive);
  }
}

/** @param {Handed<Wire.Named>} context */
async function findFocus(context) {
  const { tabId, input, signal, hand } = context;
  if (input.ref !== undefined || input.selector !== undefined) return find(context);
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    const frame = await (hand.trusted ? focusedFrame(tabId) : focusedDocument(tabId));
    context.reach.require(frame);
    return { frame, how: {} };
  });
}

/**
 * @param {number} tabId
 * @returns {Promise<Frame>}
 */
async function focusedFrame(tabId) {
  const main = await mainFrame(tabId);
  if (await main.ask("focused", {})) return main;
  const others = framesOf(tabId).filter((frame) => frame !== main);
  const found = others.map((frame) => frame.ask("focused", {}).catch(() => false));
  return others[(await Promise.all(found)).indexOf(true)] ?? main;
}

/**
 * A key may move the focus; the next must not go where the caller may not.
 * @param {Context} context
 */
async function requireFocus({ tabId, site, reach }) {
  if (reach.isEverywhere || (await isFocused(tabId, reach))) return;
  // Frames may have come since, or another page.
  await mainFrame(tabId);
  await reach.explore(framesOf(tabId), site);
  if (await isFocused(tabId, reach)) return;
  const message = "The focus is in a frame where this tool is not allowed: no more keys were sent.";
  throw new CommandError("navigated_away", message);
}

/**
 * Whether a frame that may be entered has the focus.
 * @param {number} tabId
 * @param {import("../reach.js").Reach} reach
 */
async function isFocused(tabId, reach) {
  const frames = framesOf(tabId).filter((frame) => reach.allows(frame));
  const asked = frames.map(async (frame) => {
    if (!(await frame.ask("focused", {}))) throw new Error("another frame");
  });
  return Promise.any(asked).then(
    () => true,
    () => false,
  );
}

/**
 * @param {Frame} frame
 * @param {import("./act.js").Outcome} outcome
 * @returns {Promise<Told>}
 */
async function toldBy(frame, { dialog, navigated }) {
  if (dialog || navigated !== undefined) return {};
  return frame.ask("pressed", {}).catch(() => ({}));
}
