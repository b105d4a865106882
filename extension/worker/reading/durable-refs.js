/** page.describe and page.locate: describing an element so that it can be found again later. */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { CHILD_MS, MAIN_MS, numberOr } from "../shared/number-limits.js";
import { findTarget } from "../input/targets.js";

const MOST_MS = 10_000;
const AGAIN_MS = 150;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("../frames/frames.js").Frame} Frame */

/** @param {Context<Wire.Named>} context */
export function describeElement({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const viewport = await (await mainFrame(tabId)).ask("viewport", {});
    if (input.ref === undefined && input.selector === undefined) return { viewport };
    const { frame, how } = await findTarget(tabId, input, reach);
    const { selectors, role, name } = await askMinting(frame, "describe", { how });
    const others = framesOf(tabId).filter((other) => other !== frame && reach.allows(other));
    const selector = await onlyHere(selectors, others);
    return { viewport, role, name, ...(selector && { selector }) };
  });
}

/**
 * @param {string[]} selectors
 * @param {Frame[]} others
 * @returns {Promise<string | undefined>} the first that matches nothing in other frames
 */
async function onlyHere(selectors, others) {
  for (const selector of selectors) {
    const has = others.map((frame) => frame.ask("has", { selector }).catch(() => false));
    if (!(await Promise.all(has)).includes(true)) return selector;
  }
  return undefined;
}

/** @param {Context<Wire.LocateElement>} context */
export function locateElement(context) {
  const { tabId, signal } = context;
  return unlessDialog(tabId, signal, async (ended) => {
    const until = Date.now() + Math.min(numberOr(context.input.timeoutMs, 0, 0), MOST_MS);
    for (;;) {
      ended.throwIfAborted();
      const refs = await candidates(context);
      if (refs.length === 1) return { ref: refs[0] };
      if (Date.now() >= until) throw notThere(context.input, refs.length);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  });
}

/**
 * An element that the selector matches counts more than one that is only similar.
 * @param {Context<Wire.LocateElement>} context
 * @returns {Promise<string[]>}
 */
async function candidates(context) {
  const exact = await askAll(context, "selector");
  return exact.length ? exact : askAll(context, "label");
}

/**
 * @param {Context<Wire.LocateElement>} context
 * @param {"selector" | "label"} by
 */
async function askAll({ tabId, input, reach }, by) {
  const { selector, role, name } = input;
  const body = { known: { selector, role: String(role), name: String(name) }, by };
  await mainFrame(tabId);
  const frames = framesOf(tabId).filter((frame) => reach.allows(frame));
  const answers = frames.map((frame) => {
    const { walk, answer } = frame.frameId === 0 ? MAIN_MS : CHILD_MS;
    return askMinting(frame, "locate", { ...body, maxMs: walk }, answer).catch(() => []);
  });
  return (await Promise.all(answers)).flat();
}

/**
 * @param {Wire.LocateElement} input
 * @param {number} count
 */
function notThere({ role, name }, count) {
  const words = [role, name && `"${name}"`].filter(Boolean).join(" ");
  const what = words ? quoted(words) : "element";
  const message = count
    ? `There is more than one ${what} on the page now; it is not clear which one was meant.`
    : `There is no ${what} on the page now.`;
  return new CommandError("element_not_found", message);
}
