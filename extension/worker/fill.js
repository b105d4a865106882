/** page.fill and page.select: what a field holds. */

import { actAndRest, effectOf, find, inTurnWithTab, marked, untilIdle } from "./act.js";
import { CommandError } from "./errors.js";
import { deleteSelection, insertText } from "./input.js";
import { requireKnownSite } from "./sites.js";

/** @typedef {import("./navigation.js").Context} Context */
/** @typedef {import("./frame.js").Frame} Frame */

/** @param {Context} context */
export async function fill(context) {
  const { text } = context.input;
  if (typeof text !== "string") throw new CommandError("invalid_arguments", "text is missing.");
  return inTurnWithTab(context, () => fillNow(context, text));
}

/**
 * For whoever has the turn already.
 * @param {Context} context
 * @param {string} text
 */
export async function fillNow(context, text) {
  const { clear = true } = context.input;
  return put(context, "fill", { text, clear: Boolean(clear) }, () => type(context.tabId, text));
}

/** @param {Context} context */
export async function select(context) {
  const { value, label } = context.input;
  if ((value === undefined) === (label === undefined)) {
    throw new CommandError("invalid_arguments", "Give either value or label.");
  }
  const wanted = [value ?? label].flat().map(String);
  const body = { by: label === undefined ? "value" : "label", wanted };
  return inTurnWithTab(context, () => put(context, "select", body));
}

/**
 * @param {Context} context
 * @param {string} question what the page is asked to do, and answers whether it is to be typed
 * @param {object} body
 * @param {() => Promise<void>} [type]
 */
async function put(context, question, body, type) {
  const { frame, how } = await find(context);
  let plan = { typed: false, sensitive: false };
  /** @type {(_: unknown, live: AbortSignal) => Promise<void>} */
  const act = async (_, live) => {
    plan = await frame.ask(question, { ...how, ...body });
    live.throwIfAborted();
    requireKnownSite(context.tabId, context.site);
    if (plan.typed) await type?.();
  };
  try {
    const outcome = await actAndRest(context, frame, () => untilIdle(frame), act);
    const value = await valueAfter(frame, outcome);
    const { typed: trusted, sensitive } = plan;
    return { effect: { ...effectOf(outcome), value }, trusted, sensitive };
  } catch (error) {
    throw marked(error, plan.sensitive);
  }
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
 * @param {import("./act.js").Outcome} outcome
 */
async function valueAfter(frame, { dialog, navigated }) {
  if (dialog || navigated !== undefined) return undefined;
  return frame.ask("filled", {});
}
