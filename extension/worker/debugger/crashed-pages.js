/**
 * Pages whose process has ended. They answer nothing until the tab loads a page again, so that
 * commands must not wait for them.
 */

import { CommandError } from "../shared/command-errors.js";
import { getTab } from "../shared/known-tabs.js";
import { TabListeners } from "../shared/tab-events.js";
import { register, saver } from "../shared/tab-state.js";
import { unlessAborted } from "../shared/timing.js";

const STORED = "crashed";
const CRASHED =
  "The page in this tab has crashed: its process has ended. Reload it, or navigate to another address.";

/** @type {Set<number>} */
const crashed = new Set();
/** @type {TabListeners<[error: CommandError]>} */
const crashes = new TabListeners();
const save = saver(STORED, () => [...crashed]);

/** @param {number} tabId */
export function isCrashed(tabId) {
  return crashed.has(tabId);
}

/** @param {number} tabId */
export function requireAlive(tabId) {
  if (crashed.has(tabId)) throw crash();
}

/**
 * Does the work unless the page has crashed or crashes meanwhile: then it fails at once.
 * @template T
 * @param {number} tabId
 * @param {AbortSignal} cancelled
 * @param {(signal: AbortSignal) => Promise<T>} work
 */
export async function unlessCrashed(tabId, cancelled, work) {
  requireAlive(tabId);
  const ended = new AbortController();
  const stop = onCrash(tabId, (error) => ended.abort(error));
  try {
    return await unlessAborted(AbortSignal.any([cancelled, ended.signal]), work);
  } finally {
    stop();
  }
}

/**
 * @param {number} tabId
 * @param {(error: CommandError) => void} listener
 * @returns {() => void} stops listening
 */
export function onCrash(tabId, listener) {
  return crashes.add(tabId, listener);
}

function crash() {
  return new CommandError("navigated_away", CRASHED);
}

/** @param {number} tabId */
function note(tabId) {
  crashed.add(tabId);
  save();
  crashes.call(tabId, crash());
}

/** @param {number} tabId */
function forgetCrash(tabId) {
  if (crashed.delete(tabId)) save();
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 */
function crashEvent(tabId, session, method) {
  if (session === undefined && method === "Inspector.targetCrashed") note(tabId);
}

/**
 * Without the debugger, a crash shows only in the state of the tab.
 * @param {import("../frames/frames.js").Frame} frame whose port was closed
 */
async function lookAfter({ tabId, frameId }) {
  if (frameId !== 0) return;
  const tab = await getTab(tabId).catch(() => undefined);
  if (tab?.status === "unloaded" && !tab.discarded) note(tabId);
}

async function restoreCrashes() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const tabId of Array.isArray(stored) ? stored : []) crashed.add(tabId);
}

register({
  name: "crashed pages",
  restore: restoreCrashes,
  event: crashEvent,
  gone: lookAfter,
  committed: forgetCrash,
  forget: forgetCrash,
  describe: () => [...crashed],
});
