/**
 * One connection to the server. A request is answered on the connection it came on, or not at all.
 */

import { CommandError } from "../shared/command-errors.js";
import { SENDERS } from "../shared/link-methods.js";
import { Correlator } from "../shared/request-correlator.js";

// Encoding and parsing JSON-RPC 2.0.

const LONE_SURROGATE = "\\ud";
const ESCAPES = /\\(?:ud[89a-f]..|.)/g;

/**
 * @typedef {{kind: "request", id: string | number, method: string, params: any}} Request
 * @typedef {{kind: "notification", method: string, params: any}} Notification
 * @typedef {{kind: "response", id: string | number, result?: any, error?: any}} Response
 */

/**
 * @param {unknown} text
 * @returns {Request | Notification | Response | null} null for anything that is not a message
 */
export function parseMessage(text) {
  const message = parseObject(text);
  if (!message || message.jsonrpc !== "2.0") return null;
  const { id, method, result, error } = message;
  const hasId = typeof id === "string" || typeof id === "number";
  if (typeof method !== "string") return hasId ? { kind: "response", id, result, error } : null;
  const params = isObject(message.params) ? message.params : {};
  if (hasId) return { kind: "request", id, method, params };
  return id === undefined ? { kind: "notification", method, params } : null;
}

/** @param {unknown} text */
function parseObject(text) {
  if (typeof text !== "string") return null;
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param {string} method
 * @param {object} params
 * @param {string | number} [id] makes it a request
 */
export function encodeCall(method, params, id) {
  return encode({ jsonrpc: "2.0", id, method, params });
}

/**
 * @param {string | number} id
 * @param {unknown} result
 */
export function encodeResult(id, result) {
  return encode({ jsonrpc: "2.0", id, result });
}

/**
 * @param {string | number} id
 * @param {object} error
 */
export function encodeError(id, error) {
  return encode({ jsonrpc: "2.0", id, error });
}

/**
 * Other JSON parsers reject half a surrogate pair, which texts of pages may contain. JSON.stringify
 * writes it as an escape, and never writes whole pairs so.
 * @param {object} message
 */
function encode(message) {
  const text = JSON.stringify(message);
  if (!text.includes(LONE_SURROGATE)) return text;
  return text.replace(ESCAPES, (escape) => (escape.startsWith(LONE_SURROGATE) ? "\ufffd" : escape));
}

const MAX_BYTES = 10 * 1024 * 1024;

export class Line {
  #socket;
  #requests = new Correlator();
  /** The largest message that the server accepts. */
  maxBytes = MAX_BYTES;
  onClosed = () => {};

  /** @param {Pick<WebSocket, "readyState" | "send" | "close">} socket a tunnel's, too */
  constructor(socket) {
    this.#socket = socket;
  }

  get isOpen() {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** @param {number} [code] */
  close(code) {
    this.#socket.close(code);
  }

  /** Must be called once it has closed, from either end. */
  ended() {
    this.#requests.failAll(closedError);
    this.onClosed();
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    return this.#send(callOf(method, params));
  }

  /**
   * Sends a request whose answer we do not need.
   * @param {string} method
   * @param {object} params
   */
  report(method, params) {
    return this.#send(callOf(method, params, this.#requests.nextId()));
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>} the server's result; fails with its error, or when the connection
   *   closes
   */
  async request(method, params) {
    if (!this.isOpen) throw closedError();
    const id = this.#requests.nextId();
    const text = callOf(method, params, id);
    const send = () => this.#send(text) || this.#requests.settle(id, tooLarge());
    return this.#requests.request(send, { id });
  }

  /** @param {Response} response */
  answered({ id, result, error }) {
    this.#requests.settle(id, error && errorOf(error), result);
  }

  /**
   * @param {string | number} id
   * @param {unknown} result
   */
  answer(id, result) {
    return this.#send(encodeResult(id, result));
  }

  /**
   * @param {string | number} id
   * @param {object} error
   */
  refuse(id, error) {
    return this.#send(encodeError(id, error));
  }

  /**
   * @param {string} text
   * @returns {boolean} false when it is larger than the link allows: the server would close the
   *   connection
   */
  #send(text) {
    if (isLarger(text, this.maxBytes)) return false;
    if (this.isOpen) this.#socket.send(text);
    return true;
  }
}

/**
 * The server accepts only the methods in the table.
 * @param {string} method
 * @param {object} params
 * @param {number} [id]
 */
function callOf(method, params, id) {
  if (!SENDERS.has(method)) throw new TypeError(`${method} is not in the table of methods`);
  return encodeCall(method, params, id);
}

/** @param {{message: unknown, data?: {reason?: TabhubReason}}} error as JSON-RPC has it */
function errorOf({ message, data }) {
  return new CommandError(data?.reason ?? "internal", String(message));
}

/** @param {string} [why] */
export function closedError(why) {
  return new CommandError("not_connected", why || "There is no connection to the server.");
}

function tooLarge() {
  return new CommandError("too_large", "The message is larger than the link carries.");
}

/**
 * @param {string} text
 * @param {number} bytes
 */
function isLarger(text, bytes) {
  if (text.length * 3 <= bytes) return false;
  return new TextEncoder().encode(text).length > bytes;
}
