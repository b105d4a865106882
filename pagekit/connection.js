/** The connection to the server: one WebSocket per origin, which is reopened when it closes. */

import { on } from "./events.js";

const PROTOCOL = "tabhub-page";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** @typedef {import("./pagekit.d.ts").Status} Status */
/** @typedef {(params: any) => Promise<any> | void} Method */

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  #isAccepted = false;
  #waitMs = FIRST_WAIT_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #url;
  #methods;
  #report;

  /**
   * @param {string} url
   * @param {Record<string, Method>} methods that the server may call
   * @param {(status: Status) => void} report called with each new status
   */
  constructor(url, methods, report) {
    this.#url = url;
    this.#methods = methods;
    this.#report = report;
  }

  /** Connects now, also if the next attempt is due later. */
  open() {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.#url, [PROTOCOL]));
    on(socket, "message", ({ data }) => this.#receive(socket, JSON.parse(data)));
    on(socket, "close", ({ reason }) => this.#closed(reason));
  }

  /** The server accepts notifications from now on. The waiting time starts over. */
  accepted() {
    this.#isAccepted = true;
    this.#waitMs = FIRST_WAIT_MS;
  }

  /**
   * Sends a notification, if the server has accepted the page.
   * @param {string} method
   * @param {object} params
   */
  send(method, params) {
    if (this.#isAccepted) write(this.#socket, { method, params });
  }

  /** @param {string} reason */
  #closed(reason) {
    this.#socket = null;
    this.#isAccepted = false;
    const waitMs = this.#waitMs * (0.5 + Math.random() / 2);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
    this.#report({ state: "waiting", message: reason || "No tabhub server answers." });
    this.#timer = setTimeout(() => this.open(), waitMs);
  }

  /**
   * @param {WebSocket} socket
   * @param {any} message
   */
  async #receive(socket, { id, method, params }) {
    try {
      const result = await this.#methods[method]?.(params);
      if (id) write(socket, { id, result });
    } catch (error) {
      /** @type {TabhubReason} */
      const internal = "internal";
      const data = { reason: error instanceof Refusal ? error.message : internal };
      write(socket, { id, error: { code: -32000, message: String(error), data } });
    }
  }
}

/**
 * @param {WebSocket | null} socket
 * @param {object} message
 */
function write(socket, message) {
  if (socket?.readyState === 1) socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

/**
 * A call that was not carried out; its message is the reason.
 * @type {new (reason: TabhubReason) => Error}
 */
export const Refusal = class extends Error {};
