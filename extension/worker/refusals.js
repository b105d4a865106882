/** Tabs in which a person has ended debugging, by the bar that Chrome shows: they are obeyed. */

import { CommandError } from "./errors.js";

/** The debugger may not be used in a tab, now or ever. */
export class NoDebugger extends CommandError {
  /** @param {string} message */
  constructor(message) {
    super("needs_person", message);
  }
}

const ENDED =
  "The person has ended debugging in this tab, by Cancel in the browser's bar, so nothing was done. Ask them before you go on; they may share the tab anew, or you work in another.";

/** @type {Set<number>} */
const refused = new Set();

/** @param {number} tabId */
export function refuseTab(tabId) {
  refused.add(tabId);
}

/** @param {number} tabId */
export function pardonTab(tabId) {
  refused.delete(tabId);
}

/** @param {number} tabId */
export function requireWilling(tabId) {
  if (refused.has(tabId)) throw new NoDebugger(ENDED);
}
