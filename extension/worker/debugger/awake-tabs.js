/**
 * Tabs that no person sees draw as if one looked at them, while agents use them. That takes the
 * debugger, which is not attached for this.
 */

import { isInFront } from "../shared/front-tab.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { wake } from "./attachment.js";
import { holdTab, isTaken, send, sessionOf } from "./debugger.js";

/** What a page that has just become visible draws takes more than one frame. */
const CATCH_UP_FRAMES = 3;
const CATCH_UP_MS = 500;

/**
 * Keeps a tab awake during the work, if it has the debugger.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 */
export async function keepingAwake(tabId, work) {
  const letGo = holdTab(tabId);
  try {
    void wakeUp(tabId);
    return await work();
  } finally {
    letGo();
  }
}

/**
 * The same; a page that slept first draws what it has missed.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 */
export function lookingAt(tabId, work) {
  return keepingAwake(tabId, async () => {
    // What a person sees is drawn already.
    const isDrawn = sessionOf(tabId)?.isAwake || isInFront(tabId);
    if (!isDrawn) await within(CATCH_UP_MS, catchUp(tabId)).catch(() => {});
    return work();
  });
}

/** @param {number} tabId */
async function catchUp(tabId) {
  if (!(await wakeUp(tabId))) return;
  // A tab that slept for the second time is visible again, but gets a frame a second.
  watch(tabId);
  await nextFrame(tabId, CATCH_UP_FRAMES);
}

/**
 * @param {number} tabId
 * @returns {Promise<boolean>} whether it is awake now
 */
async function wakeUp(tabId) {
  const session = sessionOf(tabId);
  if (!session) return false;
  return wake(tabId, session).then(
    () => true,
    () => false,
  );
}

/**
 * @param {number} tabId
 * @returns {string} a sentence for whoever misses something on the page, if it may not be drawn
 */
export function undrawnNote(tabId) {
  if (isTaken(tabId) || isInFront(tabId)) return "";
  return " The tab is in the background and has no debugger attached, so the browser does not draw it: what a page draws only when it is seen is missing. browser_focus_tab brings it to the front.";
}

// A screencast keeps a tab drawing at full speed, for input.

const FRAME_MS = 2000;
/**
 * A background tab draws at full speed only while something watches it: this small screencast does,
 * and costs little. At a smaller size, thin elements would not be drawn at all.
 */
const TINY_SCREENCAST = {
  format: "jpeg",
  quality: 1,
  maxWidth: 64,
  maxHeight: 64,
  everyNthFrame: 1000,
};

/**
 * Until the tab sleeps.
 * @param {number} tabId
 */
function watch(tabId) {
  void send(tabId, "Page.startScreencast", TINY_SCREENCAST).catch(() => {});
}

/**
 * Input sent to a page that has never drawn is acknowledged and lost.
 * @param {number} tabId
 */
export async function waitUntilDrawn(tabId) {
  const session = sessionOf(tabId);
  if (!session) return;
  if (!session.watched) watch(tabId);
  session.watched = true;
  session.drawn ??= firstFrame(tabId).catch(() => {});
  await session.drawn;
  // That which was begun early may have failed.
  if (!session.drawn) await firstFrame(tabId).catch(() => {});
}

/** @param {number} tabId */
function firstFrame(tabId) {
  return within(FRAME_MS, nextFrame(tabId, 1));
}

/**
 * In a tab that has had input, more of it may follow as soon as the next page has loaded.
 * @param {number} tabId
 * @param {chrome.tabs.OnUpdatedInfo} change
 */
function drawEarly(tabId, { status }) {
  const session = sessionOf(tabId);
  if (status !== "complete" || !session?.watched || !session.isAwake || session.drawn) return;
  const drawn = firstFrame(tabId).catch(() => {
    // A dialog may have been open: whoever sends input waits again.
    if (session.drawn === drawn) session.drawn = null;
  });
  session.drawn = drawn;
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function screencastEvent(tabId, _, method, params) {
  if (method !== "Page.screencastFrame") return;
  const { sessionId } = params;
  void send(tabId, "Page.screencastFrameAck", { sessionId }).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {number} count
 */
async function nextFrame(tabId, count) {
  const expression = `new Promise((done) => {
    const next = (left) => requestAnimationFrame(() => (left > 1 ? next(left - 1) : done()));
    next(${count});
  })`;
  await send(tabId, "Runtime.evaluate", { expression, awaitPromise: true });
}

register({ name: "screencasts", event: screencastEvent, updated: drawEarly });
