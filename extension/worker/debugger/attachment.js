/**
 * Attaching the browser's debugger to a tab and detaching it; waking the tab while commands come.
 */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { refuseExtensionPage, showsExtension } from "../shared/known-tabs.js";
import { within } from "../shared/timing.js";
import { NoDebugger, requireWilling } from "./refusals.js";

const PROTOCOL = "1.3";
const ATTACH_MS = 10_000;

/** @type {Map<number, Promise<void>>} the tabs it is being detached from */
const leaving = new Map();

/** @param {number} tabId */
export async function attach(tabId) {
  try {
    await within(ATTACH_MS, attachOnce(tabId));
  } catch (error) {
    throw explainRefusal(tabId, error);
  }
}

/** @param {number} tabId */
export async function prepare(tabId) {
  try {
    await within(ATTACH_MS, sendOnce(tabId, "Page.enable"));
  } catch (error) {
    throw explainRefusal(tabId, error);
  }
}

/** @param {number} tabId */
async function attachOnce(tabId) {
  await leaving.get(tabId);
  requireWilling(tabId);
  if (await showsExtension(tabId)) refuseExtensionPage();
  await chrome.debugger.attach({ tabId }, PROTOCOL).catch((error) => {
    // Left behind by an earlier worker: it is ours and still works.
    if (!/already attached/i.test(messageOf(error))) throw error;
  });
}

/**
 * @param {number} tabId
 * @param {unknown} error
 */
function explainRefusal(tabId, error) {
  const message = messageOf(error);
  if (error instanceof CommandError) return error;
  if (/no tab with/i.test(message)) {
    return new CommandError("tab_not_found", `There is no tab ${tabId}.`);
  }
  if (/not attached|already attached/i.test(message)) {
    return new CommandError("debugger_busy", `Another debugger holds tab ${tabId}: ${message}`);
  }
  return protectedPage(message);
}

/** @param {string} message */
function protectedPage(message) {
  const why = /chrome-extension:/i.test(message)
    ? "A frame in this page belongs to another extension, so the browser protects the page"
    : "The browser protects this page from extensions";
  return new NoDebugger(
    `${why} (${message}). A person has to act here, or open another page; the page itself can still be read.`,
  );
}

/**
 * The browser may refuse commands at any time: a page can add a frame of another extension.
 * @param {chrome.debugger.DebuggerSession} target
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
export async function command(target, method, params) {
  try {
    return await chrome.debugger.sendCommand(target, method, params);
  } catch (error) {
    const message = messageOf(error);
    throw /cannot access/i.test(message) ? protectedPage(message) : error;
  }
}

/** @param {number} tabId */
export async function detach(tabId) {
  const left = detachOnce(tabId);
  leaving.set(tabId, left);
  await left;
  if (leaving.get(tabId) === left) leaving.delete(tabId);
}

/** @param {number} tabId */
async function detachOnce(tabId) {
  // Already detached, or not ours.
  await chrome.debugger.detach({ tabId }).catch(() => {});
}

/**
 * Without another attempt if the debugger has been lost.
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 */
function sendOnce(tabId, method, params) {
  return command({ tabId }, method, params);
}

// A tab is woken for commands and put to sleep after them.

const WAKE_MS = 10_000;

/** @typedef {import("./debugger.js").Session} Session */

/**
 * With focus emulated, a background tab behaves as if it were shown. That is expensive, so it is on
 * only while commands come.
 * @param {number} tabId
 * @param {Session} session
 */
export async function wake(tabId, session) {
  await session.ready;
  // A page that hangs does not answer.
  await within(WAKE_MS, emulateFocus(tabId, session));
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
export function emulateFocus(tabId, session) {
  if (session.awake) return session.awake;
  const enabled = { enabled: true };
  const awake = sendOnce(tabId, "Emulation.setFocusEmulationEnabled", enabled);
  session.awake = awake;
  // A tab in which the debugger cannot work is not awake, whatever this command said.
  Promise.all([awake, session.ready]).then(
    () => session.awake === awake && (session.isAwake = true),
    () => session.awake === awake && (session.awake = null),
  );
  return awake;
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
export function calm(tabId, session) {
  sleep(session);
  lookAway(tabId);
}

/**
 * Resets what we know of a tab that is awake.
 * @param {Session} session
 */
export function sleep(session) {
  session.awake = null;
  session.isAwake = false;
  session.watched = false;
  session.drawn = null;
}

/**
 * A page that is busy or shows a dialog would not answer, so these are not awaited.
 * @param {number} tabId
 */
export function lookAway(tabId) {
  void sendOnce(tabId, "Emulation.setFocusEmulationEnabled", { enabled: false }).catch(() => {});
  void sendOnce(tabId, "Page.stopScreencast").catch(() => {});
}
