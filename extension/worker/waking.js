/** Waking a tab for the commands that come, and letting it sleep after them. */

import { sendOnce } from "./debugger/attachment.js";
import { within } from "./within.js";

const WAKE_MS = 10_000;

/** @typedef {import("./debugger/debugger.js").Session} Session */

/**
 * With focus emulated, a background tab behaves as if it were shown. That costs a lot: only while
 * commands come.
 * @param {number} tabId
 * @param {Session} session
 */
export async function wake(tabId, session) {
  await session.ready;
  session.awake ??= emulateFocus(tabId, session);
  // A page that hangs does not acknowledge.
  await within(WAKE_MS, session.awake);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
function emulateFocus(tabId, session) {
  const enabled = { enabled: true };
  const awake = sendOnce(tabId, "Emulation.setFocusEmulationEnabled", enabled);
  awake.catch(() => session.awake === awake && (session.awake = null));
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
 * Nothing of it holds any longer.
 * @param {Session} session
 */
export function sleep(session) {
  session.awake = null;
  session.watched = false;
  session.drawn = null;
}

/**
 * A page that is busy, or shows a dialog, would not acknowledge: these are not waited for.
 * @param {number} tabId
 */
export function lookAway(tabId) {
  void sendOnce(tabId, "Emulation.setFocusEmulationEnabled", { enabled: false }).catch(() => {});
  void sendOnce(tabId, "Page.stopScreencast").catch(() => {});
}
