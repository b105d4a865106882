/**
 * On which site a tab is. What the server allows, it allows for a site; a page that goes elsewhere
 * in the meantime must not be the one it happens to.
 */

import { CommandError } from "./shared/command-errors.js";
import { register } from "./shared/tab-state.js";
import { getTab } from "./shared/known-tabs.js";

const WEB = new Set(["http:", "https:"]);
const OPAQUE = "opaque";
const MOVED = "tab_url_mismatch";
const DIRECTIVES = /^(?:\s*(?:"[^"\n]*"|'[^'\n]*')\s*;)+/;

/** @type {Map<number, string>} as far as navigations were seen */
const sites = new Map();
/** @type {Map<number, string>} the sites of pages that are under way */
const coming = new Map();

/**
 * In the server's words: host, and port if it is not the usual one; empty for a blank tab.
 * @param {string | undefined} address
 * @returns {string}
 */
export function siteOf(address) {
  if (address === "null") return OPAQUE;
  if (!address || /^about:blank(?:[?#]|$)/.test(address)) return "";
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol === "blob:") return siteOf(url.origin === "null" ? "data:" : url.origin);
  if (!url || !WEB.has(url.protocol)) return OPAQUE;
  return url.host.replace(/\.(?=:|$)/, "");
}

/**
 * A document in a sandbox has no origin, but its address tells whose it is.
 * @param {string | undefined} origin
 * @param {string | undefined} url
 */
export function siteOfDocument(origin, url) {
  if (origin === "null") return siteOf(url) || OPAQUE;
  return siteOf(origin ?? url);
}

/**
 * @param {number} tabId
 * @param {string} url
 */
function siteCommitted(tabId, url) {
  sites.set(tabId, siteOf(url));
  coming.delete(tabId);
}

/**
 * @param {number} tabId
 * @param {string} url
 */
function siteComing(tabId, url) {
  coming.set(tabId, siteOf(url));
}

/** @param {number} tabId */
function siteStays(tabId) {
  coming.delete(tabId);
}

/** The navigations were seen by an earlier life of this worker. */
async function learnSites() {
  for (const { id, url } of await chrome.tabs.query({})) {
    if (id !== undefined && url) sites.set(id, siteOf(url));
  }
}

/** @param {number} tabId */
function forgetSite(tabId) {
  sites.delete(tabId);
  coming.delete(tabId);
}

/**
 * @param {number} tabId
 * @param {string | undefined} site undefined: wherever it is
 */
export async function requireSite(tabId, site) {
  if (site === undefined || sites.get(tabId) === site) return;
  // Not every page is announced: one that could not be loaded is not.
  const { url, pendingUrl } = await getTab(tabId);
  // Before its first page a tab counts as where it is going, as the server was told.
  sites.set(tabId, siteOf(url || pendingUrl));
  requireKnownSite(tabId, site);
}

/**
 * @param {number} tabId
 * @returns {string | undefined} as far as navigations were seen
 */
export function siteNow(tabId) {
  return sites.get(tabId);
}

/**
 * The same in the same turn, for the last moment before something is done.
 * @param {number} tabId
 * @param {string | undefined} site
 */
export function requireKnownSite(tabId, site) {
  if (site !== undefined && sites.get(tabId) !== site) throw moved();
}

/**
 * The same in the midst of something: what was begun must not be begun again elsewhere. A page
 * that is under way may be there before anybody hears of it, so it counts already.
 * @param {number} tabId
 * @param {string | undefined} site
 */
export function requireStay(tabId, site) {
  if (site === undefined) return;
  if (sites.get(tabId) === site && (coming.get(tabId) ?? site) === site) return;
  const message = "The page went to another site before all was done; the rest was left out.";
  throw new CommandError("navigated_away", message);
}

export function moved() {
  return new CommandError(MOVED, "The tab has just gone to another site.");
}

/** @param {unknown} error */
export function isMoved(error) {
  return error instanceof CommandError && error.reason === MOVED;
}

/**
 * Code with a check before it, which throws `word` if the page is not on the site. They run in one
 * piece, so no navigation comes between them.
 * @param {string} code
 * @param {string | undefined} site
 * @param {string} word
 */
export function onlyOn(code, site, word) {
  // "use strict" counts only where it stands first.
  const [directives] = DIRECTIVES.exec(code) ?? [""];
  return directives + check(site, word) + code.slice(directives.length);
}

/**
 * @param {string | undefined} site
 * @param {string} word
 */
function check(site, word) {
  if (site === undefined) return "";
  const [host, port] = site.split(/(?=:\d+$)/);
  const hosts = [site, `${host}.${port ?? ""}`].map((name) => JSON.stringify(name));
  const elsewhere = hosts.map((name) => `location.host!==${name}`).join("&&");
  return `if(location.protocol.startsWith("http")&&${elsewhere})throw ${JSON.stringify(word)};`;
}

register({
  name: "sites",
  restore: learnSites,
  forget: forgetSite,
  navigating: siteComing,
  stayed: siteStays,
  committed: siteCommitted,
  // A blank tab counts as one that nothing is known of.
  describe: () => [...sites].filter(([, site]) => site),
});
