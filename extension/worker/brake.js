/**
 * Stopping code that does not yield. Extensions may not order a page to terminate, but a page
 * that is paused may be resumed with that order. The debugger must listen before the code runs:
 * afterwards the page hears nothing any more.
 */

import { onAbort } from "./shared/timing.js";
import { send, takenTabs } from "./debugger/debugger.js";
import { register } from "./shared/tab-state.js";

const PAUSE_MS = 300;
const MAY_NOT_YIELD = /\b(?:for|while|do)\b/;
let lastNumber = 0;

/**
 * One run of our own code. Its name marks it in the page's stack, so that nothing else is ended.
 * @typedef {object} Brake
 * @property {string} source
 * @property {string} [scriptId]
 * @property {(() => void) | null} pulled set while the code is to be stopped
 */

/** @type {Map<number, Set<Brake>>} */
const brakes = new Map();

/**
 * @template T
 * @param {number} tabId
 * @param {string} code
 * @param {AbortSignal} signal
 * @param {(source: string) => Promise<T>} work
 */
export async function withBrake(tabId, code, signal, work) {
  /** @type {Brake} */
  const brake = { source: `tabhub-${++lastNumber}`, pulled: null };
  if (!MAY_NOT_YIELD.test(code)) return work(brake.source);
  try {
    await fit(tabId, brake);
    signal.throwIfAborted();
    return await Promise.race([work(brake.source), stopped(tabId, brake, signal)]);
  } finally {
    await remove(tabId, brake);
  }
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function brakeEvent(tabId, _, method, params) {
  const fitted = [...(brakes.get(tabId) ?? [])];
  if (method === "Debugger.scriptParsed") noteScript(fitted, params);
  if (method === "Debugger.paused") paused(tabId, fitted, params);
}

/**
 * @param {Brake[]} fitted
 * @param {{url: string, scriptId: string}} script
 */
function noteScript(fitted, { url, scriptId }) {
  const brake = fitted.find(({ source }) => source === url);
  if (brake) brake.scriptId = scriptId;
}

/**
 * @param {number} tabId
 * @param {Brake[]} fitted
 * @param {{callFrames: {location: {scriptId: string}}[]}} params
 */
function paused(tabId, fitted, { callFrames }) {
  const running = new Set(callFrames.map(({ location }) => location.scriptId));
  const caught = fitted.find(({ pulled, scriptId }) => pulled && running.has(scriptId ?? ""));
  tell(tabId, "Debugger.resume", { terminateOnResume: Boolean(caught) });
  // The pause has caught the page's own code: it goes on, and we try again.
  if (!caught && fitted.some(({ pulled }) => pulled)) tell(tabId, "Debugger.pause");
  caught?.pulled?.();
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 */
function tell(tabId, method, params) {
  return send(tabId, method, params).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {Brake} brake
 */
async function fit(tabId, brake) {
  const fitted = brakes.get(tabId) ?? new Set();
  brakes.set(tabId, fitted.add(brake));
  await send(tabId, "Debugger.enable");
}

/**
 * @param {number} tabId
 * @param {Brake} brake
 */
async function remove(tabId, brake) {
  const fitted = brakes.get(tabId);
  fitted?.delete(brake);
  if (fitted?.size) return;
  brakes.delete(tabId);
  await tell(tabId, "Debugger.disable");
}

/**
 * Fails once the code was cancelled and has been stopped; code that only waits is let go.
 * @param {number} tabId
 * @param {Brake} brake
 * @param {AbortSignal} signal
 * @returns {Promise<never>}
 */
async function stopped(tabId, brake, signal) {
  await new Promise((resolve) => onAbort(signal, resolve));
  /** @type {PromiseWithResolvers<void>} */
  const { promise, resolve } = Promise.withResolvers();
  brake.pulled = resolve;
  void tell(tabId, "Debugger.pause");
  setTimeout(resolve, PAUSE_MS);
  await promise;
  brake.pulled = null;
  throw signal.reason;
}

register({
  name: "running code",
  after: ["attachments"],
  // Whoever waited for the code is gone; the page is not to be slowed down for it any longer.
  restore: () => takenTabs().forEach((tabId) => void tell(tabId, "Debugger.disable")),
  event: brakeEvent,
  lost: (tabId) => brakes.delete(tabId),
});
