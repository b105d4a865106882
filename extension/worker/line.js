/** One connection to the server. What came on it is answered on it, or not at all. */

import * as rpc from "./rpc.js";

const MAX_BYTES = 10 * 1024 * 1024;

export class Line {
  #socket;
  #nextId = 1;
  /** The largest message the server takes. */
  maxBytes = MAX_BYTES;
  onClosed = () => {};

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
  }

  get isOpen() {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  close() {
    this.#socket.close();
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    return this.#send(rpc.call(method, params));
  }

  /**
   * A request whose answer carries nothing we need.
   * @param {string} method
   * @param {object} params
   */
  tell(method, params) {
    return this.#send(rpc.call(method, params, this.#nextId++));
  }

  /**
   * @param {string | number} id
   * @param {unknown} result
   */
  answer(id, result) {
    return this.#send(rpc.success(id, result));
  }

  /**
   * @param {string | number} id
   * @param {object} error
   */
  refuse(id, error) {
    return this.#send(rpc.failure(id, error));
  }

  /**
   * @param {string} text
   * @returns {boolean} false when it is larger than the link carries: the server would hang up
   */
  #send(text) {
    if (isLarger(text, this.maxBytes)) return false;
    if (this.isOpen) this.#socket.send(text);
    return true;
  }
}

/**
 * @param {string} text
 * @param {number} bytes
 */
function isLarger(text, bytes) {
  if (text.length * 3 <= bytes) return false;
  return new TextEncoder().encode(text).length > bytes;
}
