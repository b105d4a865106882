/** The debugger's CSS domain, enabled while something needs it, per tab and session. */

import { childrenOf } from "./child-sessions.js";
import { heldFor, sendTo, unhold } from "./debugger.js";
import { register } from "../shared/tab-state.js";

/** @typedef {{styleSheetId: string, sourceURL: string, isInline: boolean, length: number, frameId: string}} Sheet */
/** @typedef {{users: Set<string>, sheets: Map<string, Sheet>, ready: Promise<unknown>}} Use */

/** @type {Map<number, Map<string | undefined, Use>>} by tab and session */
const tabs = new Map();

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} user
 */
export async function useCss(tabId, session, user) {
  const uses = tabs.get(tabId) ?? new Map();
  tabs.set(tabId, uses);
  const use = uses.get(session) ?? begin(tabId, session, uses);
  use.users.add(user);
  await use.ready;
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {Map<string | undefined, Use>} uses
 */
function begin(tabId, session, uses) {
  /** @type {Use} */
  const use = { users: new Set(), sheets: new Map(), ready: Promise.resolve() };
  // The browser reports the sheets meanwhile.
  uses.set(session, use);
  use.ready = enable(tabId, session);
  use.ready.catch(() => uses.delete(session));
  return use;
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 */
async function enable(tabId, session) {
  // An earlier worker may have left it enabled, and then the browser would report nothing.
  await sendTo(tabId, session, "CSS.disable").catch(() => {});
  await sendTo(tabId, session, "DOM.enable");
  await sendTo(tabId, session, "CSS.enable");
}

/**
 * All commands are sent at once.
 * @param {number} tabId
 * @param {string} user
 */
export async function dropCss(tabId, user) {
  const uses = tabs.get(tabId);
  const ended = [...(uses ?? [])].filter(([, { users }]) => users.delete(user) && !users.size);
  ended.forEach(([session]) => uses?.delete(session));
  await Promise.all(ended.map(([session]) => disable(tabId, session)));
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 */
function disable(tabId, session) {
  const methods = ["CSS.disable", "DOM.disable"];
  return Promise.all(methods.map((method) => sendTo(tabId, session, method).catch(() => {})));
}

/**
 * Ends what an earlier worker began for a command that is gone.
 * @param {string} user
 */
export function endLeftover(user) {
  for (const tabId of heldFor(user)) {
    const sessions = [undefined, ...childrenOf(tabId).map(({ session }) => session)];
    sessions.forEach((session) => void disable(tabId, session));
    unhold(tabId, user);
  }
}

/**
 * @param {number} tabId
 * @returns {Sheet[]} those of the tab's own session
 */
export function sheetsOf(tabId) {
  return [...(tabs.get(tabId)?.get(undefined)?.sheets.values() ?? [])];
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function cssEvent(tabId, session, method, params) {
  const sheets = tabs.get(tabId)?.get(session)?.sheets;
  if (!sheets) return;
  if (method === "CSS.styleSheetAdded") sheets.set(params.header.styleSheetId, params.header);
  if (method === "CSS.styleSheetRemoved") sheets.delete(params.styleSheetId);
}

register({
  name: "style sheets",
  after: ["children"],
  event: cssEvent,
  lost: (tabId) => tabs.delete(tabId),
});
