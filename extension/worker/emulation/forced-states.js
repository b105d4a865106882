/** page.pseudo: makes an element look hovered, focused and so on, until it is ended. */

import { dropChildren, useChildren } from "../debugger/child-sessions.js";
import { dropCss, endLeftover, useCss } from "../debugger/style-sheets.js";
import { hold, sendTo, unhold, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { findTarget } from "../input/targets.js";
import { Turns } from "../shared/timing.js";
import { showElement } from "../debugger/isolated-worlds.js";

const PSEUDO = "pseudo";

/** @type {Map<number, Set<string>>} the elements of each tab that are forced into a state */
const forced = new Map();
const turns = new Turns();

/** @param {import("../shared/command-context.d.ts").Context<Wire.ForcePseudo>} context */
export async function forcePseudo(context) {
  const { tabId, signal } = context;
  return unlessDialog(tabId, signal, (live) =>
    withTab(tabId, () => turns.take(tabId, live, () => forceOne(context, live))),
  );
}

/**
 * @param {import("../shared/command-context.d.ts").Context<Wire.ForcePseudo>} context
 * @param {AbortSignal} live
 */
async function forceOne({ tabId, input, site, reach }, live) {
  const { frame, how } = await findTarget(tabId, input, reach);
  await hold(tabId, PSEUDO);
  try {
    if (frame.frameId !== 0) await useChildren(tabId, PSEUDO);
    const shown = await showElement(frame, how);
    if (!shown) throw outOfReach();
    live.throwIfAborted();
    requireKnownSite(tabId, site);
    return { forced: await force(tabId, shown, input.pseudoClasses) };
  } finally {
    if (!forced.get(tabId)?.size) await end(tabId);
  }
}

function outOfReach() {
  const message = "The debugger does not find this element. States can be forced on HTML elements.";
  return new CommandError("invalid_arguments", message);
}

/**
 * @param {number} tabId
 * @param {{session: string | undefined, objectId: string}} shown
 * @param {string[]} pseudoClasses
 */
async function force(tabId, { session, objectId }, pseudoClasses) {
  await useCss(tabId, session, PSEUDO);
  const nodeId = await nodeOf(tabId, session, objectId);
  const forcedPseudoClasses = pseudoClasses.map((name) => name.replace(/^:/, ""));
  await sendTo(tabId, session, "CSS.forcePseudoState", { nodeId, forcedPseudoClasses });
  const elements = forced.get(tabId) ?? new Set();
  forced.set(tabId, elements);
  const key = `${session ?? ""} ${nodeId}`;
  if (forcedPseudoClasses.length) elements.add(key);
  else elements.delete(key);
  return elements.size;
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} objectId
 * @returns {Promise<number>}
 */
async function nodeOf(tabId, session, objectId) {
  const ask = async () => (await sendTo(tabId, session, "DOM.requestNode", { objectId })).nodeId;
  const known = await ask().catch(() => 0);
  if (known) return known;
  // Requesting the document again would reset all forced states.
  await sendTo(tabId, session, "DOM.getDocument", { depth: 0 });
  return ask();
}

/** @param {number} tabId */
async function end(tabId) {
  forced.delete(tabId);
  const dropped = dropCss(tabId, PSEUDO);
  dropChildren(tabId, PSEUDO);
  unhold(tabId, PSEUDO);
  await dropped;
}

/** @param {number} tabId */
async function release(tabId) {
  if (forced.has(tabId)) await end(tabId);
}

register({
  name: "forced states",
  after: ["style sheets"],
  restore: () => endLeftover(PSEUDO),
  // A new document has none of the elements.
  committed: release,
  lost: (tabId) => forced.delete(tabId),
  released: release,
});
