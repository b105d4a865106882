/**
 * The debugger on tabs: attached when a command needs it, kept while commands come or something
 * holds it, detached otherwise. Other debuggers on the same tab do not interfere.
 */

import { messageOf } from "../shared/command-errors.js";
import { isExtensionPage } from "../shared/known-tabs.js";
import { register, report } from "../shared/tab-state.js";
import {
  attach,
  calm,
  command,
  detach,
  emulateFocus,
  lookAway,
  prepare,
  sleep,
  wake,
} from "./attachment.js";
import { Holds } from "./holds.js";

const STORED = "holds";
const STORED_TAKEN = "taken";
const IDLE_MS = 60_000;
/** How long a tab stays awake after the last command: ten animated pages keep half a core busy. */
const QUIET_MS = 5000;
/** A page that sleeps loses the focus, which closes the menu that a click has opened. */
const QUIET_AFTER_INPUT_MS = 30_000;

/**
 * @typedef {object} Session
 * @property {Promise<void>} attached
 * @property {Promise<void>} ready
 * @property {Promise<unknown> | null} awake with focus emulated, while commands come
 * @property {boolean} isAwake whether that has been acknowledged
 * @property {Promise<void> | null} again attaching again, after the attachment was lost
 * @property {Promise<void> | null} drawn settles once the document has drawn a frame for us
 * @property {boolean} watched
 * @property {number} inUse
 * @property {ReturnType<typeof setTimeout> | undefined} quietTimer
 * @property {ReturnType<typeof setTimeout> | undefined} idleTimer
 */

/** @type {Map<number, Session>} */
const sessions = new Map();
const holds = new Holds((all) => void chrome.storage.session.set({ [STORED]: all }));

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
export async function send(tabId, method, params) {
  try {
    return await command({ tabId }, method, params);
  } catch (error) {
    const session = sessions.get(tabId);
    // A detach on purpose is reported and ends the session, so this one was an accident. The
    // browser has refused the command, so it has had no effect.
    if (!session?.inUse || !/is not attached/i.test(messageOf(error))) throw error;
    await attachAgain(tabId, session);
    return command({ tabId }, method, params);
  }
}

/**
 * Sends to a frame's own session, for a frame in another process than its tab.
 * @param {number} tabId
 * @param {string | undefined} sessionId undefined: the tab's
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
export async function sendTo(tabId, sessionId, method, params) {
  if (sessionId === undefined) return send(tabId, method, params);
  return command({ tabId, sessionId }, method, params);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
async function attachAgain(tabId, session) {
  session.again ??= attach(tabId)
    .then(() => prepare(tabId))
    .finally(() => (session.again = null));
  sleep(session);
  await session.again;
  report("returned", tabId);
  await wake(tabId, session);
}

/** @param {number} tabId */
export function sessionOf(tabId) {
  return sessions.get(tabId);
}

/** @param {number} tabId */
export function isTaken(tabId) {
  return sessions.has(tabId);
}

/**
 * With the debugger attached, dialogs are reported. Nothing is asked of the page if it already is.
 * @param {number} tabId
 */
export async function attachTab(tabId) {
  const session = sessions.get(tabId) ?? begin(tabId);
  rest(tabId, session);
  await session.ready;
}

/**
 * Keeps the debugger on a tab when no commands come, and after this worker has ended.
 * @param {number} tabId
 * @param {string} why each reason is added and dropped separately
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
 * Ends everything that was switched on in the tab: the debugger is detached, and attached again if
 * somebody still needs it.
 * @param {number} tabId
 */
export async function renew(tabId) {
  const session = sessions.get(tabId);
  if (!session) return;
  await session.ready.catch(() => {});
  await detach(tabId);
  if (sessions.get(tabId) !== session) return;
  if (!holds.has(tabId) && !session.inUse) return forgetTab(tabId);
  await attachAgain(tabId, session).catch(() => {});
  rest(tabId, session);
}

/**
 * @param {string} why
 * @returns {number[]} the tabs that are held for it; after a restart, those of the earlier worker
 */
export function heldFor(why) {
  return holds.tabsOf(why);
}

export function takenTabs() {
  return [...sessions.keys()];
}

/** @returns {[number, string[]][]} which tabs are held, and why */
export function heldTabs() {
  return holds.all;
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
    if (!session.isAwake) await wake(tabId, session);
    return await work();
  } finally {
    session.inUse--;
    rest(tabId, session);
  }
}

/**
 * Keeps the debugger on the tab until the returned function is called, if it is attached at all.
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
 * @param {number} tabId
 * @param {string} url
 */
function documentChanged(tabId, url) {
  const session = sessions.get(tabId);
  if (session) session.drawn = null;
  if (!isExtensionPage(url)) return;
  forgetTab(tabId);
  release(tabId);
}

/** @param {number} tabId */
export function forgetTab(tabId) {
  const session = sessions.get(tabId);
  if (!session) return;
  clearTimeout(session.quietTimer);
  clearTimeout(session.idleTimer);
  sessions.delete(tabId);
  saveTaken();
  holds.forget(tabId);
  report("lost", tabId);
}

function saveTaken() {
  void chrome.storage.session.set({ [STORED_TAKEN]: takenTabs() });
}

/**
 * An attachment outlives the worker that made it: it is kept as before, and detached if nothing
 * holds it and no command comes.
 */
async function adoptAttachments() {
  const [targets, stored] = await Promise.all([
    chrome.debugger.getTargets(),
    chrome.storage.session.get([STORED, STORED_TAKEN]),
  ]);
  const attached = targets.flatMap(({ attached, tabId }) => (attached && tabId) || []);
  const taken = Array.isArray(stored[STORED_TAKEN]) ? stored[STORED_TAKEN] : [];
  holds.load(stored[STORED], attached);
  for (const tabId of attached) {
    // Other programs may have a debugger on a tab too.
    if (holds.has(tabId) || taken.includes(tabId)) rest(tabId, begin(tabId, true));
    else setTimeout(releaseUnused, IDLE_MS, tabId);
  }
}

/** @param {number} tabId */
function releaseUnused(tabId) {
  if (sessions.has(tabId)) return;
  report("lost", tabId);
  release(tabId);
}

/**
 * @param {number} tabId
 * @param {boolean} [isPrepared] by an earlier worker; a page that shows a dialog or is busy would
 *   not answer now
 */
function begin(tabId, isPrepared = false) {
  const attached = attach(tabId);
  /** @type {Session} */
  const session = {
    attached,
    ready: attached.then(() => {
      const prepared = prepare(tabId);
      return isPrepared ? void prepared.catch(() => {}) : prepared;
    }),
    awake: null,
    isAwake: false,
    again: null,
    drawn: null,
    watched: false,
    inUse: 0,
    quietTimer: undefined,
    idleTimer: undefined,
  };
  sessions.set(tabId, session);
  saveTaken();
  session.ready.catch(() => giveUp(tabId, session));
  if (!isPrepared) void attached.then(() => begun(tabId, session)).catch(() => {});
  return session;
}

/**
 * The page is not waited for: it may be the first document of the tab, and has to be visible from
 * its start.
 * @param {number} tabId
 * @param {Session} session
 */
function begun(tabId, session) {
  emulateFocus(tabId, session);
  report("attached", tabId);
  rest(tabId, session);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
async function giveUp(tabId, session) {
  if (sessions.get(tabId) !== session) return;
  forgetTab(tabId);
  const isAttached = await session.attached.then(() => true).catch(() => false);
  if (isAttached && !sessions.has(tabId)) release(tabId);
}

/**
 * @param {number} tabId
 * @param {Session} session
 */
function rest(tabId, session) {
  clearTimeout(session.quietTimer);
  clearTimeout(session.idleTimer);
  if (session.inUse || sessions.get(tabId) !== session) return;
  const isQuiet = () => !session.inUse && sessions.get(tabId) === session;
  const quietMs = session.watched ? QUIET_AFTER_INPUT_MS : QUIET_MS;
  session.quietTimer = setTimeout(() => isQuiet() && calm(tabId, session), quietMs);
  session.idleTimer = setTimeout(() => {
    if (!isQuiet() || holds.has(tabId)) return;
    forgetTab(tabId);
    release(tabId);
  }, IDLE_MS);
}

/** @param {number} tabId */
function release(tabId) {
  lookAway(tabId);
  void detach(tabId);
}

register({
  name: "attachments",
  restore: adoptAttachments,
  forget: forgetTab,
  detached: forgetTab,
  committed: documentChanged,
  describe: () => ({ taken: takenTabs(), held: heldTabs() }),
});
