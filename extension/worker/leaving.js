/** Making sure that no dialog keeps a tab from leaving its page. */

import { attachTab, isTaken } from "./debugger/debugger.js";
import { acceptLeaving, dismissDialog } from "./debugger/page-dialogs.js";
import { hasBeenActive } from "./frames/frames.js";

/**
 * A page asks "leave?" only after someone has acted in it, and the question can be
 * answered only by a debugger that was there before it was asked.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 */
export async function leavingFreely(tabId, work) {
  await dismissDialog(tabId);
  const mayAsk = isTaken(tabId) || (await hasBeenActive(tabId));
  if (!mayAsk) return work();
  const stopAccepting = acceptLeaving(tabId);
  try {
    await attachTab(tabId).catch(() => {});
    return await work();
  } finally {
    stopAccepting();
  }
}
