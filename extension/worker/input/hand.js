/**
 * Two ways to make input: by the debugger or, where that may not be used and the person allows it,
 * by a script in the page.
 */

import { withTab } from "../debugger/debugger.js";
import { NoDebugger } from "../debugger/refusals.js";
import { askMinting, mainFrame } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { keyEvents } from "./key-strokes.js";
import { childAt } from "./targets.js";
import { clickAt, hoverAt, strike, turnWheel } from "./trusted-input.js";

// Input without the debugger: events that a content script dispatches. Pages can distinguish
// them from real ones, and the browser does less in response.

/** @typedef {import("../frames/frames.js").Frame} Frame */

const SILENT =
  "The input was made, but the page does not answer since: it is busy, or shows a dialog, which a person has to answer.";

/** @param {Record<string, unknown>} [data] */
export function silence(data) {
  return new CommandError("page_may_have_received", SILENT, data);
}

/** @type {Hand} */
export const untrustedHand = {
  trusted: false,
  aim: (place, signal, options) => place.locate(signal, options),
  click: (frame, { local }, press) => make(frame, "syntheticClick", { point: local, press }),
  hover: (frame, { local }) => make(frame, "syntheticHover", { point: local }),
  async wheel(frame, { local }, by, around = []) {
    for (const at of [{ frame, point: local }, ...around]) {
      if (await make(at.frame, "syntheticWheel", { point: at.point, by })) return;
    }
  },
  write,
  strike: (frame, stroke) => make(frame, "syntheticKeys", { events: keyEvents(stroke) }),
};

/**
 * In the frame itself: the debugger would insert it into whatever has the focus by then.
 * @param {Frame} frame
 * @param {string} text
 */
function write(frame, text) {
  return make(frame, "insert", { text });
}

/**
 * @param {Frame} frame
 * @param {string} what
 * @param {object} body
 */
async function make(frame, what, body) {
  try {
    return await frame.ask(what, body);
  } catch (error) {
    const reason = error instanceof CommandError ? error.reason : undefined;
    if (reason === "timeout") throw silence();
    // The input may have made the page navigate: the watch knows whether it arrived.
    if (reason !== "navigated_away") throw error;
  }
}

/**
 * The frame that has the focus according to the documents; which of them the browser would send
 * keys to does not matter here.
 * @param {number} tabId
 */
export async function focusedDocument(tabId) {
  let frame = await mainFrame(tabId);
  for (;;) {
    const inner = await askMinting(frame, "focusedFrame", {});
    if (!inner) return frame;
    frame = await childAt(frame, inner);
  }
}

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./trusted-input.js").Point} Point */
/** @typedef {import("./trusted-input.js").Press} Press */
/** @typedef {import("./key-strokes.js").Stroke} Stroke */
/** @typedef {import("./targets.js").Place} Place */
/** @typedef {import("./targets.js").FramePoint} FramePoint */
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
 * @property {(frame: Frame, at: Aimed, by: Point, around?: FramePoint[]) => Promise<void>} wheel
 *   what cannot scroll further passes it on to the frame around it
 * @property {(frame: Frame, text: string) => Promise<void>} write in the place of what is selected
 * @property {(frame: Frame, stroke: Stroke) => Promise<void>} strike
 */

const HINT =
  "A person can let tabhub act by a script in such tabs, which pages may ignore: `tabhub config set untrustedInput true`.";

/**
 * @param {number} tabId
 * @returns {Hand}
 */
function trustedHand(tabId) {
  return {
    trusted: true,
    aim: (place, signal, options) => place.aim(signal, options),
    click: (_, at, press) => clickAt(tabId, at, press),
    hover: (_, at) => hoverAt(tabId, at),
    wheel: (_, { x, y }, by) => turnWheel(tabId, { x, y }, by),
    write,
    strike: (_, stroke) => strike(tabId, stroke),
  };
}

/**
 * Only an action that has not begun may be done by the other hand.
 * @template T, I
 * @param {Context<I>} context
 * @param {(context: Handed<I>) => Promise<T>} work
 */
export async function withHand(context, work) {
  let hasBegun = false;
  try {
    return await withTab(context.tabId, () => {
      hasBegun = true;
      return work({ ...context, hand: trustedHand(context.tabId) });
    });
  } catch (error) {
    if (hasBegun || !(error instanceof NoDebugger)) throw error;
    if (!context.untrusted) throw new NoDebugger(`${error.message} ${HINT}`);
    return work({ ...context, hand: untrustedHand });
  }
}

/**
 * How it was done, for the result.
 * @param {Hand} hand
 * @param {boolean} [isInput] whether input was made at all
 */
export function trustOf({ trusted }, isInput = true) {
  return { trusted: trusted && isInput, ...(!trusted && { byScript: true }) };
}
