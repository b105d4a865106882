/**
 * page.emulate: another device, place or network for a tab. It lasts through navigations and
 * restarts of this worker until it is ended or the debugger is detached.
 */

import { childrenOf, dropChildren, useChildren } from "../debugger/child-sessions.js";
import { heldFor, hold, isTaken, sendTo, unhold, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { KIND_NAMES, ordersFor, ordersOf } from "./emulation-orders.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { dropNetwork, useNetwork } from "../debugger/network-events.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { Turns, within } from "../shared/timing.js";

const WHY = "emulation";
const STORED = "emulation";
const CHILD_MS = 3000;
const RESTORE_MS = 5000;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./emulation-orders.js").Emulated} Emulated */
/** @typedef {import("./emulation-orders.js").Kind} Kind */
/** @typedef {import("./emulation-orders.js").Order} Order */
/** @typedef {[Kind, Wire.EmulationChanges[Kind]]} Change null ends it */

/** @type {Map<number, Emulated>} */
const tabs = new Map();
const turns = new Turns();

async function restoreEmulation() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  const held = heldFor(WHY);
  for (const [tabId, state] of Array.isArray(stored) ? stored : []) {
    if (held.includes(tabId)) tabs.set(tabId, state);
  }
  for (const tabId of held) if (!tabs.has(tabId)) unhold(tabId, WHY);
  await Promise.all([...tabs.keys()].map((tabId) => use(tabId).catch(() => {})));
}

function save() {
  void chrome.storage.session.set({ [STORED]: [...tabs] });
}

/**
 * @param {number} tabId
 * @returns {Emulated}
 */
export function emulatedIn(tabId) {
  return tabs.get(tabId) ?? {};
}

/** @param {Context<Wire.Emulate>} context */
export async function emulate({ tabId, input, site, signal }) {
  const changes = changesOf(input);
  return unlessDialog(tabId, signal, (live) =>
    withTab(tabId, () => turns.take(tabId, live, () => apply(tabId, changes, site, live))),
  );
}

/**
 * @param {number} tabId
 * @param {Change[]} changes
 * @param {string | undefined} site
 * @param {AbortSignal} live
 */
async function apply(tabId, changes, site, live) {
  await hold(tabId, WHY);
  try {
    live.throwIfAborted();
    requireKnownSite(tabId, site);
    for (const [kind, value] of changes) await change(tabId, kind, value ?? undefined);
  } finally {
    await rest(tabId);
  }
  return { emulated: emulatedIn(tabId) };
}

/**
 * @param {Wire.Emulate} input
 * @returns {Change[]}
 */
function changesOf({ set }) {
  const changes = /** @type {Change[]} */ (Object.entries(set ?? {}));
  if (changes.every(([kind]) => KIND_NAMES.includes(kind))) return changes;
  throw new CommandError("invalid_arguments", `There is ${KIND_NAMES.join(", ")} to emulate.`);
}

/**
 * @param {number} tabId
 * @param {Kind} kind
 * @param {Emulated[Kind]} value undefined ends it
 */
async function change(tabId, kind, value) {
  const before = emulatedIn(tabId);
  if (value === undefined && before[kind] === undefined) return;
  if (kind === "network") await useNetwork(tabId, WHY, { children: true });
  const { [kind]: _, ...others } = before;
  // Children that appear meanwhile must get the new state.
  tabs.set(tabId, value === undefined ? others : { ...others, [kind]: value });
  // A worker that dies in the next moment must have stored what it sent.
  if (value !== undefined) save();
  try {
    await Promise.all(ordersOf(kind, value).map((order) => sendOrder(tabId, order)));
  } catch (error) {
    tabs.set(tabId, before);
    await Promise.allSettled(ordersOf(kind, before[kind]).map((order) => sendOrder(tabId, order)));
    throw new CommandError("invalid_arguments", `The browser refuses it: ${messageOf(error)}`);
  }
}

/**
 * @param {number} tabId
 * @param {Order} order
 */
async function sendOrder(tabId, { method, params, everywhere }) {
  const frames = everywhere ? childrenOf(tabId) : [];
  const sent = frames.map(({ session }) =>
    // A busy child applies it later.
    within(CHILD_MS, sendTo(tabId, session, method, params)).catch(() => {}),
  );
  await sendTo(tabId, undefined, method, params);
  await Promise.all(sent);
}

/**
 * Keep what the current emulation still needs.
 * @param {number} tabId
 */
async function rest(tabId) {
  const state = emulatedIn(tabId);
  if (!state.network) dropNetwork(tabId, WHY);
  if (Object.keys(state).length) await use(tabId).catch(() => {});
  else end(tabId);
  save();
}

/** @param {number} tabId */
function end(tabId) {
  tabs.delete(tabId);
  dropChildren(tabId, WHY);
  unhold(tabId, WHY);
}

/**
 * Frames that appear later need it too.
 * @param {number} tabId
 */
async function use(tabId) {
  const state = emulatedIn(tabId);
  const isEverywhere = ordersFor(state).some(({ everywhere }) => everywhere);
  if (isEverywhere) await useChildren(tabId, WHY);
  if (state.network) await useNetwork(tabId, WHY, { children: true });
}

/** @param {import("../debugger/child-sessions.js").Child} child */
function sendToChild({ tabId, session }) {
  for (const { method, params, everywhere } of ordersFor(emulatedIn(tabId))) {
    if (everywhere) void sendTo(tabId, session, method, params).catch(() => {});
  }
}

/** @param {number} tabId */
function sendAgain(tabId) {
  for (const order of ordersFor(emulatedIn(tabId))) void sendOrder(tabId, order).catch(() => {});
}

/** @param {number} tabId */
function forget(tabId) {
  if (tabs.delete(tabId)) save();
}

/** @param {number} tabId */
async function release(tabId) {
  if (!tabs.has(tabId) || !isTaken(tabId)) return;
  const kinds = KIND_NAMES.filter((kind) => kind in emulatedIn(tabId));
  const orders = kinds.flatMap((kind) => ordersOf(kind, undefined));
  const sent = orders.map((order) => sendOrder(tabId, order));
  dropNetwork(tabId, WHY);
  end(tabId);
  save();
  await Promise.allSettled(sent);
}

register({
  name: "emulation",
  after: ["children", "network"],
  restore: restoreEmulation,
  restoreMs: RESTORE_MS,
  child: sendToChild,
  returned: sendAgain,
  lost: forget,
  released: release,
  describe: () => [...tabs],
});
