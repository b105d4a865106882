/** Showing the panel to a person who has asked for it. */

import { focusedWindow } from "./shared/known-tabs.js";

const PAGE = "panel/panel.html";

/** The browser opens a side panel only at once after a click: nothing is awaited before. */
export async function openPanel() {
  try {
    await chrome.sidePanel.open({ windowId: focusedWindow() });
  } catch {
    await chrome.tabs.create({ url: chrome.runtime.getURL(PAGE) });
  }
}
