/** Waiting until a page has loaded, by events. */

import { openLogin } from "../debugger/logins.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { getTab } from "../shared/known-tabs.js";
import { lastFailure, watchLoads } from "../shared/tab-events.js";
import { clip, URL_LENGTH } from "../shared/clip.js";
import { within } from "../shared/timing.js";

export const BLANK = "about:blank";
const ABORTED = "net::ERR_ABORTED";
const ABORT_GRACE_MS = 250;
const BLANK_MS = 5000;

/**
 * @typedef {object} Progress
 * @property {(step: "committed" | "dom" | "complete") => void} [progress]
 * @property {boolean} [ignoresBlank] the tab is blank and navigates to another page
 */

/** Follows the steps of one load until it completes, fails or is stopped. */
export class LoadWait {
  #committed = false;
  #started = false;
  /** @type {PromiseWithResolvers<boolean>} */
  #end = Promise.withResolvers();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #grace;
  #tabId;
  #unwatch;
  #progress;
  #ignoresBlank;

  /**
   * @param {number} tabId
   * @param {Progress} [options]
   */
  constructor(tabId, { progress, ignoresBlank = false } = {}) {
    this.#tabId = tabId;
    this.#progress = progress;
    this.#ignoresBlank = ignoresBlank;
    this.#unwatch = watchLoads(tabId, (event) => this.#step(event));
    // A load may end before anything waits for it.
    this.#end.promise.catch(() => {});
  }

  /**
   * @param {number} timeoutMs
   * @returns {Promise<boolean>} false when the time ran out first, or the wait was left
   */
  async within(timeoutMs) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs, false)));
    try {
      return await Promise.race([this.#end.promise, late]);
    } finally {
      clearTimeout(timer);
      this.stop();
    }
  }

  stop() {
    clearTimeout(this.#grace);
    this.#unwatch();
  }

  /** @param {unknown} error */
  fail(error) {
    this.#end.reject(error);
  }

  /** For a tab whose load was under way before we watched. */
  assumeCommitted() {
    this.#committed = true;
  }

  finish() {
    this.#end.resolve(true);
  }

  /** Ends the wait without a failure. */
  leave() {
    this.#end.resolve(false);
  }

  /** @param {import("../shared/tab-events.js").LoadEvent} event */
  #step(event) {
    if (this.#ignoresBlank && event.url === BLANK) return;
    if (event.step === "started") this.#begin();
    else if (event.step === "failed") this.#failed(event);
    else if (event.step === "moved") this.#moved();
    else this.#advance(event.step);
  }

  #begin() {
    clearTimeout(this.#grace);
    this.#started = true;
    this.#committed = false;
  }

  /** @param {"committed" | "dom" | "complete"} step */
  #advance(step) {
    if (step === "committed") this.#committed = true;
    if (!this.#committed) return;
    this.#progress?.(step);
    if (step === "complete") this.finish();
  }

  #moved() {
    // A page that changes its own URL while it loads has not finished loading.
    if (!this.#started) this.finish();
  }

  /** @param {import("../shared/tab-events.js").LoadEvent} event */
  #failed({ url, error = "" }) {
    const fail = () => this.fail(loadError(url, error));
    if (error !== ABORTED) return fail();
    // It may have been the navigation before this one, or another one takes over in a moment.
    clearTimeout(this.#grace);
    this.#grace = setTimeout(async () => {
      if (!(await isLoading(this.#tabId))) fail();
    }, ABORT_GRACE_MS);
  }
}

/** @param {number} tabId */
async function isLoading(tabId) {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  return tab?.pendingUrl !== undefined;
}

/**
 * Until the blank page is there that a tab begins with: a browser that starts a process for it can
 * be so late that it would take the place of the next page.
 * @param {number} tabId
 */
export async function blankIsThere(tabId) {
  const { promise, resolve } = Promise.withResolvers();
  const unwatch = watchLoads(tabId, ({ step }) => {
    if (step === "committed" || step === "complete") resolve(undefined);
  });
  const { pendingUrl } = await getTab(tabId);
  if (pendingUrl !== undefined) await within(BLANK_MS, promise).catch(() => {});
  unwatch();
}

/**
 * The load may have progressed or ended before we could watch it.
 * @param {LoadWait} wait
 * @param {number} tabId
 * @param {string} url
 */
export async function catchUp(wait, tabId, url) {
  const tab = await getTab(tabId);
  const failure = lastFailure(tabId);
  if (failure) return wait.fail(loadError(failure.url, failure.error ?? ""));
  if (openLogin(tabId)) return wait.leave();
  const waitsToLeaveBlank = tab.url === BLANK && url !== BLANK;
  if (!tab.url || tab.pendingUrl || waitsToLeaveBlank) return;
  wait.assumeCommitted();
  if (tab.status === "complete") wait.finish();
}

/**
 * @param {string} address
 * @param {string} error
 */
function loadError(address, error) {
  const url = clip(address, URL_LENGTH);
  return new CommandError("navigation_failed", `${quoted(url)} could not be loaded: ${error}.`, {
    url,
    netError: error,
  });
}

/** @param {unknown} error */
export function wasAborted(error) {
  return error instanceof CommandError && error.data.netError === ABORTED;
}
