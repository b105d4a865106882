/**
 * Which tab is in front in each window. A tab that an agent's page opens comes to the front by
 * itself, so the tab the person was looking at has to be brought back.
 */

import { register } from "./tab-state.js";

/** @type {Map<number, {now: number, before?: number}>} by window */
const fronts = new Map();

async function learnFronts() {
  const tabs = await chrome.tabs.query({ active: true });
  for (const { id, windowId } of tabs) if (id !== undefined) noteFront(id, windowId);
}

/**
 * @param {number} tabId
 * @param {number} windowId
 */
function noteFront(tabId, windowId) {
  const known = fronts.get(windowId)?.now;
  if (known !== tabId) fronts.set(windowId, { now: tabId, before: known });
}

/** @param {number} windowId */
function forgetWindow(windowId) {
  fronts.delete(windowId);
}

/**
 * Whether the tab is the one that its window shows.
 * @param {number} tabId
 */
export function isInFront(tabId) {
  return [...fronts.values()].some(({ now }) => now === tabId);
}

/**
 * @param {number} openedId
 * @param {number} openerId if this tab was in front, the one it opens may be too
 */
export async function bringBack(openedId, openerId) {
  try {
    const { active, windowId } = await chrome.tabs.get(openedId);
    const front = fronts.get(windowId);
    // The report of the change may still be on its way.
    const person = front?.now === openedId ? front.before : front?.now;
    if (!active || person === undefined || person === openerId) return;
    await chrome.tabs.update(person, { active: true });
  } catch {
    // One of the two has been closed: there is nothing to bring back.
  }
}

register({
  name: "front tabs",
  restore: learnFronts,
  activated: noteFront,
  windowClosed: forgetWindow,
  describe: () => [...fronts].map(([windowId, { now }]) => [windowId, now]),
});
