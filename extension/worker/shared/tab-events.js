/**
 * What happens in tabs: the steps of loading a page, and what an action leads to outside its page.
 */

import { TITLE_LENGTH, URL_LENGTH, clip } from "./clip.js";
import { register } from "./tab-state.js";
import { Observations } from "./timing.js";

/**
 * @typedef {"started" | "committed" | "dom" | "complete" | "failed" | "moved"} Step
 *   `moved` is a navigation within the document
 * @typedef {{step: Step, url: string, error?: string}} LoadEvent
 */

/**
 * Listeners by tab.
 * @template {unknown[]} [What=[]]
 */
export class TabListeners {
  /** @type {Map<number, Set<(...what: What) => void>>} */
  #sets = new Map();

  /**
   * @param {number} tabId
   * @param {(...what: What) => void} listener
   * @returns {() => void} stops listening
   */
  add(tabId, listener) {
    const set = this.#sets.get(tabId) ?? new Set();
    this.#sets.set(tabId, set.add(listener));
    return () => {
      set.delete(listener);
      if (!set.size && this.#sets.get(tabId) === set) this.#sets.delete(tabId);
    };
  }

  /** @param {number} tabId */
  has(tabId) {
    return this.#sets.has(tabId);
  }

  /**
   * @param {number} tabId
   * @param {What} what
   */
  call(tabId, ...what) {
    this.#sets.get(tabId)?.forEach((listener) => listener(...what));
  }
}

/** @type {TabListeners<[event: LoadEvent]>} */
const watchers = new TabListeners();
/** @type {TabListeners} */
const holdUps = new TabListeners();
/** @type {Map<number, string>} the URL that each tab is loading, until it is there */
const going = new Map();
/** @type {Map<number, LoadEvent>} failures that came before anything could watch the tab */
const failures = new Map();

/**
 * @param {number} tabId
 * @param {(event: LoadEvent) => void} watcher
 * @returns {() => void} stops watching
 */
export function watchLoads(tabId, watcher) {
  return watchers.add(tabId, watcher);
}

/** @param {number} tabId */
export function isWatched(tabId) {
  return watchers.has(tabId);
}

/**
 * @param {number} tabId
 * @param {() => void} listener called when a page cannot go on loading before an agent has answered
 * @returns {() => void} stops listening
 */
export function onHeldUp(tabId, listener) {
  return holdUps.add(tabId, listener);
}

/** @param {number} tabId */
export function heldUp(tabId) {
  holdUps.call(tabId);
}

/** @param {number} tabId */
export function goingTo(tabId) {
  return going.get(tabId);
}

/** @param {number} tabId */
export function lastFailure(tabId) {
  return failures.get(tabId);
}

/** The error of a navigation whose tab has closed. */
export const CLOSED = "the tab was closed";

/** @param {number} tabId */
function tabClosed(tabId) {
  publish(tabId, { step: "failed", url: "The page", error: CLOSED });
  failures.delete(tabId);
}

/**
 * @param {number} tabId
 * @param {LoadEvent} event
 */
function publish(tabId, event) {
  const { step, url } = event;
  if (step === "started") {
    failures.delete(tabId);
    going.set(tabId, url);
  }
  if (step === "failed") failures.set(tabId, event);
  if (step === "failed" || step === "committed") going.delete(tabId);
  watchers.call(tabId, event);
}

/**
 * @param {Step} step
 * @returns {(details: {tabId: number, frameId: number, url: string, error?: string}) => void}
 */
function publisher(step) {
  return ({ tabId, frameId, url, error }) => {
    if (frameId === 0) publish(tabId, { step, url, error });
  };
}

/** Must be called while the worker's script runs: listeners added later do not wake it. */
export function listenToLoads() {
  const { webNavigation } = chrome;
  webNavigation.onBeforeNavigate.addListener(publisher("started"));
  webNavigation.onCommitted.addListener(publisher("committed"));
  webNavigation.onDOMContentLoaded.addListener(publisher("dom"));
  webNavigation.onCompleted.addListener(publisher("complete"));
  webNavigation.onErrorOccurred.addListener(publisher("failed"));
  webNavigation.onHistoryStateUpdated.addListener(publisher("moved"));
  webNavigation.onReferenceFragmentUpdated.addListener(publisher("moved"));
  // For pages from the back/forward cache, only this event reports completion.
  chrome.tabs.onUpdated.addListener((tabId, { status }, { url }) => {
    if (status === "complete") publish(tabId, { step: "complete", url: url ?? "" });
  });
}

register({ name: "loads", forget: tabClosed });

// What an action leads to outside its page: tabs, downloads, file choosers, logins.

/** @typedef {import("../debugger/page-dialogs.js").Dialog} Dialog */

/** @type {Map<number, Set<Outcomes>>} by the tab in which the action runs */
const watching = new Map();
/** @type {Map<number, number>} the tab whose page has opened a tab */
const openers = new Map();

/** @param {number} tabId */
export function openerOf(tabId) {
  return openers.get(tabId);
}

export class Outcomes {
  /** @type {Observations<"opened" | "download" | "chooser" | "login">} */
  #seen = new Observations();
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    watching.set(tabId, (watching.get(tabId) ?? new Set()).add(this));
  }

  stop() {
    const set = watching.get(this.#tabId);
    set?.delete(this);
    if (!set?.size) watching.delete(this.#tabId);
  }

  /**
   * @param {"opened" | "download" | "chooser" | "login"} name
   * @param {unknown} what
   */
  note(name, what) {
    this.#seen.note(name, what);
  }

  /**
   * @param {number} ms
   * @param {"opened" | "download" | "chooser" | "login"} name
   */
  until(ms, name) {
    return this.#seen.until(ms, name);
  }

  /** @returns {{opened?: number, download?: Wire.BegunDownload, chooser?: Dialog, login?: Dialog}} */
  get found() {
    const get = this.#seen.get.bind(this.#seen);
    const [opened, download] = [get("opened"), get("download")];
    return { opened, download, chooser: get("chooser"), login: get("login") };
  }
}

/**
 * @param {number} openerId
 * @param {number} tabId
 */
function tabOpened(openerId, tabId) {
  openers.set(tabId, openerId);
  watching.get(openerId)?.forEach((outcomes) => outcomes.note("opened", tabId));
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function downloadEvent(tabId, _, method, params) {
  if (method !== "Page.downloadWillBegin") return;
  const name = clip(String(params.suggestedFilename || "file"), TITLE_LENGTH);
  const download = { name, url: clip(String(params.url), URL_LENGTH) };
  watching.get(tabId)?.forEach((outcomes) => outcomes.note("download", download));
}

/**
 * @param {number} tabId
 * @param {import("../debugger/page-dialogs.js").Dialog} chooser
 */
export function chooserOpened(tabId, chooser) {
  watching.get(tabId)?.forEach((outcomes) => outcomes.note("chooser", chooser));
}

/**
 * @param {number} tabId
 * @param {Dialog} login
 */
export function loginAsked(tabId, login) {
  watching.get(tabId)?.forEach((outcomes) => outcomes.note("login", login));
  heldUp(tabId);
}

register({
  name: "outcomes of an action",
  event: downloadEvent,
  opened: tabOpened,
  forget: (tabId) => void openers.delete(tabId),
});
