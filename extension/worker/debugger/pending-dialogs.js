/** The dialogs, logins and file choosers that are open in tabs. */

import { loginTabs, openLogin } from "./logins.js";
import { choosers, openChooser } from "./file-choosers.js";
import { dialogTabs, openDialog } from "./page-dialogs.js";

/** @typedef {import("./page-dialogs.js").Dialog} Dialog */

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
