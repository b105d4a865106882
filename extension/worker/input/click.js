/** page.click and page.hover. */

import { actAndRest, effectOf, findNamed, inTurnWithHand, requireArrival } from "./act.js";
import { trustOf } from "./hand.js";
import { pressOf } from "./trusted-input.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("./hand.js").Aimed} Aimed */
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
  const outcome = await atPlace(context, {}, (frame, at) => {
    point = { x: at.x, y: at.y };
    return hand.click(frame, at, press);
  });
  requireArrival(outcome, "click");
  return { effect: effectOf(outcome), ...trustOf(hand), point };
}

/**
 * Also over a disabled element: it may show why it is disabled.
 * @param {Context<Wire.Hover>} context
 */
export async function hover(context) {
  const options = { mayBeDisabled: true, by: "hover" };
  return inTurnWithHand(context, async (handed) => {
    const outcome = await atPlace(handed, options, handed.hand.hover);
    requireArrival(outcome, "movement of the mouse");
    return { effect: effectOf(outcome), ...trustOf(handed.hand) };
  });
}

/**
 * @param {Handed<Wire.Hover>} context
 * @param {object} options
 * @param {(frame: Frame, at: Aimed) => Promise<void>} act
 */
async function atPlace(context, options, act) {
  const place = await findNamed(context);
  const prepare = (/** @type {AbortSignal} */ live) => context.hand.aim(place, live, options);
  return actAndRest(context, place.frame, prepare, (at) => act(place.frame, at));
}
