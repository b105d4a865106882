/**
 * Dialogs that pages open. While one is open the page answers nothing, so commands that wait for
 * the page must stop waiting.
 */

import { unlessAborted } from "../shared/timing.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { holdTab, send } from "./debugger.js";
import { TabListeners } from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { clip, MESSAGE_LENGTH, URL_LENGTH } from "../shared/clip.js";

const STORED = "dialogs";

/** @typedef {Wire.Dialog} Dialog */

/** @type {Map<number, Dialog>} */
const open = new Map();
/** @type {TabListeners} */
const changes = new TabListeners();
/** @type {Map<number, () => void>} only the debugger that saw a dialog open can answer it */
const holds = new Map();
/** @type {Set<number>} tabs that leave their page on purpose */
const leaving = new Set();

/** A dialog outlives the worker, so it is kept in session storage. */
async function restoreDialogs() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, dialog] of Array.isArray(stored) ? stored : []) {
    open.set(tabId, dialog);
    holds.set(tabId, holdTab(tabId));
  }
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function dialogEvent(tabId, _, method, params) {
  if (method === "Page.javascriptDialogClosed") forgetDialog(tabId);
  if (method !== "Page.javascriptDialogOpening") return;
  if (params.type === "beforeunload" && leaving.has(tabId)) return void answer(tabId, true);
  open.set(tabId, describe(params));
  if (!holds.has(tabId)) holds.set(tabId, holdTab(tabId));
  changed(tabId);
}

/**
 * @param {any} params
 * @returns {Dialog}
 */
function describe({ type, message, defaultPrompt, url }) {
  const dialog = { type, message: clip(message, MESSAGE_LENGTH), url: clip(url, URL_LENGTH) };
  return defaultPrompt ? { ...dialog, defaultPrompt: clip(defaultPrompt, MESSAGE_LENGTH) } : dialog;
}

/** @param {number} tabId */
function forgetDialog(tabId) {
  holds.get(tabId)?.();
  holds.delete(tabId);
  if (open.delete(tabId)) changed(tabId);
}

/** @param {number} tabId */
function changed(tabId) {
  void chrome.storage.session.set({ [STORED]: [...open] });
  changes.call(tabId);
}

export function dialogTabs() {
  return [...open.keys()];
}

/** @param {number} tabId */
export function openDialog(tabId) {
  return open.get(tabId);
}

/**
 * @param {number} tabId
 * @param {() => void} listener
 * @returns {() => void}
 */
export function onChange(tabId, listener) {
  return changes.add(tabId, listener);
}

/**
 * Does the work unless a dialog is open or opens meanwhile: then it fails at once, as when it is
 * cancelled. Work that has begun must check its signal before it acts.
 * @template T
 * @param {number} tabId
 * @param {AbortSignal} cancelled
 * @param {(signal: AbortSignal) => Promise<T>} work
 */
export async function unlessDialog(tabId, cancelled, work) {
  refuseIfOpen(tabId);
  const opened = new AbortController();
  const stop = onChange(tabId, () => {
    const dialog = open.get(tabId);
    if (dialog) opened.abort(dialogError(dialog));
  });
  try {
    return await unlessAborted(AbortSignal.any([cancelled, opened.signal]), work);
  } finally {
    stop();
  }
}

/** @param {number} tabId */
export function refuseIfOpen(tabId) {
  const dialog = open.get(tabId);
  if (dialog) throw dialogError(dialog);
}

/** @param {Dialog} dialog */
export function dialogError(dialog) {
  const message = `The page shows a dialog (${dialog.type}): ${quoted(dialog.message)}. Answer it with browser_handle_dialog; navigating or closing the tab dismisses it.`;
  return new CommandError("dialog_open", message, { dialog });
}

/** @param {number} tabId */
export async function dismissDialog(tabId) {
  const dialog = open.get(tabId);
  if (!dialog) return;
  await answer(tabId, dialog.type === "beforeunload");
}

/**
 * Without a text, a prompt is accepted with its default.
 * @param {number} tabId
 * @param {boolean} accept
 * @param {string} [text]
 */
export async function answer(tabId, accept, text) {
  const dialog = open.get(tabId);
  const promptText = text ?? dialog?.defaultPrompt ?? "";
  await send(tabId, "Page.handleJavaScriptDialog", { accept, promptText }).catch(() => {});
  // The page may have opened the next dialog by now.
  if (open.get(tabId) === dialog) forgetDialog(tabId);
}

/**
 * @param {number} tabId
 * @returns {() => void} stops accepting
 */
export function acceptLeaving(tabId) {
  leaving.add(tabId);
  return () => leaving.delete(tabId);
}

register({
  name: "dialogs",
  after: ["attachments"],
  restore: restoreDialogs,
  forget: forgetDialog,
  detached: forgetDialog,
  event: dialogEvent,
  describe: () => [...open].map(([tabId, dialog]) => [tabId, dialog, holds.has(tabId)]),
});
