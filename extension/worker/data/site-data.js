/** cookies.*: those that the browser would send to an address, as the site in a tab has them. */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { requireKnownSite } from "../sites.js";

/** @import { Context } from "../tabs/navigation.js" */

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
 * Several cookies may have one name: each is removed by an address that only it fits best.
 * @param {chrome.cookies.Cookie} cookie
 */
function addressOf({ secure, domain, path }) {
  return `${secure ? "https" : "http"}://${domain.replace(/^\./, "")}${path}`;
}
