/**
 * The debugger's network events of a tab, enabled only while something needs them, because they
 * slow a busy page down; several users share them.
 */

import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { childrenOf, dropChildren, useChildren } from "./child-sessions.js";
import { sendTo } from "./debugger.js";

/**
 * Durable: bodies are kept when the page navigates. Browsers that do not know the option ignore it.
 */
const BODIES = {
  maxTotalBufferSize: 50_000_000,
  maxResourceBufferSize: 10_000_000,
  enableDurableMessages: true,
};
/** A frame that goes away never answers earlier requests. */
const CHILD_MS = 2000;
const NO_BODIES = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };

/**
 * @typedef {object} Need
 * @property {boolean} [bodies] whether the browser is to keep response bodies
 * @property {boolean} [children] whether frames in other processes and workers are included
 */

class NetworkUse {
  /** @type {Map<unknown, Need>} */
  #needs = new Map();
  /** @type {Map<string | undefined, {bodies: boolean, done: Promise<unknown>}>} by session */
  #enabled = new Map();
  #tabId;

  /** @param {number} tabId */
  constructor(tabId) {
    this.#tabId = tabId;
  }

  get isNeeded() {
    return this.#needs.size > 0;
  }

  /** The users that outlast a command. */
  get users() {
    return [...this.#needs.keys()].filter((user) => typeof user === "string").sort();
  }

  /** @param {keyof Need} what */
  #anyone(what) {
    return [...this.#needs.values()].some((need) => need[what]);
  }

  /**
   * @param {unknown} user
   * @param {Need} need
   */
  async use(user, need) {
    this.#needs.set(user, need);
    this.enable(undefined);
    if (need.children) await useChildren(this.#tabId, this);
    if (need.children) childrenOf(this.#tabId).forEach(({ session }) => this.enable(session));
    await Promise.all([...this.#enabled.values()].map(({ done }) => done));
  }

  /** @param {unknown} user */
  drop(user) {
    if (!this.#needs.delete(user)) return;
    if (!this.isNeeded) this.#disableAll();
    if (!this.#anyone("children")) dropChildren(this.#tabId, this);
  }

  /** @param {string | undefined} session */
  enable(session) {
    this.#forgetGone();
    const bodies = this.#anyone("bodies");
    const before = this.#enabled.get(session);
    if (before && (before.bodies || !bodies)) return;
    const done = this.#order(session, "Network.enable", bodies ? BODIES : NO_BODIES);
    this.#enabled.set(session, { bodies, done });
  }

  enableAgain() {
    this.#enabled.clear();
    this.enable(undefined);
  }

  #forgetGone() {
    const alive = new Set(childrenOf(this.#tabId).map((child) => child.session));
    for (const session of this.#enabled.keys()) {
      if (session !== undefined && !alive.has(session)) this.#enabled.delete(session);
    }
  }

  #disableAll() {
    for (const session of this.#enabled.keys()) void this.#order(session, "Network.disable");
    this.#enabled.clear();
  }

  /**
   * @param {string | undefined} session
   * @param {string} method
   * @param {object} [params]
   */
  #order(session, method, params) {
    const ordered = sendTo(this.#tabId, session, method, params);
    return (session === undefined ? ordered : within(CHILD_MS, ordered)).catch(() => {});
  }
}

/** @type {Map<number, NetworkUse>} */
const networkUses = new Map();

/**
 * Settles when the browser reports everything that begins from now on.
 * @param {number} tabId with the debugger on it
 * @param {unknown} user
 * @param {Need} need
 */
export async function useNetwork(tabId, user, need) {
  const use = networkUses.get(tabId) ?? new NetworkUse(tabId);
  networkUses.set(tabId, use);
  await use.use(user, need);
}

/**
 * @param {number} tabId
 * @param {unknown} user
 */
export function dropNetwork(tabId, user) {
  const use = networkUses.get(tabId);
  use?.drop(user);
  if (!use?.isNeeded) networkUses.delete(tabId);
}

register({
  name: "network",
  after: ["children"],
  child: ({ tabId, session }) => networkUses.get(tabId)?.enable(session),
  lost: (tabId) => networkUses.delete(tabId),
  returned: (tabId) => networkUses.get(tabId)?.enableAgain(),
  describe: () =>
    [...networkUses].flatMap(([tabId, { users }]) => (users.length ? [[tabId, users]] : [])),
});

// The requests that a page's scripts have under way (fetch, XMLHttpRequest).

const SCRIPTED = new Set(["Fetch", "XHR"]);
/** A page need not read the body of a response; then its end is never reported. */
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

  /** How many are open. */
  get size() {
    return this.#open.size;
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
    void this.#allReported().then(() => this.#open.size || resolve(false));
    const waited = await promise;
    this.#waiting.delete(end);
    clearTimeout(timer);
    return waited;
  }

  /** The browser reports everything up to now before it answers this. */
  async #allReported() {
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
