/**
 * The debugger on tabs: attached when a command needs it, kept while commands come or someone
 * holds it, dropped otherwise. Other debuggers on the same tab do not disturb it.
 */

import { CommandError, messageOf } from "./errors.js";
import { isExtensionPage, refuseExtensionPage } from "./guard.js";
import { Holds } from "./holds.js";
import { requireWilling } from "./refusals.js";
import { showsExtension } from "./tabs.js";

const STORED = "holds";
const PROTOCOL = "1.3";
const IDLE_MS = 60_000;
const ATTACH_MS = 10_000;
const WAKE_MS = 10_000;
const FRAME_MS = 2000;
/**
 * A background tab draws at full pace only while someone looks on: this looks, and costs little.
 * What is so thin that nothing of it is left at this size is not drawn.
 */
const ONLOOKER = { format: "jpeg", quality: 1, maxWidth: 64, maxHeight: 64, everyNthFrame: 1000 };
const NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => done()))";

/**
 * @typedef {object} Session
 * @property {Promise<void>} attached
 * @property {Promise<void>} ready
 * @property {Promise<unknown> | null} awake with focus emulated, while commands come
 * @property {Promise<void> | null} again attaching once more, after the attachment was lost
 * @property {Promise<void> | null} drawn settles once the document has drawn a frame for us
 * @property {boolean} watched
 * @property {number} inUse
 * @property {ReturnType<typeof setTimeout> | undefined} idleTimer
 */

/** @type {Map<number, Session>} */
const sessions = new Map();
/** @type {Map<number, Promise<void>>} tabs that are being let go */
const releasing = new Map();
/** @type {Set<(tabId: number) => void>} */
const losses = new Set();
/** @type {Set<(tabId: number) => void>} */
const returns = new Set();
const holds = new Holds((all) => void chrome.storage.session.set({ [STORED]: all }));

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
export async function send(tabId, method, params) {
  try {
    return await sendOnce(tabId, method, params);
  } catch (error) {
    const session = sessions.get(tabId);
    // Who detaches us on purpose is heard of, and ends the session: this was a mishap. The
    // browser has refused the command, so it has had no effect yet.
    if (!session?.inUse || !/is not attached/i.test(messageOf(error))) throw error;
    await attachAgain(tabId, session);
    return sendOnce(tabId, method, params);
  }
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 */
function sendOnce(tabId, method, params) {
  return chrome.debugger.sendCommand({ tabId }, method, params);
}

/**
 * To a frame's own session, where the frame lives in another process than its tab.
 * @param {number} tabId
 * @param {string | undefined} sessionId undefined: the tab's
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
export async function sendTo(tabId, sessionId, method, params) {
  if (sessionId === undefined) return send(tabId, method, params);
  return chrome.debugger.sendCommand({ tabId, sessionId }, method, params);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
async function attachAgain(tabId, session) {
  session.again ??= attach(tabId)
    .then(() => prepare(tabId))
    .finally(() => (session.again = null));
  session.watched = false;
  session.drawn = null;
  session.awake = null;
  await session.again;
  returns.forEach((listener) => listener(tabId));
  await wake(tabId, session);
}

/** @param {number} tabId */
export function isTaken(tabId) {
  return sessions.has(tabId);
}

/**
 * Attached: dialogs are heard of. Nothing is asked of the page if the debugger is there already.
 * @param {number} tabId
 */
export async function attachTab(tabId) {
  const session = sessions.get(tabId) ?? begin(tabId);
  rest(tabId, session);
  await session.ready;
}

/**
 * With focus emulated, a background tab behaves as if it were shown. That costs a lot: only while
 * commands come.
 * @param {number} tabId
 * @param {Session} session
 */
async function wake(tabId, session) {
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
 * Keeps the debugger on a tab when no commands come, also beyond the life of this worker.
 * @param {number} tabId
 * @param {string} why each reason holds and is dropped by itself
 */
export async function hold(tabId, why) {
  const session = sessions.get(tabId) ?? begin(tabId);
  holds.add(tabId, why);
  await session.attached;
}

/**
 * @param {number} tabId
 * @param {string} why
 */
export function unhold(tabId, why) {
  const session = sessions.get(tabId);
  if (holds.remove(tabId, why) && session) rest(tabId, session);
}

/**
 * @param {string} why
 * @returns {number[]} the tabs that are held for it; after a restart those of the life before
 */
export function heldFor(why) {
  return holds.tabsOf(why);
}

export function takenTabs() {
  return [...sessions.keys()];
}

/** @returns {[number, string[]][]} which tabs are held, and for what */
export function heldTabs() {
  return holds.all;
}

/** @param {(tabId: number) => void} listener called when the debugger, and what it held, is gone */
export function onLoss(listener) {
  losses.add(listener);
}

/** @param {(tabId: number) => void} listener called when it is back after a mishap, with nothing enabled */
export function onReturn(listener) {
  returns.add(listener);
}

/**
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 */
export async function withTab(tabId, work) {
  const session = sessions.get(tabId) ?? begin(tabId);
  session.inUse++;
  try {
    await wake(tabId, session);
    return await work();
  } finally {
    session.inUse--;
    rest(tabId, session);
  }
}

/**
 * Keeps the tab until it is let go, if it is taken at all.
 * @param {number} tabId
 * @returns {() => void}
 */
export function holdTab(tabId) {
  const session = sessions.get(tabId);
  if (!session) return () => {};
  session.inUse++;
  return () => {
    session.inUse--;
    rest(tabId, session);
  };
}

/**
 * Input sent to a page that has never drawn is acknowledged and lost.
 * @param {number} tabId
 */
export async function waitUntilDrawn(tabId) {
  const session = sessions.get(tabId);
  if (!session) return;
  if (!session.watched) void send(tabId, "Page.startScreencast", ONLOOKER).catch(() => {});
  session.watched = true;
  session.drawn ??= within(FRAME_MS, nextFrame(tabId)).catch(() => {});
  await session.drawn;
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {any} params
 */
export function screencastEvent(tabId, method, params) {
  if (method !== "Page.screencastFrame") return;
  const { sessionId } = params;
  void send(tabId, "Page.screencastFrameAck", { sessionId }).catch(() => {});
}

/** @param {number} tabId */
async function nextFrame(tabId) {
  await send(tabId, "Runtime.evaluate", { expression: NEXT_FRAME, awaitPromise: true });
}

/**
 * @param {number} tabId
 * @param {string} url
 */
export function documentChanged(tabId, url) {
  const session = sessions.get(tabId);
  if (session) session.drawn = null;
  if (!isExtensionPage(url)) return;
  forgetTab(tabId);
  void release(tabId);
}

/** @param {number} tabId */
export function forgetTab(tabId) {
  const session = sessions.get(tabId);
  if (!session) return;
  clearTimeout(session.idleTimer);
  sessions.delete(tabId);
  holds.forget(tabId);
  losses.forEach((listener) => listener(tabId));
}

/** An attachment outlives the worker that made it: let it go if it is not held and no command comes. */
export async function adoptAttachments() {
  const [targets, stored] = await Promise.all([
    chrome.debugger.getTargets(),
    chrome.storage.session.get(STORED),
  ]);
  const attached = targets.flatMap(({ attached, tabId }) => (attached && tabId) || []);
  holds.load(stored[STORED], attached);
  for (const tabId of attached) {
    if (holds.has(tabId)) rest(tabId, begin(tabId));
    else setTimeout(releaseUnused, IDLE_MS, tabId);
  }
}

/** @param {number} tabId */
function releaseUnused(tabId) {
  if (sessions.has(tabId)) return;
  losses.forEach((listener) => listener(tabId));
  void release(tabId);
}

/** @param {number} tabId */
function begin(tabId) {
  const attached = attach(tabId);
  /** @type {Session} */
  const session = {
    attached,
    ready: attached.then(() => prepare(tabId)),
    awake: null,
    again: null,
    drawn: null,
    watched: false,
    inUse: 0,
    idleTimer: undefined,
  };
  sessions.set(tabId, session);
  session.ready.catch(() => giveUp(tabId, session));
  return session;
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
async function giveUp(tabId, session) {
  if (sessions.get(tabId) !== session) return;
  forgetTab(tabId);
  const isAttached = await session.attached.then(() => true).catch(() => false);
  if (isAttached && !sessions.has(tabId)) void release(tabId);
}

/** @param {number} tabId */
async function attach(tabId) {
  try {
    await within(ATTACH_MS, attachOnce(tabId));
  } catch (error) {
    throw explainRefusal(tabId, error);
  }
}

/** @param {number} tabId */
async function prepare(tabId) {
  try {
    await within(ATTACH_MS, sendOnce(tabId, "Page.enable"));
  } catch (error) {
    throw explainRefusal(tabId, error);
  }
}

/** @param {number} tabId */
async function attachOnce(tabId) {
  await releasing.get(tabId);
  requireWilling(tabId);
  if (await showsExtension(tabId)) refuseExtensionPage();
  await chrome.debugger.attach({ tabId }, PROTOCOL).catch((error) => {
    // Left behind by an earlier life of this worker: it is ours and still works.
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
  return new CommandError(
    "needs_person",
    `The browser protects this page from extensions (${message}). A person has to act here, or open another page.`,
  );
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
function rest(tabId, session) {
  clearTimeout(session.idleTimer);
  session.idleTimer = setTimeout(() => {
    if (session.inUse || sessions.get(tabId) !== session) return;
    if (holds.has(tabId)) return calm(tabId, session);
    forgetTab(tabId);
    void release(tabId);
  }, IDLE_MS);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
function calm(tabId, session) {
  session.awake = null;
  session.watched = false;
  session.drawn = null;
  lookAway(tabId);
}

/** @param {number} tabId */
async function release(tabId) {
  const released = letGo(tabId);
  releasing.set(tabId, released);
  await released;
  if (releasing.get(tabId) === released) releasing.delete(tabId);
}

/** @param {number} tabId */
async function letGo(tabId) {
  lookAway(tabId);
  // Gone already, or not ours.
  await chrome.debugger.detach({ tabId }).catch(() => {});
}

/**
 * A page that is busy, or shows a dialog, would not acknowledge: these are not waited for.
 * @param {number} tabId
 */
function lookAway(tabId) {
  void sendOnce(tabId, "Emulation.setFocusEmulationEnabled", { enabled: false }).catch(() => {});
  void sendOnce(tabId, "Page.stopScreencast").catch(() => {});
}

/**
 * @template T
 * @param {number} ms
 * @param {Promise<T>} promise
 */
export async function within(ms, promise) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new CommandError("timeout", "The page does not answer.")), ms);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}
