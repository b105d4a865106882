/**
 * Tabs that were opened to look like any other: no script of ours runs in the page's own world, and
 * the debugger is attached only for a command that needs it.
 */

import { register } from "./tab-state.js";

const STORED = "stealth tabs";
/** @type {Set<number>} */
const tabs = new Set();

function save() {
  void chrome.storage.session.set({ [STORED]: [...tabs] });
}

/** @param {number} tabId */
export function keepStealthy(tabId) {
  tabs.add(tabId);
  save();
}

/** @param {number} tabId */
export function isStealthy(tabId) {
  return tabs.has(tabId);
}

register({
  name: STORED,
  restore: async () => {
    const stored = (await chrome.storage.session.get(STORED))[STORED];
    for (const tabId of Array.isArray(stored) ? stored : []) tabs.add(tabId);
  },
  forget: (tabId) => {
    if (tabs.delete(tabId)) save();
  },
});
