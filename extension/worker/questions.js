/** What holds a tab up, or waits for files: the dialogs, logins and file choosers that are open. */

import { loginTabs, openLogin } from "./auth.js";
import { choosers, openChooser } from "./choosers.js";
import { dialogTabs, openDialog } from "./dialogs.js";

/** @typedef {import("./dialogs.js").Dialog} Dialog */

/**
 * @param {number} tabId
 * @returns {Dialog | undefined}
 */
export function dialogIn(tabId) {
  return openDialog(tabId) ?? openLogin(tabId)?.dialog ?? openChooser(tabId)?.dialog;
}

/** @returns {(Dialog & {tabId: number})[]} */
export function openDialogs() {
  const tabs = new Set([...dialogTabs(), ...loginTabs(), ...choosers()]);
  return [...tabs].flatMap((tabId) => {
    const dialog = dialogIn(tabId);
    return dialog ? [{ tabId, ...dialog }] : [];
  });
}
