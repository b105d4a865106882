/**
 * Who makes the input of an action: the debugger or, where that may not be used and the person
 * allows it, a script in the page.
 */

import { withTab } from "../debugger/debugger.js";
import { feigning } from "../feigned.js";
import {
  clickAt,
  deleteSelection,
  hoverAt,
  insertText,
  strike,
  turnWheel,
} from "./trusted-input.js";
import { NoDebugger } from "../debugger/refusals.js";

/** @import { Context } from "../tabs/navigation.js" */
/** @typedef {import("../frame.js").Frame} Frame */
/** @typedef {import("./trusted-input.js").Point} Point */
/** @typedef {import("./trusted-input.js").Press} Press */
/** @typedef {import("./key-strokes.js").Stroke} Stroke */
/** @typedef {import("../spots.js").Place} Place */
/** @typedef {import("../spots.js").Spot} Spot */
/** @typedef {Point & {local?: Point}} Aimed a point of the tab's viewport, and in its own frame */
/**
 * @template [I=unknown]
 * @typedef {Context<I> & {hand: Hand}} Handed
 */

/**
 * @typedef {object} Hand
 * @property {boolean} trusted
 * @property {(place: Place, signal: AbortSignal, options?: object) => Promise<Aimed>} aim
 * @property {(frame: Frame, at: Aimed, press: Press) => Promise<void>} click
 * @property {(frame: Frame, at: Aimed) => Promise<void>} hover
 * @property {(frame: Frame, at: Aimed, by: Point, around?: Spot[]) => Promise<void>} wheel what
 *   cannot scroll further passes it on to what is around
 * @property {(frame: Frame, text: string, isWhole?: boolean) => Promise<void>} write in the place
 *   of what is selected, or of all there is
 * @property {(frame: Frame, stroke: Stroke) => Promise<void>} strike
 */

const HINT =
  "A person can let tabhub act by a script in such tabs, which pages may ignore: `tabhub config set untrustedInput true`.";

/**
 * @param {number} tabId
 * @returns {Hand}
 */
function debugging(tabId) {
  return {
    trusted: true,
    aim: (place, signal, options) => place.aim(signal, options),
    click: (_, at, press) => clickAt(tabId, at, press),
    hover: (_, at) => hoverAt(tabId, at),
    wheel: (_, { x, y }, by) => turnWheel(tabId, { x, y }, by),
    write: (_, text) => (text ? insertText(tabId, text) : deleteSelection(tabId)),
    strike: (_, stroke) => strike(tabId, stroke),
  };
}

/**
 * Only what has not begun may be done by another hand.
 * @template T, I
 * @param {Context<I>} context
 * @param {(context: Handed<I>) => Promise<T>} work
 */
export async function withHand(context, work) {
  let hasBegun = false;
  try {
    return await withTab(context.tabId, () => {
      hasBegun = true;
      return work({ ...context, hand: debugging(context.tabId) });
    });
  } catch (error) {
    if (hasBegun || !(error instanceof NoDebugger)) throw error;
    if (!context.untrusted) throw new NoDebugger(`${error.message} ${HINT}`);
    return work({ ...context, hand: feigning });
  }
}

/**
 * How it was done, for the result.
 * @param {Hand} hand
 * @param {boolean} [isInput] whether input was made at all
 */
export function toldOf({ trusted }, isInput = true) {
  return { trusted: trusted && isInput, ...(!trusted && { byScript: true }) };
}
