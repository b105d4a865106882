/** Tabs as the link describes them. */

import { CommandError } from "./command-errors.js";
import { isExtensionPage, refuseExtensionPage } from "../guard.js";
import { clip, TITLE_LENGTH, URL_LENGTH } from "./clip.js";

const BRIEF_LENGTH = 100;

/** @typedef {Wire.Tab} Tab */

/**
 * Tabs seen alive, and whether they show a page of an extension, so that a command need not ask
 * the browser first.
 * @type {Map<number, boolean>}
 */
const alive = new Map();
/** @type {number} */
let focusedWindowId = chrome.windows.WINDOW_ID_NONE;

/** @param {number} windowId */
export function noteFocusedWindow(windowId) {
  // NONE means another program has the focus: the last window stays the person's own.
  if (windowId !== chrome.windows.WINDOW_ID_NONE) focusedWindowId = windowId;
}

/** The window the person looks at, or last did. */
export function focusedWindow() {
  return focusedWindowId;
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
 * @returns {Promise<boolean>} whether it shows a page of an extension
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

/**
 * @param {boolean} [brief]
 * @returns {Promise<Tab[]>}
 */
export async function listTabs(brief = false) {
  if (focusedWindowId === chrome.windows.WINDOW_ID_NONE) await findFocusedWindow();
  const tabs = await chrome.tabs.query({});
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
    noteFocusedWindow((await chrome.windows.getLastFocused()).id ?? focusedWindowId);
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
