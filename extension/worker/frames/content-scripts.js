/** Injects content scripts into pages that were open before the extension was loaded. */

import { CommandError, messageOf } from "../shared/command-errors.js";

const FLAG = "injected";
const UNLOADED =
  "The tab shows no page: it could not be loaded. Navigate to another address, or reload.";

/**
 * The scripts do nothing where they already run. They must not run in the blank document that a
 * frame has until its page arrives: a page of the same site takes its global object over, and our
 * scripts with it, which would then look at a document that nobody sees. The browser lists only
 * frames whose own document is there; the others get the scripts with it.
 * @param {number} tabId
 */
export async function injectInto(tabId) {
  const listed = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  const ids = listed.map(({ frameId }) => frameId);
  // A child may be protected where the page is not.
  const children = ids.filter((id) => id !== 0).map((id) => inject(tabId, id));
  if (ids.includes(0)) await inject(tabId, 0).catch(refuse);
  await Promise.allSettled(children);
}

/**
 * @param {number} tabId
 * @param {number} frameId
 */
function inject(tabId, frameId) {
  const { content_scripts = [] } = chrome.runtime.getManifest();
  const files = content_scripts.flatMap(({ js }) => js ?? []);
  const target = { tabId, frameIds: [frameId] };
  return chrome.scripting.executeScript({ target, files, injectImmediately: true });
}

/** @param {unknown} error */
function refuse(error) {
  if (/showing error page/i.test(messageOf(error))) {
    throw new CommandError("navigation_failed", UNLOADED);
  }
  throw new CommandError(
    "needs_person",
    `The browser protects this page from extensions (${messageOf(error)}). A person has to act here, or open another page.`,
  );
}

/** Once per load of the extension: session storage is emptied when it is loaded again. */
export async function injectEverywhere() {
  if ((await chrome.storage.session.get(FLAG))[FLAG]) return;
  await chrome.storage.session.set({ [FLAG]: true });
  const tabs = await chrome.tabs.query({ discarded: false });
  const ids = tabs.flatMap(({ id }) => (id === undefined ? [] : [id]));
  await Promise.allSettled(ids.map(injectInto));
}

// Pages that the browser forgot to load: at its start, an extension that may watch requests can
// make it lose a tab's first navigation; the tab then stays blank, with the URL still pending.

const LOOKS_MS = [100, 500, 1500, 4000];

export function findLostLoads() {
  for (const delay of LOOKS_MS) setTimeout(() => void loadLost(), delay);
}

async function loadLost() {
  const tabs = await chrome.tabs.query({ status: "complete" });
  await Promise.allSettled(tabs.filter(isLost).map(load));
}

/**
 * If a navigation were under way, the tab would be shown as loading.
 * @param {chrome.tabs.Tab} tab
 */
export function isLost({ url, pendingUrl }) {
  return !url && /^(https?|file):/i.test(pendingUrl ?? "");
}

/** @param {chrome.tabs.Tab} tab */
function load({ id, pendingUrl }) {
  return chrome.tabs.update(/** @type {number} */ (id), { url: pendingUrl });
}
