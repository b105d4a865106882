/**
 * The WebSocket to the server: opens it, keeps it alive, opens it again.
 * What the messages mean is not known here.
 */

import { readIdentity } from "./identity.js";
import * as rpc from "./rpc.js";

const RETRY_EVERY_MS = 1000;
const RETRY_FOR_MS = 60_000;
const PING_EVERY_MS = 20_000;
const REPLACED = 4001;
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/**
 * @typedef {object} LinkEvents
 * @property {() => void} opened
 * @property {(message: rpc.Request | rpc.Notification) => void} received
 */

export class Link {
  /** @type {WebSocket | null} */
  #socket = null;
  #connecting = false;
  #retryUntil = 0;
  #hasOpened = false;
  #nextId = 1;
  /** @type {LinkEvents} */
  #events;

  /** @param {LinkEvents} events */
  constructor(events) {
    this.#events = events;
    setInterval(() => this.notify("ping", {}), PING_EVERY_MS);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
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

  async #connect() {
    if (this.#socket || this.#connecting) return;
    this.#connecting = true;
    const socket = await this.#openSocket();
    this.#connecting = false;
    if (!socket) return this.#retryLater();
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => this.#closed(event.code);
  }

  async #openSocket() {
    try {
      const identity = await readIdentity();
      if (!identity) return null;
      const protocols = ["tabhub", identity.secret, identity.profileId];
      return new WebSocket(`ws://127.0.0.1:${identity.port}/ws`, protocols);
    } catch {
      return null;
    }
  }

  #opened() {
    this.#hasOpened = true;
    this.#events.opened();
  }

  /** @param {number} code */
  #closed(code) {
    this.#socket = null;
    // Whoever replaced us has the same profile: coming back at once would start a fight.
    if (code === REPLACED) this.#retryUntil = 0;
    else if (this.#hasOpened) this.#retryUntil = Date.now() + RETRY_FOR_MS;
    this.#hasOpened = false;
    this.#retryLater();
  }

  #retryLater() {
    if (Date.now() < this.#retryUntil) setTimeout(() => this.#connect(), RETRY_EVERY_MS);
  }

  /** @param {unknown} data */
  #receive(data) {
    const message = rpc.parse(data);
    if (message && message.kind !== "response") this.#events.received(message);
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    this.#send(rpc.call(method, params));
  }

  /**
   * A request whose answer carries nothing we need.
   * @param {string} method
   * @param {object} params
   */
  tell(method, params) {
    this.#send(rpc.call(method, params, this.#nextId++));
  }

  /**
   * @param {string | number} id
   * @param {unknown} result
   * @returns {boolean} false when the message is larger than the link carries
   */
  answer(id, result) {
    const text = rpc.success(id, result);
    if (isTooLarge(text)) return false;
    this.#send(text);
    return true;
  }

  /**
   * @param {string | number} id
   * @param {object} error
   */
  refuse(id, error) {
    this.#send(rpc.failure(id, error));
  }

  /** @param {string} text */
  #send(text) {
    if (this.isOpen) this.#socket?.send(text);
  }
}

/** @param {string} text */
function isTooLarge(text) {
  if (text.length * 3 <= MAX_MESSAGE_BYTES) return false;
  return new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES;
}
