/** extension.*: what the extension says of itself. Numbers only: no addresses, no pages. */

import { heldTabs, takenTabs } from "../debugger/debugger.js";
import { dialogTabs } from "../debugger/page-dialogs.js";
import { connectedTabs } from "../frames/frames.js";

const PANEL = "panel/panel.html";
const startedAt = Date.now();

export async function describeSelf() {
  const [tabs, contexts] = await Promise.all([chrome.tabs.query({}), panelContexts()]);
  return {
    version: chrome.runtime.getManifest().version,
    startedAt,
    tabs: tabs.length,
    connectedTabs: connectedTabs().length,
    debuggedTabs: takenTabs(),
    heldTabs: Object.fromEntries(heldTabs()),
    dialogTabs: dialogTabs(),
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
