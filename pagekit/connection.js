/** The one WebSocket of an origin: JSON-RPC, opened again whenever it closes. */

import { on } from "./events.js";

const PROTOCOL = "tabhub-page";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** @typedef {import("./pagekit.d.ts").Status} Status */
/** @typedef {(params: any) => Promise<any> | void} Method */

export class Line {
  /** @type {WebSocket | null} */
  #socket = null;
  #isWelcome = false;
  #wait = FIRST_WAIT_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #url;
  #methods;
  #say;

  /**
   * @param {string} url
   * @param {Record<string, Method>} methods what the server may ask for
   * @param {(status: Status) => void} say
   */
  constructor(url, methods, say) {
    this.#url = url;
    this.#methods = methods;
    this.#say = say;
  }

  /** Now, and not when the waiting is over. */
  open() {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.#url, [PROTOCOL]));
    on(socket, "message", ({ data }) => this.#hear(socket, JSON.parse(data)));
    on(socket, "close", ({ reason }) => this.#closed(reason));
  }

  /** The server has taken us in: it may be told things, and the next break is a new one. */
  welcomed() {
    this.#isWelcome = true;
    this.#wait = FIRST_WAIT_MS;
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  tell(method, params) {
    if (this.#isWelcome) send(this.#socket, { method, params });
  }

  /** @param {string} reason */
  #closed(reason) {
    this.#socket = null;
    this.#isWelcome = false;
    const wait = this.#wait * (0.5 + Math.random() / 2);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.#say({ state: "waiting", message: reason || "No tabhub server answers." });
    this.#timer = setTimeout(() => this.open(), wait);
  }

  /**
   * @param {WebSocket} socket
   * @param {any} message
   */
  async #hear(socket, { id, method, params }) {
    try {
      const result = await this.#methods[method]?.(params);
      if (id) send(socket, { id, result });
    } catch (error) {
      const data = { reason: error instanceof Refusal ? error.message : "internal" };
      send(socket, { id, error: { code: -32000, message: String(error), data } });
    }
  }
}

/**
 * @param {WebSocket | null} socket
 * @param {object} message
 */
function send(socket, message) {
  if (socket?.readyState === 1) socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

/** Says why a call was not carried out: a reason word that the server knows. */
export class Refusal extends Error {}
