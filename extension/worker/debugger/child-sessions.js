/**
 * The parts of a tab that have a debugger session of their own: frames in other processes, and
 * workers. We attach to them while a part needs them; each waits before it runs anything until
 * all parts have prepared it.
 */

import { send, sendTo } from "./debugger.js";
import { saver, register, report } from "../shared/tab-state.js";
import { clip, URL_LENGTH } from "../shared/clip.js";

const STORED = "children";
const ATTACH = {
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
  filter: [{ type: "iframe" }, { type: "worker" }],
};
/** With a filter, the sessions would stay attached. */
const DETACH = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true };

/** @typedef {{tabId: number, session: string, type: string, url: string, parent?: string}} Child */

/**
 * @typedef {object} Family
 * @property {Set<unknown>} users
 * @property {Map<string, Child>} children
 * @property {Promise<unknown> | null} announced
 */

/** @type {Map<number, Family>} */
const tabs = new Map();
/** @type {Map<number, Child[]>} of an earlier worker: the browser does not report them again */
const left = new Map();
const save = saver(STORED, dump);

/**
 * @param {number} tabId
 * @returns {Child[]}
 */
export function childrenOf(tabId) {
  return [...(tabs.get(tabId)?.children.values() ?? left.get(tabId) ?? [])];
}

/** @returns {[number, Child[]][]} */
function dump() {
  return [...left.keys(), ...tabs.keys()].map((tabId) => [tabId, childrenOf(tabId)]);
}

/** Sessions outlive the worker that started them. */
async function restoreChildren() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, children] of Array.isArray(stored) ? stored : []) left.set(tabId, children);
}

/** Sessions that only a command of the earlier worker used are unused now. */
function dropLeft() {
  for (const tabId of [...left.keys()]) {
    forget(tabId);
    stopAttaching(tabId);
  }
}

/**
 * Settles when the existing children have been reported to all parts.
 * @param {number} tabId
 * @param {unknown} user
 */
export async function useChildren(tabId, user) {
  const tab = tabs.get(tabId) ?? begin(tabId);
  tab.users.add(user);
  tab.announced ??= announce(tabId, tab);
  await tab.announced;
}

/**
 * @param {number} tabId
 * @returns {Family}
 */
function begin(tabId) {
  const known = (left.get(tabId) ?? []).map(
    (child) => /** @type {const} */ ([child.session, child]),
  );
  left.delete(tabId);
  const tab = { users: new Set(), children: new Map(known), announced: null };
  tabs.set(tabId, tab);
  return tab;
}

/**
 * @param {number} tabId
 * @param {Family} tab
 */
function announce(tabId, tab) {
  const announced = send(tabId, "Target.setAutoAttach", ATTACH);
  announced.catch(() => tab.announced === announced && (tab.announced = null));
  return announced;
}

/**
 * @param {number} tabId
 * @param {unknown} user
 */
export function dropChildren(tabId, user) {
  const tab = tabs.get(tabId);
  if (!tab?.users.delete(user) || tab.users.size) return;
  forget(tabId);
  stopAttaching(tabId);
}

/** @param {number} tabId */
function stopAttaching(tabId) {
  void send(tabId, "Target.setAutoAttach", DETACH).catch(() => {});
}

/** @param {number} tabId */
function forget(tabId) {
  const wasUsed = tabs.delete(tabId);
  if (left.delete(tabId) || wasUsed) save();
}

/**
 * @param {number} tabId
 * @param {string | undefined} parent
 * @param {string} method
 * @param {any} params
 */
function childEvent(tabId, parent, method, params) {
  if (method === "Target.attachedToTarget") attached(tabId, parent, params);
  if (method === "Target.detachedFromTarget") detached(tabId, params.sessionId);
}

/**
 * @param {number} tabId
 * @param {string | undefined} parent
 * @param {any} params
 */
function attached(tabId, parent, { sessionId: session, targetInfo: { type, url } }) {
  const place = { type, url: clip(url, URL_LENGTH) };
  const child = { tabId, session, ...place, ...(parent !== undefined && { parent }) };
  tabs.get(tabId)?.children.set(session, child);
  save();
  const order = (/** @type {string} */ method, /** @type {object} */ params) =>
    sendTo(tabId, session, method, params).catch(() => {});
  if (tabs.has(tabId)) report("child", child);
  void order("Target.setAutoAttach", ATTACH);
  // Nobody would report it to the next worker, so it runs once that worker would know it.
  void save.written().then(() => order("Runtime.runIfWaitingForDebugger", {}));
}

/**
 * @param {number} tabId
 * @param {string} session
 */
function detached(tabId, session) {
  const others = left.get(tabId)?.filter((child) => child.session !== session);
  if (others) left.set(tabId, others);
  tabs.get(tabId)?.children.delete(session);
  save();
}

/** @param {number} tabId */
function announceAgain(tabId) {
  const tab = tabs.get(tabId);
  if (!tab) return;
  tab.children.clear();
  tab.announced = announce(tabId, tab);
}

register({
  name: "children",
  after: ["attachments"],
  restore: restoreChildren,
  restored: dropLeft,
  event: childEvent,
  lost: forget,
  returned: announceAgain,
  describe: () => dump().filter(([, children]) => children.length),
});
