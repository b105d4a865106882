/** The part of a page that a command names: by a ref, by a selector, or by words. */

import { mainFrame } from "../frames/frames.js";
import { findTarget } from "../input/targets.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { search } from "./element-search.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {{ref?: string | null, selector?: string, find?: string}} Part */

/**
 * @param {number} tabId
 * @param {Part} part
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<{frame: Frame, how?: object}>} without `how`: the whole page
 */
export async function partOf(tabId, { ref, selector, find }, reach) {
  const named = [ref, selector, find].filter((one) => one !== undefined && one !== null);
  if (named.length > 1) {
    throw new CommandError("invalid_arguments", "Give ref, selector or find: one of them.");
  }
  if (find !== undefined) return byWords(tabId, String(find), reach);
  if (selector !== undefined) return findTarget(tabId, { selector }, reach);
  return ref ? findTarget(tabId, { ref }, reach) : { frame: await mainFrame(tabId) };
}

/**
 * What is around the words: of a heading, the section that it begins.
 * @param {number} tabId
 * @param {string} query
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function byWords(tabId, query, reach) {
  const { matches } = await search(tabId, query, 1, reach);
  if (!matches.length) {
    const message = `Nothing on the page matches ${quoted(query)}.`;
    throw new CommandError("element_not_found", message);
  }
  const { frame, how } = await findTarget(tabId, { ref: matches[0].ref }, reach);
  return { frame, how: { ...how, isPart: true } };
}
