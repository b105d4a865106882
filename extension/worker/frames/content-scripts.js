/** Content scripts for pages that were open before the extension was there. */

import { CommandError, messageOf } from "../shared/command-errors.js";

const FLAG = "injected";
const UNLOADED =
  "The tab shows no page: it could not be loaded. Navigate to another address, or reload.";

const files = (chrome.runtime.getManifest().content_scripts ?? []).flatMap(({ js }) => js ?? []);

/**
 * The scripts do nothing where they run already.
 * @param {number} tabId
 */
export async function injectInto(tabId) {
  try {
    const target = { tabId, allFrames: true };
    await chrome.scripting.executeScript({ target, files, injectImmediately: true });
  } catch (error) {
    if (/showing error page/i.test(messageOf(error))) {
      throw new CommandError("navigation_failed", UNLOADED);
    }
    throw new CommandError(
      "needs_person",
      `The browser protects this page from extensions (${messageOf(error)}). A person has to act here, or open another page.`,
    );
  }
}

/** Once in the extension's life: session storage is emptied when it is loaded anew. */
export async function injectEverywhere() {
  if ((await chrome.storage.session.get(FLAG))[FLAG]) return;
  await chrome.storage.session.set({ [FLAG]: true });
  const tabs = await chrome.tabs.query({ discarded: false });
  const ids = tabs.flatMap(({ id }) => (id === undefined ? [] : [id]));
  await Promise.allSettled(ids.map(injectInto));
}
