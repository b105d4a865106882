/** Tabs in which the person has ended debugging with Cancel in Chrome's bar: we respect that. */

import { CommandError } from "../shared/command-errors.js";
import { register } from "../shared/tab-state.js";

const STORED = "refused";

/** The debugger may not be used in a tab. */
export class NoDebugger extends CommandError {
  /** @param {string} message */
  constructor(message) {
    super("needs_person", message);
  }
}

const ENDED =
  "The person has ended debugging in this tab, by Cancel in the browser's bar, so nothing was done. Ask them before you go on; they can share the tab again, or you can use another one.";

/** @type {Set<number>} */
const refused = new Set();

function save() {
  void chrome.storage.session.set({ [STORED]: [...refused] });
}

async function restoreRefusals() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const tabId of Array.isArray(stored) ? stored : []) refused.add(tabId);
}

/**
 * @param {number} tabId
 * @param {string} reason
 */
function debuggerDetached(tabId, reason) {
  if (reason !== "canceled_by_user") return;
  refused.add(tabId);
  save();
}

/** @param {number} tabId */
function pardonTab(tabId) {
  if (refused.delete(tabId)) save();
}

/** @param {number} tabId */
export function requireWilling(tabId) {
  if (refused.has(tabId)) throw new NoDebugger(ENDED);
}

register({
  name: "refusals",
  restore: restoreRefusals,
  forget: pardonTab,
  detached: debuggerDetached,
  released: async (tabId) => pardonTab(tabId),
  describe: () => [...refused],
});
