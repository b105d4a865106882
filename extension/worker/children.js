/**
 * The parts of a tab that have a debugger session of their own: frames in other processes, and
 * workers. They are attached to while anyone needs them, and wait with their first step until
 * everybody has prepared them.
 */

import { onLoss, onReturn, send, sendTo } from "./debugger.js";

const ATTACH = {
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
  filter: [{ type: "iframe" }, { type: "worker" }],
};

/** @typedef {{tabId: number, session: string, type: string, url: string, parent?: string}} Child */

/** @type {Map<number, {users: Set<unknown>, children: Map<string, Child>}>} */
const tabs = new Map();
/** @type {Set<(child: Child) => void>} */
const preparers = new Set();

/**
 * @param {(child: Child) => void} prepare sends, at once, what a child is to know before it runs
 */
export function onChild(prepare) {
  preparers.add(prepare);
}

/**
 * @param {number} tabId
 * @returns {Child[]}
 */
export function childrenOf(tabId) {
  return [...(tabs.get(tabId)?.children.values() ?? [])];
}

/**
 * Settles when those that are there have been announced to the preparers.
 * @param {number} tabId
 * @param {unknown} user
 */
export async function useChildren(tabId, user) {
  const tab = tabs.get(tabId) ?? { users: new Set(), children: new Map() };
  tabs.set(tabId, tab);
  tab.users.add(user);
  // Asked again, the browser announces nothing twice.
  await send(tabId, "Target.setAutoAttach", ATTACH);
}

/**
 * @param {number} tabId
 * @param {unknown} user
 */
export function dropChildren(tabId, user) {
  const tab = tabs.get(tabId);
  if (!tab?.users.delete(user) || tab.users.size) return;
  tabs.delete(tabId);
  void send(tabId, "Target.setAutoAttach", { ...ATTACH, autoAttach: false }).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {string | undefined} parent
 * @param {string} method
 * @param {any} params
 */
export function childEvent(tabId, parent, method, params) {
  if (method === "Target.attachedToTarget") attached(tabId, parent, params);
  if (method === "Target.detachedFromTarget") tabs.get(tabId)?.children.delete(params.sessionId);
}

/**
 * @param {number} tabId
 * @param {string | undefined} parent
 * @param {any} params
 */
function attached(tabId, parent, { sessionId: session, targetInfo: { type, url } }) {
  const child = { tabId, session, type, url, ...(parent !== undefined && { parent }) };
  tabs.get(tabId)?.children.set(session, child);
  const order = (/** @type {string} */ method, /** @type {object} */ params) =>
    sendTo(tabId, session, method, params).catch(() => {});
  if (tabs.has(tabId)) preparers.forEach((prepare) => prepare(child));
  void order("Target.setAutoAttach", ATTACH);
  void order("Runtime.runIfWaitingForDebugger", {});
}

onLoss((tabId) => tabs.delete(tabId));
onReturn((tabId) => {
  const tab = tabs.get(tabId);
  tab?.children.clear();
  if (tab) void send(tabId, "Target.setAutoAttach", ATTACH).catch(() => {});
});
