/** page.click and page.hover. */

import { actAndRest, effectOf, findNamed, inTurnWithTab, requireArrival } from "./act.js";
import { clickAt, hoverAt, pressOf } from "./input.js";

/** @typedef {import("./navigation.js").Context} Context */
/** @typedef {import("./input.js").Point} Point */

/** @param {Context} context */
export async function click(context) {
  return inTurnWithTab(context, () => clickNow(context));
}

/**
 * For whoever has the turn already.
 * @param {Context} context
 */
export async function clickNow(context) {
  const press = pressOf(context.input);
  /** @type {Point | undefined} */
  let point;
  const act = (/** @type {Point} */ at) => clickAt(context.tabId, (point = at), press);
  const outcome = await atPlace(context, {}, act);
  requireArrival(outcome, "click");
  return { effect: effectOf(outcome), trusted: true, point };
}

/**
 * Also over what is disabled: it may tell why.
 * @param {Context} context
 */
export async function hover(context) {
  const options = { mayBeDisabled: true, by: "hover" };
  return inTurnWithTab(context, async () => {
    const outcome = await atPlace(context, options, (point) => hoverAt(context.tabId, point));
    requireArrival(outcome, "movement of the mouse");
    return { effect: effectOf(outcome), trusted: true };
  });
}

/**
 * @param {Context} context
 * @param {object} options
 * @param {(point: Point) => Promise<void>} act
 */
async function atPlace(context, options, act) {
  const place = await findNamed(context);
  const prepare = (/** @type {AbortSignal} */ live) => place.aim(live, options);
  return actAndRest(context, place.frame, prepare, act);
}
