/**
 * Tells the server what happens to tabs.
 * Updates come in bursts (status, address, title), so those of one tab are told together.
 */

import { describe, noteAlive, noteFocusedWindow, noteGone } from "./tabs.js";

const GATHER_MS = 20;

/** @typedef {{tabId: number, state: string, tab?: object, replacedBy?: number}} News */

export class TabNews {
  /** @type {Set<number>} */
  #updated = new Set();
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
    noteAlive(tab.id);
    this.#tell({ tabId: tab.id, state: "opened", tab: describe(tab) });
  }

  /**
   * @param {number} tabId
   * @param {{status?: string, url?: string, title?: string, groupId?: number, discarded?: boolean}} change
   */
  updated(tabId, change) {
    noteAlive(tabId);
    const { status, url, title, groupId, discarded } = change;
    const matters = [status, url, title, groupId, discarded].some((value) => value !== undefined);
    if (!matters) return;
    this.#updated.add(tabId);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** @param {number} tabId */
  async activated(tabId) {
    await this.#tellTab(tabId, "activated");
  }

  /** @param {number} tabId */
  closed(tabId) {
    noteGone(tabId);
    this.#updated.delete(tabId);
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
    await Promise.all(waiting.map((tabId) => this.#tellTab(tabId, "updated")));
  }

  /**
   * @param {number} tabId
   * @param {string} state
   */
  async #tellTab(tabId, state) {
    const tab = await lookUp(tabId);
    if (tab) this.#tell({ tabId, state, tab });
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
