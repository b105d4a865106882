/** page.fill and page.select: what a field holds. */

import { actAndRest, effectOf, find, inTurnWithHand, marked, untilIdle } from "./act.js";
import { CommandError } from "../shared/command-errors.js";
import { toldOf } from "./hand.js";
import { requireKnownSite } from "../sites.js";

/** @import { Context } from "../tabs/navigation.js" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../frame.js").Frame} Frame */

/** @param {Context<Wire.Fill>} context */
export async function fill(context) {
  const { text } = context.input;
  if (typeof text !== "string") throw new CommandError("invalid_arguments", "text is missing.");
  return inTurnWithHand(context, (handed) => fillNow(handed, text));
}

/**
 * For whoever has the turn already.
 * @param {Handed<Wire.Named & {clear?: boolean, settle?: number}>} context
 * @param {string} text
 */
export async function fillNow(context, text) {
  const { clear = true } = context.input;
  return put(context, "fill", { text, clear: Boolean(clear) });
}

/** @param {Context<Wire.Select>} context */
export async function select(context) {
  const { value, label } = context.input;
  if ((value === undefined) === (label === undefined)) {
    throw new CommandError("invalid_arguments", "Give either value or label.");
  }
  const wanted = [value ?? label].flat().map(String);
  const body = { by: label === undefined ? "value" : "label", wanted };
  return inTurnWithHand(context, (handed) => put(handed, "select", body));
}

/**
 * @param {Handed<Wire.Named & {settle?: number}>} context
 * @param {string} question what the page is asked to do, and answers whether it is to be typed
 * @param {{text?: string, clear?: boolean, by?: string, wanted?: string[]}} body
 */
async function put(context, question, body) {
  const { frame, how } = await find(context);
  const { hand } = context;
  let plan = { typed: false, sensitive: false };
  /** @type {(_: unknown, live: AbortSignal) => Promise<void>} */
  const act = async (_, live) => {
    plan = await frame.ask(question, { ...how, ...body });
    live.throwIfAborted();
    requireKnownSite(context.tabId, context.site);
    if (plan.typed) await hand.write(frame, body.text ?? "", Boolean(body.clear));
  };
  try {
    const outcome = await actAndRest(context, frame, () => untilIdle(frame), act);
    const value = await valueAfter(frame, outcome);
    const { typed, sensitive } = plan;
    return { effect: { ...effectOf(outcome), value }, ...toldOf(hand, typed), sensitive };
  } catch (error) {
    throw marked(error, plan.sensitive);
  }
}

/**
 * @param {Frame} frame
 * @param {import("./act.js").Outcome} outcome
 */
async function valueAfter(frame, { dialog, navigated }) {
  if (dialog || navigated !== undefined) return undefined;
  return frame.ask("filled", {});
}
