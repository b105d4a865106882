/**
 * Tells the server what happens to tabs.
 * Updates come in bursts (status, address, title), so those of one tab are told together.
 */

import { describe, noteFocusedWindow, noteGone, noteTab } from "./shared/known-tabs.js";

const GATHER_MS = 20;

/**
 * @typedef {object} News
 * @property {number} tabId
 * @property {string} state
 * @property {object} [tab]
 * @property {number} [replacedBy]
 * @property {number} [openedBy] told once: what the server makes of it may change later
 */

export class TabNews {
  /** @type {Set<number>} */
  #updated = new Set();
  /** @type {Map<number, number>} the tab whose page opened a tab, as long as it is not told */
  #openers = new Map();
  /** @type {Promise<void>} settles when all is told that is being looked up */
  #telling = Promise.resolve();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {(news: News) => void} */
  #tell;

  /** @param {(news: News) => void} tell */
  constructor(tell) {
    this.#tell = tell;
  }

  /** @param {chrome.tabs.Tab} tab */
  created(tab) {
    if (tab.id === undefined) return;
    noteTab(tab);
    const opener = this.#openerOf(tab.id, "opened");
    this.#tell({ tabId: tab.id, state: "opened", tab: describe(tab), ...opener });
  }

  /**
   * @param {number} tabId
   * @param {{status?: string, url?: string, title?: string, groupId?: number, discarded?: boolean}} change
   * @param {chrome.tabs.Tab} tab
   */
  updated(tabId, change, tab) {
    noteTab(tab);
    const { status, url, title, groupId, discarded } = change;
    const matters = [status, url, title, groupId, discarded].some((value) => value !== undefined);
    if (!matters) return;
    this.#updated.add(tabId);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /**
   * A page has opened a tab. (A tab's own openerTabId is set for a person's new tabs too.)
   * @param {number} tabId
   * @param {number} openerId
   */
  async openedBy(tabId, openerId) {
    this.#openers.set(tabId, openerId);
    this.#updated.add(tabId);
    await this.flush();
  }

  /** @param {number} tabId */
  async activated(tabId) {
    await this.#tellTab(tabId, "activated");
  }

  /** @param {number} tabId */
  closed(tabId) {
    noteGone(tabId);
    this.#updated.delete(tabId);
    this.#openers.delete(tabId);
    this.#tell({ tabId, state: "closed" });
  }

  /**
   * @param {number} newId
   * @param {number} oldId
   */
  async replaced(newId, oldId) {
    noteGone(oldId);
    this.#updated.delete(oldId);
    const tab = await lookUp(newId);
    this.#tell({ tabId: oldId, state: "replaced", replacedBy: newId, ...(tab && { tab }) });
  }

  /** @param {number} windowId */
  async windowFocused(windowId) {
    noteFocusedWindow(windowId);
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    const [tab] = await chrome.tabs.query({ windowId, active: true });
    if (tab?.id !== undefined) await this.activated(tab.id);
  }

  /** Tell now what is waiting, so that an answer never overtakes the news it rests on. */
  async flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = [...this.#updated];
    this.#updated.clear();
    const told = waiting.map((tabId) => this.#tellTab(tabId, "updated"));
    this.#telling = Promise.all([this.#telling, ...told]).then(() => {});
    await this.#telling;
  }

  /**
   * @param {number} tabId
   * @param {string} state
   */
  async #tellTab(tabId, state) {
    const tab = await lookUp(tabId);
    if (tab) this.#tell({ tabId, state, tab, ...this.#openerOf(tabId, state) });
  }

  /**
   * @param {number} tabId
   * @param {string} state
   */
  #openerOf(tabId, state) {
    const openedBy = this.#openers.get(tabId);
    if (openedBy === undefined || state === "activated") return {};
    this.#openers.delete(tabId);
    return { openedBy };
  }
}

/** @param {number} tabId */
async function lookUp(tabId) {
  try {
    return describe(await chrome.tabs.get(tabId));
  } catch {
    return undefined;
  }
}
