/** What is several tabs', a window or a group, is an agent's only if all of them are. */

import { CommandError } from "./shared/command-errors.js";

/**
 * @param {chrome.tabs.Tab[]} tabs as they are now
 * @param {unknown} own the numbers of the caller's tabs
 * @param {string} what
 */
export function requireOwn(tabs, own, what) {
  const numbers = new Set(Array.isArray(own) ? own : []);
  if (tabs.length && tabs.every((tab) => numbers.has(tab.id))) return;
  const message = `${what} has tabs that are not yours, so it is not yours to change.`;
  throw new CommandError("foreign_tab", message);
}
