/** The port to the worker: reopened whenever it closes, which also starts the worker. */

import { Correlator } from "../worker/shared/request-correlator.js";

const CALM_MS = 1000;
/** A worker says at once how it is connected; a port to one that was just ending stays silent. */
const SILENT_MS = 5000;

export class WorkerPort {
  /** @type {chrome.runtime.Port | null} */
  #port = null;
  #connectedAt = 0;
  #isSilent = false;
  #requests = new Correlator();
  #received;
  #connected;

  /**
   * @param {<N extends keyof WorkerMessages>(method: N, params: WorkerMessages[N]) => void} received
   * @param {() => void} connected
   */
  constructor(received, connected) {
    this.#received = received;
    this.#connected = connected;
  }

  connect() {
    if (this.#port) return;
    const port = chrome.runtime.connect({ name: "panel" });
    this.#port = port;
    this.#connectedAt = performance.now();
    this.#isSilent = true;
    port.onMessage.addListener((message) => this.#receive(message));
    port.onDisconnect.addListener(() => this.#disconnected());
    setTimeout(() => this.#checkSilence(port), SILENT_MS);
    this.reportVisibility();
    this.#connected();
  }

  /** @param {chrome.runtime.Port} port */
  #checkSilence(port) {
    if (this.#port !== port || !this.#isSilent) return;
    port.disconnect();
    this.#disconnected();
  }

  /**
   * @template {keyof PanelRequests} N
   * @param {N} method
   * @param {PanelRequests[N]["params"]} params
   * @returns {Promise<PanelRequests[N]["result"]>}
   */
  ask(method, params) {
    return this.#requests.request((id) => {
      if (this.#port) this.#port.postMessage({ id, method, params });
      else this.#requests.settle(id, new Error("There is no connection to the extension."));
    });
  }

  reportVisibility() {
    this.#port?.postMessage({ visible: document.visibilityState === "visible" });
  }

  #disconnected() {
    void chrome.runtime.lastError;
    this.#port = null;
    this.#requests.failAll(() => new Error("The extension was restarted."));
    // A worker that keeps failing must not be restarted in a tight loop.
    const isBrief = performance.now() - this.#connectedAt < CALM_MS;
    setTimeout(() => this.connect(), isBrief ? CALM_MS : 0);
  }

  /** @param {any} message */
  #receive({ id, method, params, result, error }) {
    this.#isSilent = false;
    if (method) this.#received(method, params);
    else this.#requests.settle(id, error === undefined ? undefined : new Error(error), result);
  }
}
