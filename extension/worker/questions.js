/** What holds a tab up, or waits for files: the dialogs and file choosers that are open. */

import { choosers, openChooser } from "./choosers.js";
import { dialogTabs, openDialog } from "./dialogs.js";

/** @typedef {import("./dialogs.js").Dialog} Dialog */

/**
 * @param {number} tabId
 * @returns {Dialog | undefined}
 */
export function questionIn(tabId) {
  return openDialog(tabId) ?? openChooser(tabId)?.dialog;
}

/** @returns {(Dialog & {tabId: number})[]} */
export function questions() {
  const tabs = new Set([...dialogTabs(), ...choosers()]);
  return [...tabs].flatMap((tabId) => {
    const dialog = questionIn(tabId);
    return dialog ? [{ tabId, ...dialog }] : [];
  });
}
