/** Tabs as the link describes them. */

import { TITLE_LENGTH, URL_LENGTH, clip } from "./clip.js";
import { CommandError } from "./command-errors.js";
import { register } from "./tab-state.js";

// Extension pages, above all our own panel, belong to the person: an agent that could press its
// buttons could grant itself everything.

const EXTENSION_PAGE = /^(?:view-source:|filesystem:|blob:)*chrome-extension:/i;

/** @param {string | undefined} url */
export function isExtensionPage(url) {
  return EXTENSION_PAGE.test(url ?? "");
}

/** @returns {never} */
export function refuseExtensionPage() {
  const message = "Extension pages are for the person only. Use another page.";
  throw new CommandError("needs_person", message);
}

const BRIEF_LENGTH = 100;

/** @typedef {Wire.Tab} Tab */

/**
 * Tabs that are known to exist, and whether they show an extension page, so that a command need not
 * ask the browser first.
 * @type {Map<number, boolean>}
 */
const alive = new Map();
/** @type {number | undefined} */
let focusedWindowId;

/** @param {number} windowId */
export function noteFocusedWindow(windowId) {
  // NONE means another program has the focus: the last window stays the person's own.
  if (windowId !== chrome.windows.WINDOW_ID_NONE) focusedWindowId = windowId;
}

/** The window that the person is looking at, or looked at last. */
export function focusedWindow() {
  return focusedWindowId ?? chrome.windows.WINDOW_ID_NONE;
}

/** @param {chrome.tabs.Tab} tab */
export function noteTab({ id, url, pendingUrl }) {
  if (id !== undefined) alive.set(id, isExtensionPage(url) || isExtensionPage(pendingUrl));
}

/** @param {number} tabId */
export function noteGone(tabId) {
  alive.delete(tabId);
}

/**
 * @param {number} tabId
 * @returns {Promise<boolean>} whether it shows an extension page
 */
export async function showsExtension(tabId) {
  return alive.get(tabId) ?? isExtensionPage((await chrome.tabs.get(tabId)).url);
}

/**
 * @param {chrome.tabs.Tab} tab
 * @returns {Tab}
 */
export function describe(tab) {
  const groupId = tab.groupId >= 0 ? tab.groupId : undefined;
  return {
    tabId: tab.id ?? chrome.tabs.TAB_ID_NONE,
    url: clip(tab.url || tab.pendingUrl || "", URL_LENGTH),
    title: clip(tab.title ?? "", TITLE_LENGTH),
    active: tab.active,
    windowId: tab.windowId,
    index: tab.index,
    status: tab.discarded ? "unloaded" : statusOf(tab),
    ...(groupId === undefined ? {} : { groupId }),
    focusedWindow: tab.windowId === focusedWindowId,
  };
}

/** @param {chrome.tabs.Tab} tab */
function statusOf(tab) {
  if (tab.status === "unloaded") return "unloaded";
  return tab.status === "loading" ? "loading" : "complete";
}

// The list of tabs, kept from the browser's events: to ask for it takes longer than all the rest.

/** @type {Map<number, chrome.tabs.Tab> | undefined} undefined: the browser has to be asked */
let keptTabs;
/** Counts what could make an answer old that is on its way. */
let events = 0;
let isListening = false;

/** Which tabs there are, their order or which is in front is another now. */
function forgetList() {
  events++;
  keptTabs = undefined;
}

/**
 * @param {number} tabId
 * @param {chrome.tabs.Tab} tab
 */
function updateInList(tabId, tab) {
  events++;
  if (keptTabs?.has(tabId)) keptTabs.set(tabId, tab);
  else keptTabs = undefined;
}

/** Must be called while the worker's script runs: listeners added later miss events. */
export function listenToTabs() {
  const { tabs } = chrome;
  isListening = true;
  tabs.onUpdated.addListener((tabId, _, tab) => updateInList(tabId, tab));
  tabs.onCreated.addListener(forgetList);
  tabs.onRemoved.addListener(forgetList);
  tabs.onReplaced.addListener(forgetList);
  tabs.onActivated.addListener(forgetList);
  tabs.onMoved.addListener(forgetList);
  tabs.onAttached.addListener(forgetList);
  tabs.onDetached.addListener(forgetList);
}

/** @returns {Promise<chrome.tabs.Tab[]>} */
async function allTabs() {
  if (keptTabs) return [...keptTabs.values()];
  const before = events;
  const tabs = await chrome.tabs.query({});
  if (isListening && events === before) keptTabs = new Map(tabs.map((tab) => [tab.id ?? -1, tab]));
  return tabs;
}

/**
 * @param {boolean} [brief]
 * @returns {Promise<Tab[]>}
 */
export async function listTabs(brief = false) {
  if (focusedWindowId === undefined) await findFocusedWindow();
  const tabs = await allTabs();
  tabs.forEach(noteTab);
  const described = tabs.map(describe);
  return brief ? described.map(shorten) : described;
}

/** @param {Tab} tab */
function shorten(tab) {
  return { ...tab, url: clip(tab.url, BRIEF_LENGTH), title: clip(tab.title, BRIEF_LENGTH) };
}

async function findFocusedWindow() {
  try {
    const { id } = await chrome.windows.getLastFocused();
    if (id !== undefined) noteFocusedWindow(id);
  } catch {
    // No window at all: nothing is focused.
  }
}

/**
 * @param {unknown} tabId
 * @returns {Promise<number>}
 */
export async function requireTab(tabId) {
  if (typeof tabId !== "number" || !Number.isInteger(tabId)) {
    throw new CommandError("invalid_arguments", "This command needs the number of a tab (tabId).");
  }
  if (!alive.has(tabId)) await getTab(tabId);
  if (alive.get(tabId)) refuseExtensionPage();
  return tabId;
}

/** @param {number} tabId */
export async function getTab(tabId) {
  try {
    const tab = await chrome.tabs.get(tabId);
    noteTab(tab);
    return tab;
  } catch {
    alive.delete(tabId);
    throw new CommandError("tab_not_found", `There is no tab ${tabId}.`);
  }
}

/** @param {number} tabId */
export async function pageResult(tabId) {
  const { url, title, status } = describe(await getTab(tabId));
  return { tabId, url, title, status };
}

// Which site a tab is on. The server allows a command for one site, so the command must not run on
// a page that the tab has navigated to in the meantime.

const WEB = new Set(["http:", "https:"]);
const OPAQUE = "opaque";
/** @type {TabhubReason} */
const MOVED = "tab_url_mismatch";

/** @type {Map<number, string>} as far as we have seen navigations */
const sites = new Map();
/** @type {Map<number, string>} the sites of pages that are still loading */
const coming = new Map();

/**
 * In the server's form: the host, with the port unless it is the default one; empty for a blank
 * tab.
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
 * A sandboxed document has no origin, but its URL shows which site it is from.
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

/** An earlier worker saw the navigations. */
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
 * @param {string | undefined} site undefined: any site
 */
export async function requireSite(tabId, site) {
  if (site === undefined || sites.get(tabId) === site) return;
  // Not every page is reported: one that could not be loaded is not.
  const { url, pendingUrl } = await getTab(tabId);
  // Before its first page has loaded, a tab counts as being where it is going: that is what the
  // server knows.
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
 * The same check without awaiting, for the last moment before acting.
 * @param {number} tabId
 * @param {string | undefined} site
 */
export function requireKnownSite(tabId, site) {
  if (site !== undefined && sites.get(tabId) !== site) throw moved();
}

/**
 * The same check in the middle of an action, which must not be continued on another site. A page
 * that is loading may be shown before its event arrives, so it counts already.
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

register({
  name: "sites",
  restore: learnSites,
  forget: forgetSite,
  navigating: siteComing,
  stayed: siteStays,
  committed: siteCommitted,
  // A blank tab counts as unknown.
  describe: () => [...sites].filter(([, site]) => site),
});
