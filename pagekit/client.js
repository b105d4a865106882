/** The client in a page: it registers the page's tab and tools with the worker. */

import { openProbe, permission } from "./access.js";
import { on } from "./events.js";
import { holdLock, whenReleased } from "./locks.js";
import { script } from "./script.js";
import { clearTabId, contextOf, keepTabId, loadTabId, outermost } from "./tabid.js";
import { described, inFull, Tools } from "./tools.js";
import { openWorker } from "./worker-port.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */

export const DEFAULT_URL = "ws://127.0.0.1:9515/page";
const REJOIN_MS = 1000;
const DENIED = "The browser must allow this site local network access.";

export class WorkerClient extends EventTarget {
  #worker;
  #root = outermost();
  #id = loadTabId(this.#root);
  #isActive = false;
  #tools = new Tools();
  /** @type {MessagePort | null} */
  #port = null;
  /** @type {import("./locks.js").HeldLock | null} */
  #lock = null;
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
    const file = workerUrl ?? script.url;
    if (!file) throw new TypeError("Set workerUrl to the library's file.");
    const type = workerType ?? script.type;
    this.#worker = { url: new URL(file, location.href).href, type, backendUrl: url };
    this.#watch();
    void this.#join();
  }

  /** Resolves when the worker knows this tab; from then on its id is final. */
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
  async registerTool(/** @type {any[]} */ ...given) {
    const [name, description, schema, handler, options] = inFull(given);
    const tool = described(name, description, schema, handler, options);
    if (this.#tools.add(tool, handler)) {
      // The tool may have been replaced by then.
      const isOurs = () => this.#tools.get(name)?.tool === tool;
      if (options?.signal) on(options.signal, "abort", () => isOurs() && this.#remove(name));
      // Before the worker knows this tab there may be no port: #joined sends all tools again.
      this.#post("REGISTER_TOOL", tool);
    }
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
      const { name: lock } = (this.#lock = await holdLock());
      const port = (this.#port = await openWorker(this.#worker));
      port.onmessage = ({ data }) => this.#receive(data);
      on(port, "close", () => this.#lost(port));
      if (this.#isClosed) return this.#leave();
      const tab = { tabId: this.#id, context: contextOf(this.#root), lock, ...this.#page() };
      this.#post("REGISTER_TAB", tab);
    } catch (error) {
      this.#setStatus({ state: "failed", message: String(error) });
      this.#registered.reject(error);
    }
  }

  #page() {
    const { location, document } = this.#root;
    return { url: location.href, title: document.title };
  }

  /** @param {string} name */
  #remove(name) {
    this.#post("UNREGISTER_TOOL", { name });
    return this.#tools.delete(name);
  }

  /**
   * @param {string} type
   * @param {object} [message]
   */
  #post(type, message) {
    this.#port?.postMessage({ type, ...message });
  }

  /** @param {any} message */
  #receive(message) {
    /** @type {Record<string, () => void>} */
    const handlers = {
      TAB_REGISTERED: () => this.#joined(message),
      ARE_YOU_THERE: () => this.#post("HERE"),
      CONNECTION_STATUS: () => this.#setStatus(message.status),
      TAB_LIST_UPDATED: () => this.#updateActive(message.tabs),
      CALL_TOOL: () => void this.#tools.run(message, (type, answer) => this.#post(type, answer)),
      CANCEL_CALL: () => this.#tools.cancel(message.callId),
    };
    handlers[message.type]?.();
  }

  /** @param {{tabId: string, lock?: string, status: Status | null}} message */
  #joined({ tabId, lock, status }) {
    const port = this.#port;
    this.#id = tabId;
    keepTabId(this.#root, tabId);
    whenReleased(lock, () => this.#lost(port));
    this.#announce();
    this.#tools.forEach(({ tool }) => this.#post("REGISTER_TOOL", tool));
    this.#registered.resolve();
    this.#reportPage();
    if (status) this.#setStatus(status);
    if (status?.state !== "connected") void this.#connect();
  }

  async #connect() {
    const { backendUrl } = this.#worker;
    const access = await (this.#permission ??= permission(() => void this.#connect()));
    if (access?.state === "prompt") await openProbe(backendUrl);
    this.#isDenied = access?.state === "denied";
    if (this.#isDenied) this.#setStatus(this.#status);
    else this.#post("INIT", { backendUrl });
  }

  /** @param {{tabId: string, isActive: boolean}[]} tabs */
  #updateActive(tabs) {
    this.#isActive = tabs.some(({ tabId, isActive }) => tabId === this.#id && isActive);
  }

  /**
   * The worker has ended, with its process: the first client that joins again starts a new one. The
   * random delay keeps the clients from joining all at once.
   * @param {MessagePort | null} port
   */
  #lost(port) {
    if (this.#isClosed || !port || port !== this.#port) return;
    this.#leave();
    this.#setStatus({ state: "connecting" });
    setTimeout(() => this.#port || this.#isClosed || void this.#join(), REJOIN_MS * Math.random());
  }

  #leave() {
    this.#post("UNREGISTER_TAB");
    this.#port?.close();
    this.#port = null;
    this.#lock?.release?.();
  }

  /**
   * The worker cannot know that the browser denies the connection, so the client adds it here.
   * @param {Status} reported
   */
  #setStatus(reported) {
    const isDenied = this.#isDenied && reported.state !== "connected";
    /** @type {Status} */
    const status = isDenied ? { state: "denied", message: DENIED } : reported;
    this.#status = status;
    this.dispatchEvent(new CustomEvent("status", { detail: status }));
  }

  /** The extension, if there is one, learns from this event which of its tabs this is. */
  #announce() {
    document.dispatchEvent(new CustomEvent("tabhub:worker", { detail: this.#id }));
  }

  #reportPage() {
    const isShown = document.visibilityState === "visible";
    this.#post("SET_ACTIVE_TAB", { isShown, ...this.#page() });
  }

  #watch() {
    const { signal } = this.#events;
    const report = () => this.#reportPage();
    on(document, "visibilitychange", report, signal);
    on(window, "focus", report, signal);
    // A page may change its URL, and then its title, without a navigation to another document.
    const { navigation } = /** @type {any} */ (globalThis);
    if (navigation) on(navigation, "currententrychange", () => setTimeout(report), signal);
    const answer = () => on(document, "tabhub:ask", () => this.#announce(), signal);
    this.ready.then(answer, () => {});
    // A page in the back/forward cache cannot answer calls, so it leaves until it is shown again.
    on(window, "pagehide", () => this.#leave(), signal);
    on(window, "pageshow", ({ persisted }) => persisted && this.#join(), signal);
  }
}
