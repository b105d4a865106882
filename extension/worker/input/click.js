/** page.click and page.hover. */

import { CommandError } from "../shared/command-errors.js";
import { actAndRest, atGuess, effectOf, findNamed, inTurnWithHand, requireArrival } from "./act.js";
import { trustOf } from "./hand.js";
import { NotHere } from "./targets.js";
import { pressOf } from "./trusted-input.js";

/** @type {Set<import("../shared/command-errors.js").Reason>} why an element cannot be pressed again */
const GONE = new Set(["not_visible", "covered_by", "detached", "element_not_found", "stale_ref"]);

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("./act.js").Outcome} Outcome */
/** @typedef {import("./hand.js").Aimed} Aimed */
/** @typedef {import("./targets.js").Place} Place */
/** @typedef {import("../frames/frames.js").Frame} Frame */

/** @param {Context<Wire.Click>} context */
export async function click(context) {
  return inTurnWithHand(context, clickNow);
}

/**
 * For a caller that has the turn already.
 * @param {Handed<Wire.Click>} context
 */
export async function clickNow(context) {
  const { hand, input } = context;
  const press = pressOf(input);
  /** @type {import("./trusted-input.js").Point | undefined} */
  let point;
  const pressAt = (/** @type {Place} */ place) =>
    atPlace(context, place, { press: press.number }, (frame, at) => {
      point = { x: at.x, y: at.y };
      return hand.click(frame, at, press);
    });
  const outcome = await atGuess(
    (seek) => findNamed(context, seek),
    (place) => againIfRefused(() => pressAt(place)),
  );
  requireArrival(outcome, "click");
  return { effect: effectOf(outcome), ...trustOf(hand), point };
}

/** @param {unknown} error */
function isGone(error) {
  return error instanceof NotHere || (error instanceof CommandError && GONE.has(error.reason));
}

/**
 * Where the mouse makes the page change, the first press may hit something else and be refused; the
 * mouse is there by then, so the second one need not. It is aimed at the same frame.
 * @param {() => Promise<Outcome>} act
 */
async function againIfRefused(act) {
  const outcome = await act();
  if (outcome.refusedBy === undefined || outcome.isChanged) return outcome;
  return act().catch((error) => {
    if (isGone(error)) return outcome;
    throw error;
  });
}

/**
 * Also over a disabled element: it may show why it is disabled.
 * @param {Context<Wire.Hover>} context
 */
export async function hover(context) {
  const options = { mayBeDisabled: true, by: "hover" };
  return inTurnWithHand(context, async (handed) => {
    const outcome = await atGuess(
      (seek) => findNamed(handed, seek),
      (place) => atPlace(handed, place, options, handed.hand.hover),
    );
    requireArrival(outcome, "movement of the mouse");
    return { effect: effectOf(outcome), ...trustOf(handed.hand) };
  });
}

/**
 * @param {Handed<Wire.Hover>} context
 * @param {Place} place
 * @param {{press?: number, mayBeDisabled?: boolean, by?: string}} options
 * @param {(frame: Frame, at: Aimed) => Promise<void>} act
 */
async function atPlace(context, place, options, act) {
  const prepare = (/** @type {AbortSignal} */ live) => context.hand.aim(place, live, options);
  const isPress = options.press !== undefined;
  return actAndRest(context, place.frame, prepare, (at) => act(place.frame, at), isPress);
}
