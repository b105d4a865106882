/** Both ends of the worker: a page at its port, and the server at its socket. */

/**
 * Searches the received items, and waits for more.
 * @template T
 */
class Inbox {
  /** @type {T[]} */
  items = [];
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {T} item */
  put(item) {
    this.items.push(item);
    this.#waiting.splice(0).forEach((wake) => wake());
  }

  /**
   * Takes the first item that fits.
   * @param {(item: T) => boolean} fits
   * @returns {Promise<T>}
   */
  async take(fits) {
    for (;;) {
      const index = this.items.findIndex(fits);
      if (index >= 0) return this.items.splice(index, 1)[0];
      await new Promise((wake) => this.#waiting.push(() => wake(null)));
    }
  }
}

export class Page {
  page = { url: "https://shop.example/", title: "Shop" };
  isDeaf = false;
  id = "";
  #inbox = new Inbox();
  #port;

  /** @param {import("../../pagekit/controller.js").MCPController} controller */
  constructor(controller) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#hear(data);
    controller.addPort(port2);
  }

  /**
   * @param {string} tabId
   * @param {string} [context] the window that it shares with others
   */
  async register(tabId, context) {
    this.send({ type: "REGISTER_TAB", tabId, context, ...this.page });
    this.id = (await this.received("TAB_REGISTERED")).tabId;
    return this.id;
  }

  /** @param {object} message */
  send(message) {
    this.#port.postMessage(message);
  }

  /**
   * @param {string} type
   * @param {(message: any) => boolean} [fits]
   * @returns {Promise<any>}
   */
  received(type, fits = () => true) {
    return this.#inbox.take((message) => message.type === type && fits(message));
  }

  /** @param {string} type */
  all(type) {
    return this.#inbox.items.filter((message) => message.type === type);
  }

  /** Wait until all messages sent so far are handled. */
  async settled() {
    this.#inbox.items = this.#inbox.items.filter(({ type }) => type !== "TAB_LIST_UPDATED");
    this.send({ type: "SET_ACTIVE_TAB", tabId: this.id, isShown: true, ...this.page });
    await this.received("TAB_LIST_UPDATED");
  }

  close() {
    this.#port.close();
  }

  /** @param {any} message */
  #hear(message) {
    if (message.type === "ARE_YOU_THERE" && !this.isDeaf) this.send({ type: "HERE" });
    this.#inbox.put(message);
  }
}

export class Socket {
  /** @type {Inbox<Socket>} */
  static #made = new Inbox();
  readyState = 0;
  /** @type {() => void} */
  onopen = () => {};
  /** @type {(event: {data: string}) => void} */
  onmessage = () => {};
  /** @type {(event: {reason: string}) => void} */
  onclose = () => {};
  /** @type {any[]} */
  get sent() {
    return this.#inbox.items;
  }
  /** @type {Inbox<any>} */
  #inbox = new Inbox();

  static install() {
    Socket.#made = new Inbox();
    globalThis.WebSocket = /** @type {any} */ (Socket);
  }

  /** The next socket that the worker opens, and what it says first. */
  static async opened() {
    const socket = await Socket.#made.take(() => true);
    socket.readyState = 1;
    socket.onopen();
    return { socket, hello: await socket.received("page/hello") };
  }

  constructor() {
    Socket.#made.put(this);
  }

  /** @param {string} text */
  send(text) {
    this.#inbox.put(JSON.parse(text));
  }

  /** @param {object} message */
  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  /** @param {string} reason */
  break(reason) {
    this.readyState = 3;
    this.onclose({ reason });
  }

  close() {
    this.break("");
  }

  /**
   * @param {string} method
   * @param {(params: any) => boolean} [fits]
   * @returns {Promise<any>}
   */
  async received(method, fits = () => true) {
    const found = await this.#inbox.take((message) => {
      return message.method === method && fits(message.params);
    });
    return found.params;
  }

  /**
   * @param {string} id
   * @returns {Promise<any>}
   */
  answer(id) {
    return this.#inbox.take((message) => message.id === id);
  }
}
