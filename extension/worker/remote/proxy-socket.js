/**
 * The WebSocket to the proxy: opens it, proves who this browser is, notices when it is dead, opens it
 * again. It does not know what the clients want.
 */

import { Line, parseMessage } from "../link/line.js";
import { socketAddress } from "../shared/remote-settings.js";

const AUTHENTICATE = "proxy:1";
/** The largest message that the proxy takes. */
const MAX_BYTES = 10_000_000;
/** The proxy says something every 20 s. */
const SILENT_MS = 60_000;
const CHECK_MS = 10_000;
const LASTING_MS = 60_000;
const SHORTEST_MS = 1000;
const LONGEST_MS = 60_000;
/** Another browser has this profile's id: the two would replace each other forever. */
const REPLACED_MS = 5 * 60_000;
const REPLACED = 4001;
const BAD_TOKEN = 4401;
const STORED = "remoteRetry";
/** @type {Retry} */
const AT_ONCE = { tries: 0, at: 0, address: 0 };

/** @typedef {import("../shared/remote-settings.js").Service} Service */
/** @typedef {import("../link/line.js").Request} Request */
/** @typedef {import("../link/line.js").Notification} Notification */

/**
 * @typedef {object} Retry
 * @property {number} tries how often it has failed
 * @property {number} at when to try again
 * @property {number} address which of the service's addresses is next
 */

/**
 * @typedef {object} Terms
 * @property {() => Promise<Service | null>} service null: there is nothing to connect to
 * @property {() => Promise<{name: string, profile_id: string}>} describe this browser
 * @property {(line: Line) => (message: Request | Notification) => void} begin called when the proxy
 *   has let us in
 * @property {(code: number) => void} closed
 * @property {(token: string, why: string) => void} refused the proxy does not take the token
 * @property {() => void} changed the state is another one
 */

export class ProxySocket {
  /** @type {"closed" | "connecting" | "open"} */
  state = "closed";
  /** The host that it is connected to, or was last. */
  host = "";
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Service | null} what the socket was opened with */
  #service = null;
  /** @type {Promise<void> | null} */
  #connecting = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #heardAt = 0;
  /** When the proxy let us in; infinite: not yet, or it is known to last. */
  #openedAt = Infinity;
  #why = "";
  #terms;

  /** @param {Terms} terms */
  constructor(terms) {
    this.#terms = terms;
    setInterval(() => this.#check(), CHECK_MS);
  }

  /** One attempt, if there is no connection and it is time. */
  rescue() {
    if (this.#socket) return;
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = null));
    void this.#connecting;
  }

  /** The service or the token may have changed. */
  async reconsider() {
    await this.#connecting;
    const service = await this.#terms.service();
    if (this.#socket && isSame(service, this.#service)) return;
    this.#drop(1000);
    await saveRetry(AT_ONCE);
    this.rescue();
  }

  /** @param {number} code */
  #drop(code) {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = null;
    socket.close(code === 1000 ? 1000 : 4000);
    this.#enter("closed");
    this.#terms.closed(code);
  }

  async #connect() {
    clearTimeout(this.#timer);
    const { address, at } = await readRetry();
    const service = await this.#terms.service();
    if (!service) return;
    const left = at - Date.now();
    if (left > 0) return this.#retryIn(left);
    const url = /** @type {URL} */ (socketAddress(service.urls[address % service.urls.length]));
    this.#service = service;
    this.host = url.host;
    this.#attend(new WebSocket(url), service);
  }

  /**
   * @param {WebSocket} socket
   * @param {Service} service
   */
  #attend(socket, service) {
    this.#socket = socket;
    this.#heardAt = Date.now();
    this.#openedAt = Infinity;
    this.#why = "";
    this.#enter("connecting");
    const line = new Line(socket);
    line.maxBytes = MAX_BYTES;
    /** @type {((message: Request | Notification) => void) | null} */
    let receive = null;
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket) return;
      this.#heardAt = Date.now();
      const message = parseMessage(data);
      if (message?.kind === "response") this.#why = String(message.error?.message ?? "");
      else if (message?.kind === "request" && message.id === AUTHENTICATE)
        void this.#prove(line, service);
      else if (message?.method === "authenticated") receive ??= this.#opened(line, socket);
      else if (message) receive?.(message);
    };
    socket.onclose = ({ code }) => this.#closed(socket, code, service);
  }

  /**
   * @param {Line} line
   * @param {Service} service
   */
  async #prove(line, { token }) {
    line.answer(AUTHENTICATE, { ...(await this.#terms.describe()), accessToken: token });
  }

  /**
   * @param {Line} line
   * @param {WebSocket} socket
   */
  #opened(line, socket) {
    const receive = this.#terms.begin(line);
    if (this.#socket === socket) this.#enter("open");
    this.#openedAt = Date.now();
    return receive;
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   * @param {Service} service
   */
  #closed(socket, code, service) {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#enter("closed");
    this.#terms.closed(code);
    if (code === BAD_TOKEN) return this.#terms.refused(service.token, this.#why);
    void this.#retryLater(code);
  }

  /** @param {number} code */
  async #retryLater(code) {
    const { tries, address } = await readRetry();
    const pause = code === REPLACED ? REPLACED_MS : pauseAfter(tries);
    await saveRetry({ tries: tries + 1, at: Date.now() + pause, address: address + 1 });
    this.#retryIn(pause);
  }

  /** @param {number} ms */
  #retryIn(ms) {
    clearTimeout(this.#timer);
    // If this worker is stopped before, the next one reads when it is time.
    this.#timer = setTimeout(() => this.rescue(), ms);
  }

  #check() {
    if (!this.#socket) return;
    // A connection may be dead without any end of it being told.
    if (Date.now() - this.#heardAt >= SILENT_MS) {
      this.#drop(4000);
      void this.#retryLater(0);
    } else if (Date.now() - this.#openedAt >= LASTING_MS) void this.#lasts();
  }

  /** Earlier failures count no longer. One that closes soon after it has opened is a failure too. */
  async #lasts() {
    this.#openedAt = Infinity;
    await saveRetry({ ...(await readRetry()), tries: 0 });
  }

  /** @param {ProxySocket["state"]} state */
  #enter(state) {
    this.state = state;
    this.#terms.changed();
  }
}

/**
 * Anything between nothing and a limit that doubles: browsers that lost the same node must not come
 * back in the same moment.
 * @param {number} tries
 */
export function pauseAfter(tries) {
  return Math.random() * Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(tries, 10));
}

/** @returns {Promise<Retry>} */
async function readRetry() {
  const stored = /** @type {any} */ ((await chrome.storage.session.get(STORED))[STORED]);
  const { tries, at, address } = stored ?? {};
  return { tries: Number(tries) || 0, at: Number(at) || 0, address: Number(address) || 0 };
}

/** @param {Retry} retry */
async function saveRetry(retry) {
  await chrome.storage.session.set({ [STORED]: retry });
}

/**
 * @param {Service | null} a
 * @param {Service | null} b
 */
function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
