/**
 * File choosers. One that an agent's own action opens is caught, so that no window of the system
 * appears in front of a person; it stays open, as it were, until it gets its files. Nothing in the
 * page waits for it.
 */

import { send } from "./debugger.js";
import { chooserOpened } from "./outcomes.js";
import { worldIn } from "./worlds.js";

const DISMISS = `function () {
  EventTarget.prototype.dispatchEvent.call(this, new Event("cancel", { bubbles: true }));
}`;

/**
 * @typedef {object} Chooser
 * @property {import("./dialogs.js").Dialog} dialog
 * @property {Promise<string | undefined>} input the debugger's name for the input that opened it;
 *   none if a script has asked for the files of a person
 */

/** @type {Map<number, Chooser>} */
const open = new Map();

/**
 * Only while an agent acts: a person who clicks in the same tab wants to choose.
 * @param {number} tabId
 * @param {boolean} enabled
 */
export async function catchChoosers(tabId, enabled) {
  await send(tabId, "Page.setInterceptFileChooserDialog", { enabled });
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {any} params
 */
export function chooserEvent(tabId, method, params) {
  if (method !== "Page.fileChooserOpened") return;
  const { frameId, mode, backendNodeId } = params;
  const multiple = mode === "selectMultiple";
  const dialog = { type: "file_chooser", message: "", multiple };
  open.set(tabId, { dialog, input: hold(tabId, frameId, backendNodeId) });
  chooserOpened(tabId, dialog);
}

/**
 * An input that is not in the page would be gone soon if nobody held it.
 * @param {number} tabId
 * @param {string} frameId
 * @param {number | undefined} backendNodeId
 * @returns {Promise<string | undefined>}
 */
async function hold(tabId, frameId, backendNodeId) {
  if (backendNodeId === undefined) return undefined;
  try {
    const executionContextId = await worldIn(tabId, frameId);
    const params = { backendNodeId, executionContextId };
    return (await send(tabId, "DOM.resolveNode", params)).object.objectId;
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
}

/** @param {number} tabId */
export async function dismissChooser(tabId) {
  const chooser = open.get(tabId);
  forgetChooser(tabId);
  const objectId = await chooser?.input;
  const params = { objectId, functionDeclaration: DISMISS };
  if (objectId) void send(tabId, "Runtime.callFunctionOn", params).catch(() => {});
  return chooser?.dialog;
}
