/**
 * The requests a page's scripts have under way (fetch, XMLHttpRequest). The browser tells of them
 * only while it is asked to, because telling slows a busy page down.
 */

import { send, sendTo } from "./debugger.js";

const SCRIPTED = new Set(["Fetch", "XHR"]);
/** A page need not read the body of what it fetched; then no end of it is ever told. */
const UNREAD_MS = 150;
/** Nobody asks for bodies here. */
const NO_BODIES = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };
const FRAMES = {
  autoAttach: true,
  waitForDebuggerOnStart: false,
  flatten: true,
  filter: [{ type: "iframe" }],
};

/** @type {Map<number, Requests>} */
const watching = new Map();

export class Requests {
  /** @type {Map<string, ReturnType<typeof setTimeout> | undefined>} by id, with its last limit */
  #open = new Map();
  /** @type {Map<string | undefined, Promise<unknown>>} sessions of the tab and of its frames */
  #sessions = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
    watching.set(tabId, this);
  }

  /** @param {boolean} inFrames whether frames in other processes are to be watched as well */
  async start(inFrames) {
    this.#watch(undefined);
    if (inFrames) await sendTo(this.#tabId, undefined, "Target.setAutoAttach", FRAMES);
    await Promise.all(this.#sessions.values());
  }

  stop() {
    if (watching.get(this.#tabId) === this) watching.delete(this.#tabId);
    if (!this.#sessions.size) return;
    void send(this.#tabId, "Network.disable").catch(() => {});
    if (this.#sessions.size === 1) return;
    const params = { ...FRAMES, autoAttach: false };
    void send(this.#tabId, "Target.setAutoAttach", params).catch(() => {});
  }

  /** @param {string | undefined} session */
  #watch(session) {
    const enabled = sendTo(this.#tabId, session, "Network.enable", NO_BODIES);
    this.#sessions.set(
      session,
      enabled.catch(() => {}),
    );
  }

  /** @param {string} session */
  attached(session) {
    this.#watch(session);
    void sendTo(this.#tabId, session, "Target.setAutoAttach", FRAMES).catch(() => {});
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
    if (!this.#sessions.size) return false;
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
    const fences = [...this.#sessions.keys()].map((session) =>
      sendTo(this.#tabId, session, "Runtime.evaluate", { expression: "0" }).catch(() => {}),
    );
    await Promise.all(fences);
  }
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {any} params
 */
export function requestEvent(tabId, method, params) {
  const requests = watching.get(tabId);
  if (!requests) return;
  if (method === "Network.requestWillBeSent") requests.began(params.requestId, params.type);
  if (method === "Network.responseReceived") requests.answered(params.requestId);
  if (method === "Network.dataReceived") requests.answered(params.requestId);
  if (method === "Network.loadingFinished") requests.ended(params.requestId);
  if (method === "Network.loadingFailed") requests.ended(params.requestId);
  if (method === "Target.attachedToTarget") requests.attached(params.sessionId);
}
