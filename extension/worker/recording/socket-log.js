/** The WebSockets of a tab: each is a request with frames. */

import { Ring } from "./ring-buffer.js";
import { siteOf } from "../shared/known-tabs.js";
import { clip } from "../shared/clip.js";

const MOST_BYTES = 5_000_000;
const ENTRY_BYTES = 200;
const PAYLOAD_LENGTH = 20_000;
const TEXT = 1;

/** @typedef {Wire.SocketFrame} SocketFrame */

export class SocketLog {
  #network;
  #ring;

  /**
   * @param {number} most
   * @param {import("./network-log.js").NetworkLog} network
   */
  constructor(most, network) {
    this.#ring = /** @type {Ring<SocketFrame>} */ (new Ring(most, MOST_BYTES));
    this.#network = network;
  }

  get entries() {
    return this.#ring.entries;
  }

  get dropped() {
    return this.#ring.dropped;
  }

  clear() {
    this.#ring.clear();
  }

  /**
   * @param {import("./console-log.js").Place} place
   * @param {string} method
   * @param {any} params
   */
  event(place, method, params) {
    const { requestId, response, timestamp } = params;
    if (method === "Network.webSocketCreated") this.#created(place, params);
    const entry = this.#network.current(requestId);
    if (!entry || entry.type !== "websocket") return;
    if (method === "Network.webSocketWillSendHandshakeRequest") greet(entry, params, place);
    if (method === "Network.webSocketHandshakeResponseReceived") meet(entry, response);
    if (method === "Network.webSocketFrameSent") this.#frame(entry, "sent", timestamp, response);
    if (method === "Network.webSocketFrameReceived")
      this.#frame(entry, "received", timestamp, response);
    if (method === "Network.webSocketFrameError") entry.failed = String(params.errorMessage);
    if (method === "Network.webSocketClosed") this.#network.end(requestId);
  }

  /**
   * @param {import("./console-log.js").Place} place
   * @param {any} params
   */
  #created({ session, page, home }, { requestId, url }) {
    const request = {
      url,
      method: "GET",
      type: "websocket",
      started: Date.now(),
      page,
      site: home,
    };
    this.#network.begin(session, requestId, request);
  }

  /**
   * @param {import("./network-log.js").Request} entry
   * @param {"sent" | "received"} direction
   * @param {number} timestamp
   * @param {any} response
   */
  #frame({ requestId, url, site }, direction, timestamp, { opcode, payloadData }) {
    const { wallOffset } = this.#network;
    const time = wallOffset ? Math.round((timestamp + wallOffset) * 1000) : Date.now();
    const data = clip(payloadData, PAYLOAD_LENGTH);
    const { length } = payloadData;
    const frame = { requestId, url, direction, time, opcode, data, base64: opcode !== TEXT };
    this.#ring.put({ ...frame, length, site }, ENTRY_BYTES + 2 * data.length);
  }
}

/**
 * @param {import("./network-log.js").Request} entry
 * @param {any} params
 * @param {import("./console-log.js").Place} place
 */
function greet(entry, { request, wallTime }, place) {
  entry.requestHeaders = Object.entries(request.headers);
  if (wallTime) entry.started = Math.round(wallTime * 1000);
  // The socket belongs to its frame, which need not be the main frame.
  const origin = request.headers.Origin;
  if (origin) entry.site = siteOfSocket(origin, place);
}

/**
 * A sandboxed frame has no origin, but a session of its own.
 * @param {string} origin
 * @param {import("./console-log.js").Place} place
 */
function siteOfSocket(origin, { session, home }) {
  return origin === "null" && session !== undefined ? home : siteOf(origin);
}

/**
 * @param {import("./network-log.js").Request} entry
 * @param {any} response
 */
function meet(entry, { status, statusText, headers }) {
  Object.assign(entry, { status, statusText, responseHeaders: Object.entries(headers) });
}
