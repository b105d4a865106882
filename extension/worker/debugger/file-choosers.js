/**
 * File choosers. A chooser that an agent's action opens is caught, so that no system window appears
 * in front of the person; it counts as open until it gets its files. Nothing in the page waits for
 * it.
 */

import { chooserOpened } from "../shared/tab-events.js";
import { saver, register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { childrenOf, dropChildren, useChildren } from "./child-sessions.js";
import { send, sendTo, takenTabs } from "./debugger.js";
import { worldOf } from "./isolated-worlds.js";

// Catching file choosers in frames of other processes: it has to be enabled in the session of each.
// A chooser opens only in the frame of the action, so this is needed for actions in frames.

const WHY = "choosers";
/** A frame that goes away never answers earlier requests. */
const CHILD_MS = 300;

/** @type {Map<number, Map<string, Promise<unknown>>>} by tab and session, while an agent acts */
const catching = new Map();
/** @type {Set<number>} tabs where one is open in such a frame: with the session it would be lost */
const kept = new Set();

/**
 * Settles when it is enabled in all frames that exist, nested ones included.
 * @param {number} tabId
 */
async function catchInFrames(tabId) {
  const enabling = new Map();
  catching.set(tabId, enabling);
  await useChildren(tabId, WHY);
  for (let known = -1; known !== enabling.size;) {
    known = enabling.size;
    childrenOf(tabId).forEach(catchInChild);
    await Promise.all(enabling.values());
  }
}

/** @param {import("./child-sessions.js").Child} child */
function catchInChild({ tabId, session, type }) {
  const enabling = catching.get(tabId);
  if (type !== "iframe" || !enabling || enabling.has(session)) return;
  const orders = [order(tabId, session, "Page.enable", {}), interceptIn(tabId, session, true)];
  enabling.set(session, Promise.all(orders));
}

/**
 * @param {number} tabId
 * @param {string} session
 * @param {boolean} enabled
 */
function interceptIn(tabId, session, enabled) {
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
function leaveInFrames(tabId) {
  const enabling = catching.get(tabId);
  if (!enabling) return;
  catching.delete(tabId);
  for (const session of enabling.keys()) void interceptIn(tabId, session, false);
  dropUnused(tabId);
}

/**
 * @param {number} tabId
 * @param {boolean} isKept
 */
function keepFrames(tabId, isKept) {
  if (isKept) kept.add(tabId);
  else if (kept.delete(tabId)) dropUnused(tabId);
}

/**
 * After a restart of the worker.
 * @param {number} tabId
 */
async function keepFramesAgain(tabId) {
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
  child: catchInChild,
  lost(tabId) {
    catching.delete(tabId);
    kept.delete(tabId);
  },
  describe: () => [...kept],
});

const STORED = "choosers";
const DISMISS = `function () {
  EventTarget.prototype.dispatchEvent.call(this, new Event("cancel", { bubbles: true }));
}`;

/** @typedef {import("./isolated-worlds.js").Held} Held */

/**
 * @typedef {object} Chooser
 * @property {import("./page-dialogs.js").Dialog} dialog
 * @property {string | undefined} session of the frame it was opened in
 * @property {Promise<Held | undefined>} input the input that opened it; none if a script asked for
 *   files
 */

/** @typedef {Omit<Chooser, "input"> & {input?: Held}} Stored */

/** @type {Map<number, Chooser>} */
const open = new Map();
/** @type {Map<number, Stored>} the same as it is stored */
const dumped = new Map();
const save = saver(STORED, () => [...dumped]);

/** The page, and the debugger's reference to the input, survive a restart of the worker. */
async function restoreChoosers() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, chooser] of Array.isArray(stored) ? stored : []) {
    dumped.set(tabId, chooser);
    open.set(tabId, { ...chooser, input: Promise.resolve(chooser.input) });
    if (chooser.session !== undefined) void keepFramesAgain(tabId).catch(() => {});
  }
  // An action that ended with the earlier worker would go on catching the person's own choosers.
  for (const tabId of takenTabs()) leaveChoosers(tabId);
}

/**
 * Only while an agent acts: a person who clicks in the same tab wants the real chooser.
 * @param {number} tabId
 * @param {boolean} inFrames also in frames of other processes
 */
export async function catchChoosers(tabId, inFrames) {
  await Promise.all([intercept(tabId, true), inFrames && catchInFrames(tabId).catch(() => {})]);
}

/** @param {number} tabId */
export function leaveChoosers(tabId) {
  leaveInFrames(tabId);
  void intercept(tabId, false).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {boolean} enabled
 */
async function intercept(tabId, enabled) {
  await send(tabId, "Page.setInterceptFileChooserDialog", { enabled });
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function chooserEvent(tabId, session, method, params) {
  if (method === "Target.detachedFromTarget") frameGone(tabId, params.sessionId);
  if (method !== "Page.fileChooserOpened") return;
  const { frameId, mode, backendNodeId } = params;
  const multiple = mode === "selectMultiple";
  /** @type {Wire.Dialog} */
  const dialog = { type: "file_chooser", message: "", multiple };
  const input = hold(tabId, session, frameId, backendNodeId);
  const chooser = { dialog, session, input };
  open.set(tabId, chooser);
  void input.then((held) => keep(tabId, chooser, held));
  keepFrames(tabId, session !== undefined);
  chooserOpened(tabId, dialog);
}

/**
 * @param {number} tabId
 * @param {Chooser} chooser
 * @param {Held | undefined} input
 */
function keep(tabId, chooser, input) {
  if (open.get(tabId) !== chooser) return;
  dumped.set(tabId, { ...chooser, input });
  save();
}

/**
 * @param {number} tabId
 * @param {string} session
 */
function frameGone(tabId, session) {
  if (open.get(tabId)?.session === session) forgetChooser(tabId);
}

/**
 * An input that is not in the document would be collected if nothing held it.
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} frameId
 * @param {number | undefined} backendNodeId
 * @returns {Promise<Held | undefined>}
 */
async function hold(tabId, session, frameId, backendNodeId) {
  if (backendNodeId === undefined) return undefined;
  try {
    const executionContextId = await worldOf(tabId, session, frameId);
    const params = { backendNodeId, executionContextId };
    const { object } = await sendTo(tabId, session, "DOM.resolveNode", params);
    return { session, objectId: object.objectId };
  } catch {
    return undefined;
  }
}

/** The tabs in which one is open. */
export function choosers() {
  return open.keys();
}

/** @param {number} tabId */
export function openChooser(tabId) {
  return open.get(tabId);
}

/** @param {number} tabId */
export function forgetChooser(tabId) {
  open.delete(tabId);
  if (dumped.delete(tabId)) save();
  keepFrames(tabId, false);
}

/** @param {number} tabId */
export async function dismissChooser(tabId) {
  const chooser = open.get(tabId);
  const input = await chooser?.input;
  const params = { objectId: input?.objectId, functionDeclaration: DISMISS };
  const order = () => sendTo(tabId, input?.session, "Runtime.callFunctionOn", params);
  if (input) void order().catch(() => {});
  // Afterwards, because the frame's session goes with it.
  if (open.get(tabId) === chooser) forgetChooser(tabId);
  return chooser?.dialog;
}

register({
  name: "file choosers",
  after: ["children"],
  restore: restoreChoosers,
  forget: forgetChooser,
  detached: forgetChooser,
  committed: forgetChooser,
  event: chooserEvent,
  describe: () => [...dumped],
});
