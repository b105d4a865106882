/**
 * Holds back the first document of a new tab until its page is sure to be recorded. The page's own
 * process confirms late, when it has started, and the browser would not wait for that: what the
 * page asks for in its first moments would be missed.
 */

import { onLoss, send } from "./debugger.js";
import { within } from "./within.js";

const PATIENCE_MS = 3000;
const ANSWERED_DOCUMENTS = {
  patterns: [{ urlPattern: "*", resourceType: "Document", requestStage: "Response" }],
};

/** @type {Set<number>} */
const gates = new Set();

/**
 * @param {number} tabId with the debugger on it
 * @param {Promise<unknown>} ready
 */
export function closeGate(tabId, ready) {
  gates.add(tabId);
  void send(tabId, "Fetch.enable", ANSWERED_DOCUMENTS).catch(() => {});
  const open = () => {
    if (gates.delete(tabId)) void send(tabId, "Fetch.disable").catch(() => {});
  };
  within(PATIENCE_MS, ready).then(open, open);
}

/**
 * @param {number} tabId
 * @param {string} method
 * @returns {boolean} whether it waits here, and is nobody else's business
 */
export function waitsAtGate(tabId, method) {
  return method === "Fetch.requestPaused" && gates.has(tabId);
}

onLoss((tabId) => gates.delete(tabId));
