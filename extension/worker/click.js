/** page.click and page.hover. */

import { actAndRest, effectOf, find, inTurnWithTab, requireArrival } from "./act.js";
import { clickAt, hoverAt, pressOf } from "./input.js";
import { aim } from "./target.js";

/** @typedef {import("./navigation.js").Context} Context */
/** @typedef {import("./input.js").Point} Point */

/** @param {Context} context */
export async function click(context) {
  const press = pressOf(context.input);
  /** @type {Point | undefined} */
  let point;
  const act = (/** @type {Point} */ at) => clickAt(context.tabId, (point = at), press);
  const outcome = await atElement(context, {}, act);
  requireArrival(outcome, "click");
  return { effect: effectOf(outcome), trusted: true, point };
}

/**
 * Also over what is disabled: it may tell why.
 * @param {Context} context
 */
export async function hover(context) {
  const options = { mayBeDisabled: true, by: "hover" };
  const outcome = await atElement(context, options, (point) => hoverAt(context.tabId, point));
  requireArrival(outcome, "movement of the mouse");
  return { effect: effectOf(outcome), trusted: true };
}

/**
 * @param {Context} context
 * @param {object} options
 * @param {(point: Point) => Promise<void>} act
 */
async function atElement(context, options, act) {
  return inTurnWithTab(context, async () => {
    const target = await find(context);
    const prepare = (/** @type {AbortSignal} */ live) => aim(target, live, options);
    return actAndRest(context, target.frame, prepare, act);
  });
}
