/** cookies.*, site.clear and page.storage: what the site in a tab has stored in the browser. */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { mainFrame } from "../frames/frames.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { requireKnownSite } from "../shared/known-tabs.js";

/** @import { Context } from "../shared/command-context.d.ts" */

/** @param {Context<Wire.NamedCookies>} context */
export async function getCookies({ tabId, input }) {
  const storeId = await storeOf(tabId);
  return { cookies: await find(input, storeId) };
}

/**
 * @param {Wire.NamedCookies} input
 * @param {string} storeId
 */
function find({ url, name }, storeId) {
  return chrome.cookies.getAll({ url, storeId, ...(name !== undefined && { name }) });
}

/**
 * Incognito windows have cookies of their own.
 * @param {number} tabId
 */
async function storeOf(tabId) {
  const stores = await chrome.cookies.getAllCookieStores();
  const store = stores.find(({ tabIds }) => tabIds.includes(tabId));
  if (store) return store.id;
  throw new CommandError("tab_not_found", `There is no tab ${tabId}.`);
}

/** @param {Context<Wire.SetCookie>} context */
export async function setCookie({ tabId, input, site, signal }) {
  const { url, name, value, domain, path, secure, httpOnly, expirationDate } = input;
  const storeId = await storeOf(tabId);
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  const wanted = { url, name, value, domain, path, secure, httpOnly, expirationDate, storeId };
  const cookie = await chrome.cookies.set(defined(wanted)).catch((error) => {
    throw new CommandError("invalid_arguments", `The cookie is not taken: ${messageOf(error)}`);
  });
  return { cookie: /** @type {chrome.cookies.Cookie} */ (cookie) };
}

/**
 * @template {object} T
 * @param {T} given
 * @returns {T}
 */
function defined(given) {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined);
  return /** @type {T} */ (Object.fromEntries(pairs));
}

/** @param {Context<Wire.NamedCookies>} context */
export async function deleteCookies({ tabId, input, site, signal }) {
  const storeId = await storeOf(tabId);
  const cookies = await find(input, storeId);
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  const removed = cookies.map((cookie) =>
    chrome.cookies.remove({ url: addressOf(cookie), name: cookie.name, storeId }),
  );
  await Promise.all(removed);
  return { deleted: removed.length };
}

/**
 * Several cookies may have the same name: each is removed by a URL that matches it best.
 * @param {chrome.cookies.Cookie} cookie
 */
function addressOf({ secure, domain, path }) {
  return `${secure ? "https" : "http"}://${domain.replace(/^\./, "")}${path}`;
}

// site.clear: removes what a site has stored.

/** The caller's names, and the browser's. */
const KINDS = /** @type {const} */ ({
  cookies: ["cookies"],
  localStorage: ["localStorage"],
  cache: ["cache", "cacheStorage"],
  indexedDB: ["indexedDB"],
  serviceWorkers: ["serviceWorkers"],
});

/** @param {import("../shared/command-context.d.ts").Context<Wire.ClearSiteData>} context */
export async function clearSiteData({ tabId, input, site, signal }) {
  const { origin, kinds } = input;
  const names = /** @type {(keyof typeof KINDS)[]} */ (kinds).flatMap((kind) => KINDS[kind]);
  const types = Object.fromEntries(names.map((name) => [name, true]));
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  await chrome.browsingData.remove({ origins: [origin] }, types).catch((error) => {
    throw new CommandError("invalid_arguments", `Nothing was removed: ${messageOf(error)}`);
  });
  return { cleared: kinds };
}

// page.storage: the web storage of the page's origin.

/** @param {import("../shared/command-context.d.ts").Context<Wire.ReadStorage>} context */
export async function getStorage({ tabId, input, signal }) {
  return unlessDialog(tabId, signal, async () => (await mainFrame(tabId)).ask("storage", input));
}
