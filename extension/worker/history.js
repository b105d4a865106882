/** Back and forward. */

import { send, withTab } from "./debugger/debugger.js";
import { CommandError } from "./shared/command-errors.js";
import { isExtensionPage, refuseExtensionPage } from "./guard.js";

const BLANK = "about:blank";

/**
 * The browser's own back button skips pages that nobody has acted in, which is most of what
 * an agent visits; the debugger sees every entry.
 * @param {number} tabId
 * @param {-1 | 1} delta
 * @param {AbortSignal} signal
 */
export async function goInHistory(tabId, delta, signal) {
  await withTab(tabId, async () => {
    const { currentIndex, entries } = await send(tabId, "Page.getNavigationHistory");
    const entry = entries[currentIndex + delta];
    if (!entry)
      throw new CommandError("navigation_failed", `There is no page to go ${word(delta)} to.`);
    if (isExtensionPage(entry.url)) refuseExtensionPage();
    signal.throwIfAborted();
    await send(tabId, "Page.navigateToHistoryEntry", { entryId: entry.id });
  });
}

/**
 * A tab that began blank, only to be recorded from the beginning, has no blank page to go back to.
 * @param {number} tabId
 */
export async function forgetBlank(tabId) {
  try {
    const { currentIndex, entries } = await send(tabId, "Page.getNavigationHistory");
    const isBlankFirst = currentIndex === 1 && entries.length === 2 && entries[0].url === BLANK;
    if (isBlankFirst) await send(tabId, "Page.resetNavigationHistory");
  } catch {
    // The browser does not let the debugger onto this page.
  }
}

/** @param {-1 | 1} delta */
function word(delta) {
  return delta < 0 ? "back" : "forward";
}
