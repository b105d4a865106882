/**
 * Pages of extensions, our own panel above all, belong to the person: whoever could press its
 * buttons could allow everything.
 */

import { CommandError } from "./shared/command-errors.js";

const EXTENSION_PAGE = /^(?:view-source:|filesystem:|blob:)*chrome-extension:/i;

/** @param {string | undefined} url */
export function isExtensionPage(url) {
  return EXTENSION_PAGE.test(url ?? "");
}

/** @returns {never} */
export function refuseExtensionPage() {
  const message = "Pages of extensions are for the person only. Use another page.";
  throw new CommandError("needs_person", message);
}
