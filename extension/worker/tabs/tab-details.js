/** tabs.focus and tabs.info. */

import { emulatedIn } from "../emulation/device-emulation.js";
import { dialogIn } from "../debugger/pending-dialogs.js";
import { describe, getTab, pageResult } from "../shared/known-tabs.js";

/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * The one command that is meant to take the person's focus.
 * @param {Context} context
 */
export async function focusTab({ tabId, signal, reportTabChanges }) {
  const { windowId } = await getTab(tabId);
  signal.throwIfAborted();
  await chrome.tabs.update(tabId, { active: true });
  await chrome.windows.update(windowId, { focused: true });
  await reportTabChanges();
  return pageResult(tabId);
}

/** @param {Context} context */
export async function tabInfo({ tabId, reportTabChanges }) {
  await reportTabChanges();
  const tab = describe(await getTab(tabId));
  const dialog = dialogIn(tabId);
  return { ...tab, emulated: emulatedIn(tabId), ...(dialog ? { dialog } : {}) };
}
