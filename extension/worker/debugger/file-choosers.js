/**
 * File choosers. One that an agent's own action opens is caught, so that no window of the system
 * appears in front of a person; it stays open, as it were, until it gets its files. Nothing in the
 * page waits for it.
 */

import { send, sendTo, takenTabs } from "./debugger.js";
import { catchInFrames, keepFrames, keepFramesAgain, leaveInFrames } from "../framechoosers.js";
import { keeper } from "../keeper.js";
import { chooserOpened } from "../outcomes.js";
import { register } from "../shared/tab-state.js";
import { worldOf } from "./isolated-worlds.js";

const STORED = "choosers";
const DISMISS = `function () {
  EventTarget.prototype.dispatchEvent.call(this, new Event("cancel", { bubbles: true }));
}`;

/** @typedef {import("./isolated-worlds.js").Held} Held */

/**
 * @typedef {object} Chooser
 * @property {import("./page-dialogs.js").Dialog} dialog
 * @property {string | undefined} session of the frame it was opened in
 * @property {Promise<Held | undefined>} input what opened it; none if a script has asked for the
 *   files of a person
 */

/** @typedef {Omit<Chooser, "input"> & {input?: Held}} Stored */

/** @type {Map<number, Chooser>} */
const open = new Map();
/** @type {Map<number, Stored>} the same as it is stored */
const dumped = new Map();
const save = keeper(STORED, () => [...dumped]);

/** Neither the page nor the debugger's hold on the input notices that the worker was away. */
async function restoreChoosers() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, chooser] of Array.isArray(stored) ? stored : []) {
    dumped.set(tabId, chooser);
    open.set(tabId, { ...chooser, input: Promise.resolve(chooser.input) });
    if (chooser.session !== undefined) void keepFramesAgain(tabId).catch(() => {});
  }
  // An action that ended with the earlier worker would keep on catching the person's own.
  for (const tabId of takenTabs()) leaveChoosers(tabId);
}

/**
 * Only while an agent acts: a person who clicks in the same tab wants to choose.
 * @param {number} tabId
 * @param {boolean} inFrames of other processes, too
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
 * An input that is not in the page would be gone soon if nobody held it.
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

/** The tabs that have one open. */
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
  // After that: with it goes the session of its frame.
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
