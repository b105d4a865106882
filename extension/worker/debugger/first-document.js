/**
 * Holds back the first document of a new tab until recording has started in its page. The page's
 * process confirms that only when it has started, and the browser does not wait for it, so the
 * page's first requests would be missed.
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
 * @param {number} tabId with the debugger attached
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
 * @returns {boolean} whether a paused request is one that is held here
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

/** Nothing else would ever release the requests that an earlier worker held. */
async function openLeft() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  const intercepted = heldFor("interception");
  for (const tabId of Array.isArray(stored) ? stored : []) {
    if (!intercepted.includes(tabId)) void send(tabId, "Fetch.disable").catch(() => {});
  }
  save();
}

register({ name: "first documents", after: ["attachments"], restore: openLeft, lost: forget });
