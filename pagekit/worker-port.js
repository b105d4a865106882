/** Starts the worker that all tabs of an origin share, and opens a port to it. */

import { on } from "./events.js";

const SCOPE = "tabhub-pagekit/";
const PING_MS = 55_000;

/**
 * @param {{url: string, type: WorkerType, backendUrl: string}} options
 * @returns {Promise<MessagePort>}
 */
export async function openWorker({ url, type, backendUrl }) {
  return globalThis.SharedWorker
    ? new SharedWorker(url, { type, name: `tabhub ${backendUrl}` }).port
    : serviceWorkerPort(url, type);
}

/**
 * The scope contains no page, so the site's own service worker is not replaced.
 * @param {string} url
 * @param {WorkerType} type
 */
async function serviceWorkerPort(url, type) {
  const scope = new URL(SCOPE, url).href;
  const registration = await navigator.serviceWorker.register(url, { scope, type });
  const worker = await activated(registration);
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(0, [port2]);
  // The browser stops a service worker that receives no messages.
  const timer = setInterval(() => worker.postMessage(0), PING_MS);
  on(port1, "close", () => clearInterval(timer));
  return port1;
}

/**
 * @param {ServiceWorkerRegistration} registration
 * @returns {Promise<ServiceWorker>}
 */
function activated({ active, waiting, installing }) {
  const worker = /** @type {ServiceWorker} */ (active ?? waiting ?? installing);
  return new Promise((resolve) => {
    const check = () => worker.state === "activated" && resolve(worker);
    on(worker, "statechange", check);
    check();
  });
}
