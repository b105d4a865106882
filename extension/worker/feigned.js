/**
 * Input without the debugger: events that a content script makes. Pages can tell them from real
 * ones, and the browser does less upon them.
 */

import { CommandError } from "./shared/command-errors.js";
import { askMinting, mainFrame } from "./frames/frames.js";
import { keyEvents } from "./input/key-strokes.js";
import { childAt } from "./spots.js";

/** @typedef {import("./frame.js").Frame} Frame */

const SILENT =
  "The input was made, but the page does not answer since: it is busy, or shows a dialog, which a person has to answer.";

/** @type {import("./input/hand.js").Hand} */
export const feigning = {
  trusted: false,
  aim: (place, signal, options) => place.locate(signal, options),
  click: (frame, { local }, press) => make(frame, "feignClick", { point: local, press }),
  hover: (frame, { local }) => make(frame, "feignHover", { point: local }),
  async wheel(frame, { local }, by, around = []) {
    for (const spot of [{ frame, point: local }, ...around]) {
      if (await make(spot.frame, "feignWheel", { point: spot.point, by })) return;
    }
  },
  write: (frame, text, isWhole = false) => make(frame, "feignText", { text, isWhole }),
  strike: (frame, stroke) => make(frame, "feignKeys", { events: keyEvents(stroke) }),
};

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
    if (reason === "timeout") throw new CommandError("page_may_have_received", SILENT);
    // What was done may have taken the page away: whoever looks on tells whether it arrived.
    if (reason !== "navigated_away") throw error;
  }
}

/**
 * The frame that has the focus by what the documents say; which of them the browser would give
 * its keys to does not matter here.
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
