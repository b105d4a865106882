/** An agent has left a tab, or a person has taken it back: what was put upon it ends. */

import { within } from "./within.js";

const LET_GO_MS = 2000;

/** @type {Set<(tabId: number) => Promise<unknown>>} */
const listeners = new Set();

/**
 * @param {(tabId: number) => Promise<unknown>} listener does what must be done before it waits for
 *   the page
 */
export function onLetGo(listener) {
  listeners.add(listener);
}

/**
 * A page that is busy, or shows a dialog, hears of it later.
 * @param {number} tabId
 */
export async function letGo(tabId) {
  const ends = [...listeners].map((listener) => within(LET_GO_MS, listener(tabId)));
  await Promise.allSettled(ends);
}

/** @param {import("./navigation.js").Context} context */
export async function releaseTab({ tabId }) {
  await letGo(tabId);
  return {};
}
