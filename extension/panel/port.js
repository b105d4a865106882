/** The line to the worker: opened again whenever it closes, which also wakes the worker. */

const CALM_MS = 1000;

export class WorkerPort {
  /** @type {chrome.runtime.Port | null} */
  #port = null;
  #connectedAt = 0;
  #nextId = 1;
  /** @type {Map<number, PromiseWithResolvers<any>>} */
  #pending = new Map();
  #hear;
  #connected;

  /**
   * @param {(method: string, params: any) => void} hear
   * @param {() => void} connected
   */
  constructor(hear, connected) {
    this.#hear = hear;
    this.#connected = connected;
  }

  connect() {
    if (this.#port) return;
    const port = chrome.runtime.connect({ name: "panel" });
    this.#port = port;
    this.#connectedAt = performance.now();
    port.onMessage.addListener((message) => this.#receive(message));
    port.onDisconnect.addListener(() => this.#disconnected());
    this.tellVisibility();
    this.#connected();
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  ask(method, params) {
    const id = this.#nextId++;
    const pending = Promise.withResolvers();
    this.#pending.set(id, pending);
    if (this.#port) this.#port.postMessage({ id, method, params });
    else this.#settle(id, "There is no connection to the extension.");
    return pending.promise;
  }

  tellVisibility() {
    this.#port?.postMessage({ visible: document.visibilityState === "visible" });
  }

  #disconnected() {
    void chrome.runtime.lastError;
    this.#port = null;
    for (const id of [...this.#pending.keys()]) this.#settle(id, "The extension was restarted.");
    // A worker that keeps dying is not to be woken in a tight loop.
    const isBrief = performance.now() - this.#connectedAt < CALM_MS;
    setTimeout(() => this.connect(), isBrief ? CALM_MS : 0);
  }

  /** @param {any} message */
  #receive({ id, method, params, result, error }) {
    if (method) this.#hear(method, params);
    else this.#settle(id, error, result);
  }

  /**
   * @param {number} id
   * @param {string | undefined} error
   * @param {unknown} [result]
   */
  #settle(id, error, result) {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(error));
  }
}
