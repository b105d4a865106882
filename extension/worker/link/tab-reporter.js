/** Reports the tabs to the server: all of them first, then every change. */

import { describe, listTabs, noteFocusedWindow, noteGone, noteTab } from "../shared/known-tabs.js";
import { readPairing } from "../shared/server-pairing.js";
import { register } from "../shared/tab-state.js";

/** @typedef {import("./line.js").Line} Line */
/** @typedef {(line: Line) => void} Sending */
/** @typedef {{browser: object, tabs: import("../shared/known-tabs.js").Tab[]}} Introduction */

export class TabReporter {
  /** @type {Line | null} */
  #line = null;
  /** @type {Sending[] | null} what comes while the tabs are being listed, and is not in the list */
  #held = null;
  #introduction;

  /** @param {(brief?: boolean) => Promise<Introduction>} introduction */
  constructor(introduction) {
    this.#introduction = introduction;
  }

  /** @param {Line} line */
  async opened(line) {
    /** @type {Sending[]} */
    const held = [];
    this.#held = held;
    this.#line = line;
    try {
      await this.#introduce(line);
    } catch {
      // The server knows nothing of us yet: the next connection may work.
      line.close();
    } finally {
      // A newer connection has a list of its own.
      if (this.#held === held) this.#held = null;
      held.forEach((send) => send(line));
    }
  }

  /** @param {Line} line */
  async #introduce(line) {
    const fits = line.notify("tab.syncAll", await this.#introduction());
    if (!fits) line.notify("tab.syncAll", await this.#introduction(true));
  }

  /**
   * Sends what the introduction contains too, so there is no need to send it before.
   * @param {string} method
   * @param {object} params
   * @returns {boolean | undefined} false when it is larger than the link allows
   */
  notify(method, params) {
    return this.#held ? undefined : this.#line?.notify(method, params);
  }

  /**
   * Sends what the introduction does not contain.
   * @param {string} method
   * @param {object} params
   */
  tell(method, params) {
    this.#afterIntroduction((line) => void line.notify(method, params));
  }

  /** @param {TabChange} item */
  report(item) {
    this.#afterIntroduction((line) => void line.report("tab.stateChanged", item));
  }

  /** @param {Sending} send */
  #afterIntroduction(send) {
    if (this.#held) this.#held.push(send);
    else if (this.#line) send(this.#line);
  }
}

// Collects the changes of tabs. Updates come in bursts (status, URL, title), so those of one tab
// are reported together.

const GATHER_MS = 20;

/**
 * @typedef {object} TabChange
 * @property {number} tabId
 * @property {string} state
 * @property {object} [tab]
 * @property {number} [replacedBy]
 * @property {number} [openedBy] reported once: what the server makes of it may change later
 */

export class TabChanges {
  /** @type {Set<number>} */
  #updated = new Set();
  /** @type {Map<number, number>} the tab whose page opened a tab, until it is reported */
  #openers = new Map();
  /** @type {Promise<void>} settles when every tab that is being looked up has been reported */
  #reporting = Promise.resolve();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {(change: TabChange) => void} */
  #report;

  /** @param {(change: TabChange) => void} report */
  constructor(report) {
    this.#report = report;
  }

  /** @param {chrome.tabs.Tab} tab */
  created(tab) {
    if (tab.id === undefined) return;
    noteTab(tab);
    const opener = this.#openerOf(tab.id, "opened");
    this.#report({ tabId: tab.id, state: "opened", tab: describe(tab), ...opener });
  }

  /**
   * @param {number} tabId
   * @param {chrome.tabs.OnUpdatedInfo} change
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
    await this.#reportTab(tabId, "activated");
  }

  /** @param {number} tabId */
  closed(tabId) {
    noteGone(tabId);
    this.#updated.delete(tabId);
    this.#openers.delete(tabId);
    this.#report({ tabId, state: "closed" });
  }

  /**
   * @param {number} newId
   * @param {number} oldId
   */
  async replaced(newId, oldId) {
    noteGone(oldId);
    this.#updated.delete(oldId);
    const tab = await lookUp(newId);
    this.#report({ tabId: oldId, state: "replaced", replacedBy: newId, ...(tab && { tab }) });
  }

  /** @param {number} windowId */
  async windowFocused(windowId) {
    noteFocusedWindow(windowId);
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    const [tab] = await chrome.tabs.query({ windowId, active: true });
    if (tab?.id !== undefined) await this.activated(tab.id);
  }

  /** Reports waiting changes now, so that an answer never overtakes a change it depends on. */
  async flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = [...this.#updated];
    this.#updated.clear();
    const reports = waiting.map((tabId) => this.#reportTab(tabId, "updated"));
    this.#reporting = Promise.all([this.#reporting, ...reports]).then(() => {});
    await this.#reporting;
  }

  /**
   * @param {number} tabId
   * @param {string} state
   */
  async #reportTab(tabId, state) {
    const tab = await lookUp(tabId);
    if (tab) this.#report({ tabId, state, tab, ...this.#openerOf(tabId, state) });
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

/** @param {(change: TabChange) => void} report */
export function watchTabChanges(report) {
  const changes = new TabChanges(report);
  register({
    name: "tab changes",
    // The server gets the list of tabs as soon as the link is open.
    isEarly: true,
    created: (tab) => changes.created(tab),
    updated: (tabId, change, tab) => changes.updated(tabId, change, tab),
    activated: (tabId) => changes.activated(tabId),
    windowFocused: (windowId) => changes.windowFocused(windowId),
    opened: (openerId, tabId) => changes.openedBy(tabId, openerId),
    closed: (tabId) => changes.closed(tabId),
    replaced: (newId, oldId) => changes.replaced(newId, oldId),
  });
  return changes;
}

/** @param {number} tabId */
async function lookUp(tabId) {
  try {
    return describe(await chrome.tabs.get(tabId));
  } catch {
    return undefined;
  }
}

// What the server learns about this browser when the link opens.

const STORED = "instance";

/**
 * @param {() => number} countPanels
 * @param {boolean} [brief] so that even thousands of tabs fit into one message
 */
export async function introduceBrowser(countPanels, brief = false) {
  const { userAgent } = navigator;
  const [name, version] = brandOf(userAgent);
  const kind = (await readPairing())?.isManaged ? "managed" : "personal";
  const instance = await readInstance();
  const tabs = await listTabs(brief);
  // Counted last: later changes are reported after this on the same connection.
  return { browser: { name, version, userAgent, kind, instance, panels: countPanels() }, tabs };
}

/** New for each run of the browser, like its tab numbers. */
async function readInstance() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  if (typeof stored === "string") return stored;
  const made = crypto.randomUUID();
  await chrome.storage.session.set({ [STORED]: made });
  return made;
}

/** The browser's name for a person, as in “Chrome 141”. */
export function browserName() {
  const [name, version] = brandOf(navigator.userAgent);
  return `${name} ${version.split(".")[0]}`.trim();
}

/** @param {string} userAgent */
function brandOf(userAgent) {
  const named = /\b(Edg|OPR|Vivaldi|HeadlessChrome|Chrome)\/([\d.]+)/g;
  const found = [...userAgent.matchAll(named)].map(([, name, version]) => [name, version]);
  return found.find(([name]) => name !== "Chrome") ?? found[0] ?? ["unknown", ""];
}
