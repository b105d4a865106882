/**
 * The requests a page's scripts have under way (fetch, XMLHttpRequest). The browser tells of them
 * only while it is asked to, because telling slows a busy page down.
 */

import { childrenOf } from "./debugger/child-sessions.js";
import { sendTo } from "./debugger/debugger.js";
import { dropNetwork, useNetwork } from "./debugger/network-events.js";
import { register } from "./shared/tab-state.js";

const SCRIPTED = new Set(["Fetch", "XHR"]);
/** A page need not read the body of what it fetched; then no end of it is ever told. */
const UNREAD_MS = 150;

/** @type {Map<number, Requests>} */
const watching = new Map();

export class Requests {
  /** @type {Map<string, ReturnType<typeof setTimeout> | undefined>} by id, with its last limit */
  #open = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #tabId;
  #inFrames = false;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
  }

  /** @param {boolean} inFrames whether frames in other processes are to be watched as well */
  async start(inFrames) {
    this.#inFrames = inFrames;
    watching.set(this.#tabId, this);
    await useNetwork(this.#tabId, this, { children: inFrames });
  }

  stop() {
    if (this.#isWatching) watching.delete(this.#tabId);
    dropNetwork(this.#tabId, this);
  }

  get #isWatching() {
    return watching.get(this.#tabId) === this;
  }

  /** @returns {(string | undefined)[]} the sessions that are watched */
  get #sessions() {
    if (!this.#inFrames) return [undefined];
    const frames = childrenOf(this.#tabId).filter(({ type }) => type === "iframe");
    return [undefined, ...frames.map(({ session }) => session)];
  }

  /** @param {string | undefined} session */
  minds(session) {
    return this.#sessions.includes(session);
  }

  /**
   * @param {string} id
   * @param {string} type
   */
  began(id, type) {
    if (SCRIPTED.has(type)) this.#open.set(id, undefined);
  }

  /** @param {string} id */
  answered(id) {
    if (!this.#open.has(id)) return;
    clearTimeout(this.#open.get(id));
    this.#open.set(
      id,
      setTimeout(() => this.ended(id), UNREAD_MS),
    );
  }

  /** @param {string} id */
  ended(id) {
    clearTimeout(this.#open.get(id));
    this.#open.delete(id);
    if (!this.#open.size) this.#waiting.forEach((end) => end());
  }

  /**
   * @param {number} ms
   * @returns {Promise<boolean>} whether there was anything to wait for
   */
  async rest(ms) {
    if (!this.#isWatching) return false;
    /** @type {PromiseWithResolvers<boolean>} */
    const { promise, resolve } = Promise.withResolvers();
    const end = () => resolve(true);
    const timer = setTimeout(end, ms);
    this.#waiting.add(end);
    void this.#toldAll().then(() => this.#open.size || resolve(false));
    const waited = await promise;
    this.#waiting.delete(end);
    clearTimeout(timer);
    return waited;
  }

  /** What has happened so far is told before this is answered. */
  async #toldAll() {
    const fences = this.#sessions.map((session) =>
      sendTo(this.#tabId, session, "Runtime.evaluate", { expression: "0" }).catch(() => {}),
    );
    await Promise.all(fences);
  }
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function requestEvent(tabId, session, method, params) {
  const requests = watching.get(tabId);
  if (!requests?.minds(session)) return;
  if (method === "Network.requestWillBeSent") requests.began(params.requestId, params.type);
  if (method === "Network.responseReceived") requests.answered(params.requestId);
  if (method === "Network.dataReceived") requests.answered(params.requestId);
  if (method === "Network.loadingFinished") requests.ended(params.requestId);
  if (method === "Network.loadingFailed") requests.ended(params.requestId);
}

register({
  name: "requests of an action",
  after: ["children"],
  event: requestEvent,
  lost: (tabId) => watching.delete(tabId),
});
