/** The browser's windows. None is focused unless that is asked for. */

import { framesOf } from "../frames/frames.js";
import { CommandError, messageOf } from "../shared/command-errors.js";

// An agent owns a window or a group only if it owns every tab in it.

/**
 * @param {chrome.tabs.Tab[]} tabs as they are now
 * @param {unknown} own the numbers of the caller's tabs
 * @param {string} what
 */
export function requireOwn(tabs, own, what) {
  const numbers = new Set(Array.isArray(own) ? own : []);
  if (tabs.length && tabs.every((tab) => numbers.has(tab.id))) return;
  const message = `${what} has tabs that are not yours, so it is not yours to change.`;
  throw new CommandError("foreign_tab", message);
}

const STATES = ["normal", "minimized", "maximized", "fullscreen"];
const SIDES = /** @type {const} */ (["left", "top", "width", "height"]);
const SEEN_MS = 2000;
const SEEN_TRIES = 20;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{left?: number, top?: number, width?: number, height?: number}} Bounds */

export async function listWindows() {
  const windows = await chrome.windows.getAll({ populate: true });
  return { windows: windows.map(describe) };
}

/**
 * @param {chrome.windows.Window} window
 * @returns {Wire.Window}
 */
function describe({ id, state, type, focused, incognito, left, top, width, height, tabs = [] }) {
  const tabIds = tabs.map((tab) => /** @type {number} */ (tab.id));
  const windowId = /** @type {number} */ (id);
  return { windowId, state, type, focused, incognito, left, top, width, height, tabIds };
}

/**
 * With the size of the page in it; what is set is the size of the whole window.
 * @param {number} windowId
 * @returns {Promise<Wire.Window>}
 */
export async function describeWindow(windowId) {
  const window = await getWindow(windowId);
  return { ...describe(window), viewport: await viewportOf(window) };
}

/** @param {number} windowId */
async function getWindow(windowId) {
  try {
    return await chrome.windows.get(windowId, { populate: true });
  } catch {
    throw new CommandError("not_found", `There is no window ${windowId}.`);
  }
}

/**
 * The size of the page that is shown, as it reports itself.
 * @param {chrome.windows.Window} window
 */
function viewportOf({ tabs = [] }) {
  return sizeOf(tabs.find((tab) => tab.active)?.id);
}

/**
 * @param {number | undefined} id
 * @returns {Promise<Wire.Size | undefined>}
 */
async function sizeOf(id) {
  const main = id === undefined ? undefined : framesOf(id).find(({ frameId }) => frameId === 0);
  return main?.ask("viewport", {}, SEEN_MS).catch(() => undefined);
}

/**
 * @param {string} url
 * @param {Wire.NewWindow} input
 * @returns {Promise<chrome.tabs.Tab>}
 */
export async function createWindow(url, input) {
  const { state, incognito = false } = input;
  const bounds = boundsOf(input, state);
  if (incognito && !(await chrome.extension.isAllowedIncognitoAccess())) throw notIncognito();
  const made = await chrome.windows.create({ url, focused: false, incognito, ...bounds });
  const tab = made?.tabs?.[0];
  if (!tab) throw new CommandError("internal", "The browser opened no tab.");
  // A window created in such a state would take the focus.
  if (state && state !== "normal") await chrome.windows.update(tab.windowId, { state });
  return tab;
}

function notIncognito() {
  const message =
    "The tabhub extension is not allowed in incognito windows. A person can allow it in chrome://extensions.";
  return new CommandError("needs_person", message);
}

/** @param {Context<Wire.UpdateWindow>} context */
export async function updateWindow({ input, signal, reportTabChanges }) {
  const { windowId, state, focused } = input;
  const bounds = boundsOf(input, state);
  const window = await requireOwnWindow(input);
  signal.throwIfAborted();
  try {
    if (Object.keys(bounds).length) await resize(window, bounds);
    if (state && state !== window.state) await chrome.windows.update(windowId, { state });
    if (focused !== undefined) await chrome.windows.update(windowId, { focused });
  } catch (error) {
    throw new CommandError("invalid_arguments", `The browser refused: ${messageOf(error)}`);
  }
  await reportTabChanges();
  // A background tab keeps its size until it is shown.
  const page = input.page === undefined ? undefined : await sizeOf(input.page);
  return { ...(await describeWindow(windowId)), ...(page && { page }) };
}

/** @param {Wire.CloseWindow} input */
export async function requireOwnWindow({ windowId, own }) {
  const window = await getWindow(windowId);
  requireOwn(window.tabs ?? [], own, `Window ${windowId}`);
  return window;
}

/**
 * @param {Bounds} input
 * @param {string | undefined} state
 * @returns {Bounds}
 */
function boundsOf(input, state) {
  if (state !== undefined && !STATES.includes(state)) {
    throw new CommandError("invalid_arguments", `state must be one of ${STATES.join(", ")}.`);
  }
  const given = SIDES.flatMap((side) => {
    const { [side]: value } = input;
    return value === undefined ? [] : [/** @type {const} */ ([side, Math.round(value)])];
  });
  if (given.length && state !== undefined && state !== "normal") {
    throw new CommandError("invalid_arguments", `A ${state} window has no size of its own.`);
  }
  return Object.fromEntries(given);
}

/**
 * @param {chrome.windows.Window} window
 * @param {Bounds} bounds
 */
async function resize({ id, state }, bounds) {
  const windowId = /** @type {number} */ (id);
  if (state !== "normal") await chrome.windows.update(windowId, { state: "normal" });
  const before = await describeWindow(windowId);
  const after = await chrome.windows.update(windowId, bounds);
  // A window may revert a change of its state once.
  if (SIDES.some((side) => bounds[side] !== undefined && after[side] !== bounds[side])) {
    await chrome.windows.update(windowId, bounds);
  }
  await untilSeen(windowId, before);
}

/**
 * The page gets its new size a little later.
 * @param {number} windowId
 * @param {Wire.Window} before
 */
async function untilSeen(windowId, before) {
  for (let i = 0; i < SEEN_TRIES; i++) {
    const now = await describeWindow(windowId);
    if (!now.viewport || !before.viewport || frameOf(now) === frameOf(before)) return;
  }
}

/**
 * The window's size around its page, which stays the same.
 * @param {Wire.Window} window
 */
function frameOf({ width = 0, height = 0, viewport = { width: 0, height: 0 } }) {
  return `${width - viewport.width} ${height - viewport.height}`;
}
