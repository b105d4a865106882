/**
 * The WebSocket to the server: opens it, keeps it alive, reopens it. It does not know what the
 * messages mean.
 */

import { readIdentity } from "../shared/server-pairing.js";
import { Line, closedError, parseMessage } from "./line.js";
import { INCOMPATIBLE, offerOf, ownEnd } from "./protocol-versions.js";
import { passFor } from "./secret-proof.js";

// A browser that replaced us on the server has the same profile id: if we reconnected at once, the
// two would replace each other forever. The worker may be stopped meanwhile, so the time is in
// session storage.

const STORED = "replacedAt";
const BACKOFF_MS = 5 * 60_000;

async function startBackoff() {
  await chrome.storage.session.set({ [STORED]: Date.now() });
}

async function endBackoff() {
  await chrome.storage.session.remove(STORED);
}

async function isBackingOff() {
  const replacedAt = Number((await chrome.storage.session.get(STORED))[STORED] ?? 0);
  return Date.now() - replacedAt < BACKOFF_MS;
}

const RETRY_EVERY_MS = 1000;
const RETRY_FOR_MS = 60_000;
const PING_EVERY_MS = 20_000;
const REPLACED = 4001;

/** @typedef {import("../shared/server-pairing.js").Identity} Identity */
/** @typedef {(message: import("./line.js").Request | import("./line.js").Notification) => void} Receiver */

export class Link {
  /** @type {Line | null} open, or about to be */
  #line = null;
  /** @type {Identity | null} what the line was opened with */
  #identity = null;
  /** @type {Promise<void> | null} */
  #connecting = null;
  #retryUntil = 0;
  #begin;
  /** @type {(code: number) => void} */
  onClosed = () => {};
  /** Why there is no connection, for the person. */
  problem = () => "";

  /** @param {(line: Line) => Receiver} begin called with every connection that opens */
  constructor(begin) {
    this.#begin = begin;
    setInterval(() => this.#line?.notify("ping", {}), PING_EVERY_MS);
  }

  get isOpen() {
    return Boolean(this.#line?.isOpen);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  async request(method, params) {
    if (!this.#line) throw closedError(this.problem());
    return this.#line.request(method, params);
  }

  /** Connect now, and keep trying for a minute. */
  start() {
    this.#retryUntil = Date.now() + RETRY_FOR_MS;
    void this.#connect();
  }

  /** One attempt, if there is no connection. */
  rescue() {
    void this.#connect();
  }

  /** The person is using this browser: connect even if another one has replaced it. */
  async insist() {
    if (this.#line) return;
    await endBackoff();
    this.start();
  }

  /** The pairing may have changed. */
  async reconsider() {
    await this.#connecting;
    const identity = await readIdentity();
    if (this.#line && isSame(identity, this.#identity)) return;
    this.#drop();
    await this.insist();
  }

  #drop() {
    const line = this.#line;
    this.#line = null;
    line?.close();
    if (line) this.#ended(line, 0);
  }

  /**
   * @param {Line} line
   * @param {number} code
   */
  #ended(line, code) {
    line.ended();
    this.onClosed(code);
  }

  async #connect() {
    if (this.#line) return;
    this.#connecting ??= this.#attempt().finally(() => (this.#connecting = null));
    await this.#connecting;
  }

  async #attempt() {
    const socket = await this.#openSocket().catch(() => null);
    if (socket) this.#attend(socket);
    else this.#retryLater();
  }

  async #openSocket() {
    if (await isBackingOff()) return null;
    const identity = await readIdentity();
    const pass = identity && (await passFor(identity));
    if (!pass) return null;
    this.#identity = identity;
    const protocols = ["tabhub", pass, identity.profileId, offerOf(ownEnd())];
    return new WebSocket(`ws://127.0.0.1:${identity.port}/ws`, protocols);
  }

  /** @param {WebSocket} socket */
  #attend(socket) {
    const line = new Line(socket);
    this.#line = line;
    socket.onopen = () => {
      const receive = this.#begin(line);
      this.#retryUntil = Infinity;
      socket.onmessage = ({ data }) => take(data, line, receive);
    };
    socket.onclose = ({ code }) => this.#closed(line, code);
  }

  /**
   * @param {Line} line
   * @param {number} code
   */
  #closed(line, code) {
    if (this.#line !== line) return;
    this.#line = null;
    this.#ended(line, code);
    if (code === REPLACED) return this.#replaced();
    // Only an update helps: one attempt per alarm is enough to notice it.
    if (code === INCOMPATIBLE) this.#retryUntil = 0;
    // It was open: the server may be back soon.
    if (this.#retryUntil === Infinity) this.#retryUntil = Date.now() + RETRY_FOR_MS;
    this.#retryLater();
  }

  #replaced() {
    this.#retryUntil = 0;
    void startBackoff();
  }

  #retryLater() {
    if (Date.now() < this.#retryUntil) setTimeout(() => this.#connect(), RETRY_EVERY_MS);
  }
}

/**
 * @param {unknown} data
 * @param {Line} line
 * @param {Receiver} receive
 */
export function take(data, line, receive) {
  const message = parseMessage(data);
  if (message?.kind === "response") line.answered(message);
  else if (message) receive(message);
}

/**
 * @param {Identity | null} a
 * @param {Identity | null} b
 */
function isSame(a, b) {
  return a?.port === b?.port && a?.secret === b?.secret;
}
