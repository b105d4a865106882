/**
 * Holds back the first document of a new tab until its page is sure to be recorded. The page's own
 * process confirms late, when it has started, and the browser would not wait for that: what the
 * page asks for in its first moments would be missed.
 */

import { heldFor, send } from "./debugger.js";
import { saver, register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";

const STORED = "gates";
const PATIENCE_MS = 3000;
const ANSWERED_DOCUMENTS = {
  patterns: [{ urlPattern: "*", resourceType: "Document", requestStage: "Response" }],
};

/** @type {Set<number>} */
const held = new Set();
const save = saver(STORED, () => [...held]);

/**
 * @param {number} tabId with the debugger on it
 * @param {Promise<unknown>} ready
 */
export function holdFirstDocument(tabId, ready) {
  held.add(tabId);
  save();
  void send(tabId, "Fetch.enable", ANSWERED_DOCUMENTS).catch(() => {});
  const open = () => {
    if (forget(tabId)) void send(tabId, "Fetch.disable").catch(() => {});
  };
  within(PATIENCE_MS, ready).then(open, open);
}

/**
 * @param {number} tabId
 * @returns {boolean} whether a request that is paused waits here, and is nobody else's business
 */
export function isHoldingFirstDocument(tabId) {
  return held.has(tabId);
}

/** @param {number} tabId */
function forget(tabId) {
  const wasClosed = held.delete(tabId);
  if (wasClosed) save();
  return wasClosed;
}

/** Nobody else would ever open what an earlier life of this worker has closed. */
async function openLeft() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  const intercepted = heldFor("interception");
  for (const tabId of Array.isArray(stored) ? stored : []) {
    if (!intercepted.includes(tabId)) void send(tabId, "Fetch.disable").catch(() => {});
  }
  save();
}

register({ name: "first documents", after: ["attachments"], restore: openLeft, lost: forget });
