/** extension.*: the extension's own state. Numbers only: no URLs, nothing from pages. */

import { describeAll } from "../shared/tab-state.js";

const PANEL = "panel/panel.html";
const startedAt = Date.now();

export async function describeSelf() {
  const [tabs, contexts, kept] = await Promise.all([
    chrome.tabs.query({}),
    panelContexts(),
    /** @type {Promise<any>} */ (describeAll()),
  ]);
  return {
    version: chrome.runtime.getManifest().version,
    startedAt,
    tabs: tabs.length,
    connectedTabs: kept.frames.reached.length,
    debuggedTabs: kept.attachments.taken,
    heldTabs: Object.fromEntries(kept.attachments.held),
    dialogTabs: kept.dialogs.map((/** @type {[number]} */ [tabId]) => tabId),
    panels: contexts.length,
  };
}

export async function describePanel() {
  const contexts = await panelContexts();
  const inTabs = contexts.filter(({ tabId }) => tabId >= 0);
  return { panels: contexts.length, inTabs: inTabs.length };
}

function panelContexts() {
  return chrome.runtime.getContexts({ documentUrls: [chrome.runtime.getURL(PANEL)] });
}
