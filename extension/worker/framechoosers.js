/**
 * Catching file choosers in frames of other processes: each has a session of its own, and wants to
 * be told. A chooser opens only where the action was, so this is for actions in frames.
 */

import { childrenOf, dropChildren, useChildren } from "./debugger/child-sessions.js";
import { sendTo } from "./debugger/debugger.js";
import { register } from "./shared/tab-state.js";
import { within } from "./within.js";

const WHY = "choosers";
/** A frame that goes away never answers what it was asked before. */
const CHILD_MS = 300;

/** @type {Map<number, Map<string, Promise<unknown>>>} by tab and session, while an agent acts */
const catching = new Map();
/** @type {Set<number>} tabs where one is open in such a frame: with the session it would be lost */
const kept = new Set();

/**
 * Settles when those that are there, and those in them, have been told.
 * @param {number} tabId
 */
export async function catchInFrames(tabId) {
  const told = new Map();
  catching.set(tabId, told);
  await useChildren(tabId, WHY);
  for (let known = -1; known !== told.size;) {
    known = told.size;
    childrenOf(tabId).forEach(tell);
    await Promise.all(told.values());
  }
}

/** @param {import("./debugger/child-sessions.js").Child} child */
function tell({ tabId, session, type }) {
  const told = catching.get(tabId);
  if (type !== "iframe" || !told || told.has(session)) return;
  const orders = [order(tabId, session, "Page.enable", {}), intercept(tabId, session, true)];
  told.set(session, Promise.all(orders));
}

/**
 * @param {number} tabId
 * @param {string} session
 * @param {boolean} enabled
 */
function intercept(tabId, session, enabled) {
  return order(tabId, session, "Page.setInterceptFileChooserDialog", { enabled });
}

/**
 * @param {number} tabId
 * @param {string} session
 * @param {string} method
 * @param {object} params
 */
function order(tabId, session, method, params) {
  return within(CHILD_MS, sendTo(tabId, session, method, params)).catch(() => {});
}

/** @param {number} tabId */
export function leaveInFrames(tabId) {
  const told = catching.get(tabId);
  if (!told) return;
  catching.delete(tabId);
  for (const session of told.keys()) void intercept(tabId, session, false);
  dropUnused(tabId);
}

/**
 * @param {number} tabId
 * @param {boolean} isKept
 */
export function keepFrames(tabId, isKept) {
  if (isKept) kept.add(tabId);
  else if (kept.delete(tabId)) dropUnused(tabId);
}

/**
 * After a restart of the worker.
 * @param {number} tabId
 */
export async function keepFramesAgain(tabId) {
  kept.add(tabId);
  await useChildren(tabId, WHY);
}

/** @param {number} tabId */
function dropUnused(tabId) {
  if (!catching.has(tabId) && !kept.has(tabId)) dropChildren(tabId, WHY);
}

register({
  name: "file choosers in frames",
  after: ["children"],
  child: tell,
  lost(tabId) {
    catching.delete(tabId);
    kept.delete(tabId);
  },
  describe: () => [...kept],
});
