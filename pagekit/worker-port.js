/** The way to the worker that all tabs of an origin share. */

import { on } from "./events.js";

const SCOPE = "tabhub-pagekit/";
const STAY_MS = 55_000;

/**
 * @param {{url: string, type: WorkerType, backendUrl: string}} where
 * @returns {Promise<MessagePort>}
 */
export async function openWorker({ url, type, backendUrl }) {
  const port = globalThis.SharedWorker
    ? new SharedWorker(url, { type, name: `tabhub ${backendUrl}` }).port
    : await throughServiceWorker(url, type);
  port.start();
  return port;
}

/**
 * A scope in which no page lies: the site's own service worker is not replaced.
 * @param {string} url
 * @param {WorkerType} type
 */
async function throughServiceWorker(url, type) {
  const scope = new URL(SCOPE, url).href;
  const registration = await navigator.serviceWorker.register(url, { scope, type });
  const worker = await active(registration);
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(0, [port2]);
  // A service worker lives as long as somebody speaks to it.
  const timer = setInterval(() => worker.postMessage(0), STAY_MS);
  on(port1, "close", () => clearInterval(timer));
  return port1;
}

/**
 * @param {ServiceWorkerRegistration} registration
 * @returns {Promise<ServiceWorker>}
 */
function active({ active, waiting, installing }) {
  const worker = /** @type {ServiceWorker} */ (active ?? waiting ?? installing);
  return new Promise((resolve) => {
    const look = () => worker.state === "activated" && resolve(worker);
    on(worker, "statechange", look);
    look();
  });
}
