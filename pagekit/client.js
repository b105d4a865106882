/** A page's end: its tools, and the tab it is in. */

import { knock, permission } from "./access.js";
import { hold, whenReleased } from "./locks.js";
import { openWorker } from "./worker-port.js";
import { on } from "./events.js";
import { home } from "./script.js";
import { clearTabId, contextOf, keepTabId, loadTabId, outermost } from "./tabid.js";
import { described, Tools } from "./tools.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */

export const DEFAULT_URL = "ws://127.0.0.1:9515/page";
const AGAIN_MS = 1000;
const DENIED = "The browser must allow this site local network access.";

export class WorkerClient extends EventTarget {
  #worker;
  #root = outermost();
  #id = loadTabId(this.#root);
  #isActive = false;
  #tools = new Tools();
  /** @type {MessagePort | null} */
  #port = null;
  /** @type {import("./locks.js").Hold | null} */
  #hold = null;
  /** @type {Promise<PermissionStatus | undefined> | undefined} */
  #permission;
  #isDenied = false;
  /** @type {PromiseWithResolvers<void>} */
  #registered = Promise.withResolvers();
  /** @type {Status} */
  #status = { state: "connecting" };
  #events = new AbortController();

  /** @param {import("./pagekit.d.ts").ClientOptions} [options] */
  constructor({ url = DEFAULT_URL, workerUrl, workerType } = {}) {
    super();
    const given = workerUrl ?? home.url;
    if (!given) throw new TypeError("Say where the library's file is: workerUrl.");
    const type = workerType ?? home.type;
    this.#worker = { url: new URL(given, location.href).href, type, backendUrl: url };
    this.#watch();
    void this.#join();
  }

  /** Fulfilled when the worker knows this tab; its id is certain from then on. */
  get ready() {
    return this.#registered.promise;
  }

  get status() {
    return this.#status;
  }

  getTabId() {
    return this.#id;
  }

  getTabInfo() {
    return { tabId: this.#id, isActive: this.#isActive, ...this.#page() };
  }

  static clearTabId = clearTabId;

  /** @type {import("./pagekit.d.ts").WorkerClient["registerTool"]} */
  async registerTool(name, description, schema, handler, options) {
    const told = described(name, description, schema, handler, options);
    this.#tools.add(told, handler);
    if (options?.signal) on(options.signal, "abort", () => this.#remove(name));
    // Whatever is there when the worker takes this tab in, it is told then.
    this.#tell(told);
    await this.ready;
  }

  /** @param {string} name */
  async unregisterTool(name) {
    if (!this.#remove(name)) throw new Error(`There is no tool ${name} here.`);
  }

  close() {
    this.#events.abort();
    this.#leave();
  }

  get #isClosed() {
    return this.#events.signal.aborted;
  }

  async #join() {
    try {
      const held = (this.#hold = await hold());
      const port = (this.#port = await openWorker(this.#worker));
      on(port, "message", ({ data }) => this.#hear(data));
      on(port, "close", () => this.#lost(port));
      if (this.#isClosed) return this.#leave();
      const context = contextOf(this.#root);
      const told = { tabId: this.#id, context, lock: held.name, ...this.#page() };
      this.#post({ type: "REGISTER_TAB", ...told });
    } catch (error) {
      this.#say({ state: "failed", message: String(error) });
      this.#registered.reject(error);
    }
  }

  #page() {
    const { location, document } = this.#root;
    return { url: location.href, title: document.title };
  }

  /** @param {string} name */
  #remove(name) {
    this.#post({ type: "UNREGISTER_TOOL", name, tabId: this.#id });
    return this.#tools.delete(name);
  }

  /** @param {object} told */
  #tell(told) {
    this.#post({ type: "REGISTER_TOOL", ...told, handlerType: "proxy", tabId: this.#id });
  }

  /** @param {object} message */
  #post(message) {
    this.#port?.postMessage(message);
  }

  /** @param {any} message */
  #hear(message) {
    const { type } = message;
    if (type === "TAB_REGISTERED") this.#joined(message);
    if (type === "ARE_YOU_THERE") this.#post({ type: "HERE" });
    if (type === "CONNECTION_STATUS") this.#say(message.status);
    if (type === "TAB_LIST_UPDATED") this.#listed(message.tabs);
    if (type === "CALL_TOOL") void this.#tools.run(message, (told) => this.#post(told));
    if (type === "CANCEL_CALL") this.#tools.cancel(message.callId);
  }

  /** @param {{tabId: string, lock?: string, status: Status | null}} message */
  #joined({ tabId, lock, status }) {
    const port = this.#port;
    this.#id = tabId;
    keepTabId(this.#root, tabId);
    whenReleased(lock, () => this.#lost(port));
    this.#announce();
    this.#tools.forEach(({ told }) => this.#tell(told));
    this.#registered.resolve();
    this.#look();
    if (status) this.#say(status);
    if (status?.state !== "connected") void this.#connect();
  }

  async #connect() {
    const { backendUrl } = this.#worker;
    const asked = await (this.#permission ??= permission(() => void this.#connect()));
    if (asked?.state === "prompt") await knock(backendUrl);
    this.#isDenied = asked?.state === "denied";
    if (this.#isDenied) this.#say(this.#status);
    else this.#post({ type: "INIT", backendUrl });
  }

  /** @param {{tabId: string, isActive: boolean}[]} tabs */
  #listed(tabs) {
    this.#isActive = tabs.some(({ tabId, isActive }) => tabId === this.#id && isActive);
  }

  /**
   * The worker has died with the process it was in; the next one is started by whoever is left.
   * @param {MessagePort | null} port
   */
  #lost(port) {
    if (this.#isClosed || !port || port !== this.#port) return;
    this.#leave();
    this.#say({ state: "connecting" });
    setTimeout(() => this.#port || this.#isClosed || void this.#join(), AGAIN_MS * Math.random());
  }

  #leave() {
    this.#post({ type: "UNREGISTER_TAB" });
    this.#port?.close();
    this.#port = null;
    this.#hold?.release?.();
  }

  /**
   * A worker that is kept from the server cannot tell why.
   * @param {Status} told
   */
  #say(told) {
    const isCut = this.#isDenied && told.state !== "connected";
    /** @type {Status} */
    const status = isCut ? { state: "denied", message: DENIED } : told;
    this.#status = status;
    this.dispatchEvent(new CustomEvent("status", { detail: status }));
  }

  /** The extension, if there is one, learns that its tab and ours are the same. */
  #announce() {
    document.dispatchEvent(new CustomEvent("tabhub:worker", { detail: this.#id }));
  }

  #look() {
    const isShown = document.visibilityState === "visible";
    this.#post({ type: "SET_ACTIVE_TAB", tabId: this.#id, isShown, ...this.#page() });
  }

  #watch() {
    const { signal } = this.#events;
    const look = () => this.#look();
    on(document, "visibilitychange", look, signal);
    on(window, "focus", look, signal);
    // A page may change its address, and its title after that, without being left.
    const { navigation } = /** @type {any} */ (globalThis);
    if (navigation) on(navigation, "currententrychange", () => setTimeout(look), signal);
    const asked = () => on(document, "tabhub:ask", () => this.#announce(), signal);
    this.ready.then(asked, () => {});
    // A page that goes to the back/forward cache is not there until it comes back.
    on(window, "pagehide", () => this.#leave(), signal);
    on(window, "pageshow", ({ persisted }) => persisted && this.#join(), signal);
  }
}
