/**
 * The state that the worker keeps for tabs. A module that keeps something registers here how it
 * restores it when the worker starts, when it forgets it and which events it needs; `main.js`
 * passes every event on to all of them.
 */

import { within } from "./timing.js";

/**
 * @typedef {object} Hooks
 * @property {() => unknown} restore rebuilds what an earlier worker kept
 * @property {() => unknown} restored every part has been restored
 * @property {(tabId: number) => unknown} forget the tab has closed, or has another number now
 * @property {(tab: chrome.tabs.Tab) => unknown} created
 * @property {(tabId: number, change: chrome.tabs.OnUpdatedInfo, tab: chrome.tabs.Tab) => unknown}
 *   updated
 * @property {(tabId: number) => unknown} closed
 * @property {(newId: number, oldId: number) => unknown} replaced the tab has another number now
 * @property {(tabId: number, session: string | undefined, method: string, params: any) => unknown}
 *   event of the debugger, in the tab's own session or in a child's
 * @property {(tabId: number) => unknown} attached the debugger is attached
 * @property {(tabId: number, reason: string) => unknown} detached the browser has detached the
 *   debugger
 * @property {(tabId: number) => unknown} lost the debugger is detached, and what it had enabled is
 *   gone
 * @property {(tabId: number) => unknown} returned the debugger is attached again after it was lost,
 *   with nothing enabled
 * @property {(child: import("../debugger/child-sessions.js").Child) => unknown} child sends at once
 *   what a child session needs before it runs anything
 * @property {(tabId: number) => Promise<unknown>} released no agent uses the tab any longer; does
 *   what must be done before waiting for the page
 * @property {(tabId: number, url: string) => unknown} navigating the main frame has begun to load a
 *   page
 * @property {(tabId: number) => unknown} stayed that load has failed
 * @property {(tabId: number, url: string) => unknown} committed the main frame shows another
 *   document
 * @property {(openerId: number, tabId: number) => unknown} opened a page has opened a tab
 * @property {(tabId: number) => unknown} addressed a command for the tab has come
 * @property {(tabId: number) => unknown} used a command uses the page that the tab shows
 * @property {(tabId: number, windowId: number) => unknown} activated
 * @property {(windowId: number) => unknown} windowClosed
 * @property {(windowId: number) => unknown} windowFocused
 * @property {(frame: import("../frames/frames.js").Frame, message: any) => unknown} said a content
 *   script has sent a message of its own accord
 * @property {(frame: import("../frames/frames.js").Frame) => unknown} gone a frame's document is
 *   gone
 * @property {() => unknown} describe the state that a worker starting now would have to restore, as
 *   data. It leaves out what belongs to a running command, times, and what is meant to end with the
 *   worker.
 */

/**
 * @typedef {object} Terms
 * @property {string} name
 * @property {string[]} [after] the parts that are restored, and get every event, before this one
 * @property {number} [restoreMs] how long the others wait for this one, since a busy page would
 *   hold them up
 * @property {boolean} [isEarly] it gets the browser's events even while parts are being restored
 */

/** @typedef {Partial<Hooks> & Terms} Part */

/** @type {Map<string, Part>} */
const parts = new Map();
/** @type {Part[] | null} the same, sorted by `after` */
let sorted = null;

/** @param {Part} part */
export function register(part) {
  if (parts.has(part.name)) throw new Error(`Two modules keep "${part.name}".`);
  parts.set(part.name, part);
  sorted = null;
}

function inOrder() {
  sorted ??= sort();
  return sorted;
}

/** @returns {Part[]} */
function sort() {
  /** @type {Set<Part>} */
  const placed = new Set();
  const place = (/** @type {string} */ name, /** @type {string[]} */ path) => {
    const part = parts.get(name);
    if (!part) throw new Error(`There is no part "${name}", which ${path.at(-1)} comes after.`);
    if (path.includes(name)) throw new Error(`${[...path, name].join(" after ")}.`);
    part.after?.forEach((earlier) => place(earlier, [...path, name]));
    placed.add(part);
  };
  for (const name of parts.keys()) place(name, []);
  return [...placed];
}

/**
 * @template {Exclude<keyof Hooks, "restore" | "released" | "describe">} Hook
 * @param {Hook} hook
 * @param {Parameters<Hooks[Hook]>} what
 */
export function report(hook, ...what) {
  reportTo(() => true, hook, what);
}

/**
 * @template {Exclude<keyof Hooks, "restore" | "released" | "describe">} Hook
 * @param {(part: Part) => boolean} includes
 * @param {Hook} hook
 * @param {Parameters<Hooks[Hook]>} what
 */
function reportTo(includes, hook, what) {
  for (const part of inOrder()) if (includes(part)) /** @type {any} */ (part)[hook]?.(...what);
}

/** @type {Promise<unknown> | null} under way */
let restoring = null;

/** Settles when every part has been restored, has failed, or has taken too long. */
export function restoreAll() {
  restoring = restoreParts().finally(() => (restoring = null));
  return restoring;
}

/**
 * Runs the work after restoring, in the order in which it comes: an event of a tab makes sense only
 * to a part that knows what it has begun there.
 * @param {() => void} work
 */
export function onceRestored(work) {
  if (restoring) void restoring.then(work);
  else work();
}

/** @type {typeof report} an event of the browser */
export const passOn = (hook, ...what) => {
  onceRestored(() => reportTo(({ isEarly }) => !isEarly, hook, what));
  reportTo(({ isEarly }) => Boolean(isEarly), hook, what);
};

async function restoreParts() {
  /** @type {Map<string, Promise<unknown>>} */
  const restored = new Map();
  for (const { name, after = [], restore, restoreMs } of inOrder()) {
    const earlier = Promise.allSettled(after.map((one) => restored.get(one)));
    const run = async () => restore?.();
    const restoring = earlier.then(() => (restoreMs ? within(restoreMs, run()) : run()));
    restored.set(name, restoring);
  }
  await Promise.allSettled(restored.values());
  report("restored");
}

/** Commands come fast, and a part that starts something at the first one does not need each. */
const USE_EVERY_MS = 5000;
/**
 * @type {Record<"addressed" | "used", Map<number, number>>} when each tab's use was last reported
 */
const reportedAt = { addressed: new Map(), used: new Map() };

/**
 * @param {"addressed" | "used"} hook
 * @param {number} tabId
 */
export function reportUse(hook, tabId) {
  const now = Date.now();
  if (now - (reportedAt[hook].get(tabId) ?? 0) < USE_EVERY_MS) return;
  reportedAt[hook].set(tabId, now);
  report(hook, tabId);
}

/** From now on the next use of every tab is reported, however soon it comes. */
export function reportNextUses() {
  reportedAt.used.clear();
}

/** @param {number} tabId */
function forgetUse(tabId) {
  Object.values(reportedAt).forEach((times) => times.delete(tabId));
}

register({
  name: "uses",
  forget: forgetUse,
  lost: forgetUse,
  released: async (tabId) => forgetUse(tabId),
});

/**
 * @param {number} tabId
 * @param {number} ms how long to wait for a page that is busy or shows a dialog
 * @param {(part: Part) => boolean} [includes]
 */
export async function releaseAll(tabId, ms, includes = () => true) {
  const parts = inOrder().filter(includes);
  const released = parts.flatMap((part) => part.released?.(tabId) ?? []);
  await Promise.allSettled(released.map((promise) => within(ms, promise)));
}

/**
 * Once everything that changed is stored, so that a worker that starts now would restore this.
 * @returns {Promise<Record<string, unknown>>} by the name of each part that describes itself
 */
export async function describeAll() {
  await Promise.all(savers.map((save) => save.written()));
  const described = inOrder().filter(({ describe }) => describe);
  const entries = described.map(async ({ name, describe }) => [name, await describe?.()]);
  return Object.fromEntries(await Promise.all(entries));
}

// State that must survive this worker is written to session storage.

/** After a write, pause this many times as long as the write took. */
const RESTS = 3;
/** @type {{written: () => Promise<void>}[]} */
const savers = [];

/**
 * Pages decide how often much of this state changes, so it is written at once but never twice at a
 * time, and large state less often. A command whose change must survive waits for `written`.
 * @param {string} key
 * @param {() => unknown} dump
 * @returns {(() => void) & {written: () => Promise<void>}} to be called after every change
 */
export function saver(key, dump) {
  /** @type {Promise<void> | null} */
  let writing = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} runs while the saver pauses */
  let pause;
  let isStale = false;
  const write = () => {
    clearTimeout(pause);
    isStale = false;
    const began = Date.now();
    // State that does not fit into the storage is lost.
    const stored = chrome.storage.session.set({ [key]: dump() }).catch(() => {});
    writing = stored.then(() => {
      writing = null;
      pause = setTimeout(resume, RESTS * (Date.now() - began));
    });
    return writing;
  };
  const resume = () => {
    pause = undefined;
    if (isStale) void write();
  };
  const save = () => {
    isStale = true;
    if (!writing && pause === undefined) void write();
  };
  save.written = async () => {
    while (writing || isStale) await (writing ?? write());
  };
  savers.push(save);
  return save;
}

// An agent has left a tab, or a person has taken it back: everything we set up in it ends.

const RELEASE_MS = 2000;

/** @param {{tabId: number}} context */
export async function releaseTab({ tabId }) {
  await releaseAll(tabId, RELEASE_MS);
  return {};
}

/**
 * Others go on using the tab.
 * @param {number} tabId
 * @param {string[]} names of the parts that end
 */
export async function releaseParts(tabId, names) {
  await releaseAll(tabId, RELEASE_MS, ({ name }) => names.includes(name));
}
