/** The connection to the server: one WebSocket per origin, which is reopened when it closes. */

import { inStore, isProof } from "./pairing.js";
import { newTabId } from "./tabid.js";

const PROTOCOL = "tabhub-page";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** @typedef {import("./pagekit.d.ts").Status} Status */
/** @typedef {(params: any) => Promise<any> | void} Method */

/**
 * @param {string} url
 * @param {Record<string, Method>} methods that the server may call
 * @param {(status: Status) => void} report called with each new status
 */
export function connection(url, methods, report) {
  /** @type {WebSocket | null} */
  let socket = null;
  let isAccepted = false;
  let waitMs = FIRST_WAIT_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {import("./pairing.js").Pairing | undefined} */
  let pairing;
  let challenge = "";

  /** Connects now, also if the next attempt is due later. */
  function open() {
    if (socket) return;
    clearTimeout(timer);
    socket = new WebSocket(url, [PROTOCOL]);
    socket.onopen = greet;
    socket.onmessage = ({ data }) => receive(JSON.parse(data));
    socket.onclose = closed;
  }

  async function greet() {
    // A browser that blocks the storage asks the person again when the worker has ended.
    pairing = await inStore((store) => store.get(url)).catch(() => pairing);
    challenge = newTabId();
    notify("page/hello", { id: pairing?.id, challenge });
  }

  /** @type {Record<string, Method>} */
  const own = {
    "page/paired": (given) => {
      pairing = given;
      return inStore((store) => store.put(given, url)).catch(() => {});
    },
    "page/proof": async ({ proof }) => {
      const { key, token } = /** @type {import("./pairing.js").Pairing} */ (pairing);
      // Another program may have the server's port, and must not get the token.
      if (await isProof(proof, `${new URL(url).port}:${challenge}:${key}`))
        notify("page/token", { token });
      else socket?.close();
    },
    ...methods,
  };

  /** @param {{reason: string}} event */
  function closed({ reason }) {
    socket = null;
    isAccepted = false;
    timer = setTimeout(open, waitMs * (0.5 + Math.random() / 2));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    report({ state: "waiting", message: reason || "No tabhub server answers." });
  }

  /** @param {any} message */
  async function receive({ id, method, params }) {
    const from = socket;
    if (method === "page/ready") {
      isAccepted = true;
      waitMs = FIRST_WAIT_MS;
    }
    try {
      const result = await own[method]?.(params);
      if (id) write({ id, result }, from);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      write({ id, error: { code: -32000, message, data: { reason: message } } }, from);
    }
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  function notify(method, params) {
    write({ method, params });
  }

  /**
   * @param {object} message
   * @param {WebSocket | null} [to]
   */
  function write(message, to = socket) {
    if (to?.readyState === 1) to.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  return {
    open,

    /**
     * Sends a notification, if the server has accepted the page.
     * @param {string} method
     * @param {object} params
     */
    send(method, params) {
      if (isAccepted) notify(method, params);
    },
  };
}

/**
 * The error of a call that was not carried out; its message is the reason.
 * @type {(reason: TabhubReason) => Error}
 */
export const refusal = Error;
