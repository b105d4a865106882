/** What an action leads to outside its page: tabs, downloads, choosers of files. */

import { Sightings } from "./sightings.js";
import { register } from "./shared/tab-state.js";
import { clip, TITLE_LENGTH } from "./shared/clip.js";

/** @typedef {import("./debugger/page-dialogs.js").Dialog} Dialog */

/** @type {Map<number, Set<Outcomes>>} by the tab that is acted on */
const watching = new Map();

export class Outcomes {
  /** @type {Sightings<"opened" | "download" | "chooser" | "login">} */
  #seen = new Sightings();
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

  /** @returns {{opened?: number, download?: string, chooser?: Dialog, login?: Dialog}} */
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
  watching.get(tabId)?.forEach((outcomes) => outcomes.note("download", name));
}

/**
 * @param {number} tabId
 * @param {import("./debugger/page-dialogs.js").Dialog} chooser
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
}

register({ name: "outcomes of an action", event: downloadEvent, opened: tabOpened });
