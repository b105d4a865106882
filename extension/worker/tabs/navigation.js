/** Opening, navigating and closing tabs. */

import { keepingAwake } from "../debugger/awake-tabs.js";
import { onCrash } from "../debugger/crashed-pages.js";
import { attachTab, isTaken, send, withTab } from "../debugger/debugger.js";
import { forgetLogin, openLogin } from "../debugger/logins.js";
import { acceptLeaving, dismissDialog } from "../debugger/page-dialogs.js";
import { waitingIn } from "../emulation/interception.js";
import { hasBeenActive } from "../frames/frames.js";
import { isOn, recordBirth } from "../recording/recorder.js";
import { URL_LENGTH, clip } from "../shared/clip.js";
import { CommandError, messageOf, quoted } from "../shared/command-errors.js";
import {
  getTab,
  isExtensionPage,
  noteTab,
  pageResult,
  refuseExtensionPage,
} from "../shared/known-tabs.js";
import { keepStealthy } from "../shared/stealth-tabs.js";
import { goingTo, onHeldUp } from "../shared/tab-events.js";
import { onAbort } from "../shared/timing.js";
import { createWindow, describeWindow, requireOwnWindow } from "./browser-windows.js";
import { sessionOfClosed } from "./closed-tabs.js";
import { awaitContent } from "./content-wait.js";
import { BLANK, LoadWait, blankIsThere, catchUp, wasAborted } from "./load-wait.js";
import { groupOf, joinGroup } from "./tab-groups.js";

// Back and forward.

/** @typedef {Pick<Context, "tabId" | "signal" | "requireAddress">} Leaving */

/**
 * The browser's back button skips pages without any user action, which are most of the pages an
 * agent visits; the debugger sees every entry.
 * @param {Leaving} context
 * @param {-1 | 1} delta
 */
async function goInHistory({ tabId, signal, requireAddress }, delta) {
  await withTab(tabId, async () => {
    const { currentIndex, entries } = await send(tabId, "Page.getNavigationHistory");
    const entry = entries[currentIndex + delta];
    if (!entry)
      throw new CommandError("navigation_failed", `There is no page to go ${word(delta)} to.`);
    if (isExtensionPage(entry.url)) refuseExtensionPage();
    requireAddress?.(entry.url);
    signal.throwIfAborted();
    await send(tabId, "Page.navigateToHistoryEntry", { entryId: entry.id });
  });
}

/**
 * Removes the blank page that a tab began with only so that it could be recorded from the start.
 * @param {number} tabId
 */
async function forgetBlank(tabId) {
  try {
    const { currentIndex, entries } = await send(tabId, "Page.getNavigationHistory");
    const isBlankFirst = currentIndex === 1 && entries.length === 2 && entries[0].url === BLANK;
    if (isBlankFirst) await send(tabId, "Page.resetNavigationHistory");
  } catch {
    // The browser does not allow the debugger on this page.
  }
}

/** @param {-1 | 1} delta */
function word(delta) {
  return delta < 0 ? "back" : "forward";
}

// Leaving a page without being held up by a dialog.

/**
 * A page may ask before it is left only if someone has acted in it, and only a debugger that was
 * attached before can answer.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 */
async function leavingFreely(tabId, work) {
  await dismissDialog(tabId);
  const mayAsk = isTaken(tabId) || (await hasBeenActive(tabId));
  if (!mayAsk) return work();
  const stopAccepting = acceptLeaving(tabId);
  try {
    await attachTab(tabId).catch(() => {});
    return await work();
  } finally {
    stopAccepting();
  }
}

const LOAD_MS = 30_000;
const STEPS = /** @type {const} */ (["committed", "dom", "complete"]);

const WORDS = new Set(["back", "forward", "reload"]);

/** @type {Map<number, LoadWait>} the navigation that a command is waiting for, by tab */
const underWay = new Map();

/** @import { Context } from "../shared/command-context.d.ts" */

/** @param {Context<Wire.OpenTab>} context */
export async function openTab({ input, signal, reportTabChanges }) {
  const url = requireAbsolute(addressOf(input));
  const group = input.group ? groupOf(input.group) : undefined;
  const isRecorded = isOn() && input.stealth !== true;
  const startsBlank = isRecorded && isWeb(url);
  const tab = await createTab(startsBlank ? BLANK : url, input);
  const tabId = /** @type {number} */ (tab.id);
  noteTab(tab);
  if (input.stealth === true) keepStealthy(tabId);
  const wait = new LoadWait(tabId, { ignoresBlank: startsBlank });
  const stop = endingEarly(tabId, wait);
  try {
    onAbort(signal, (reason) => wait.fail(reason));
    const isBlank = startsBlank ? blankIsThere(tabId) : undefined;
    if (isRecorded) await recordBirth(tabId).catch(() => {});
    await isBlank;
    if (startsBlank) await firstLeave(tabId, url);
    const groupId = group && (await joinGroup(tab, group));
    await catchUp(wait, tabId, url);
    const arrived = async () => {
      if (startsBlank && !openLogin(tabId)) await forgetBlank(tabId);
    };
    const context = { tabId, input, signal };
    const loaded = await keepingAwake(tabId, () => loading(context, wait, arrived));
    await reportTabChanges();
    const place = input.window && { window: await describeWindow(tab.windowId) };
    const result = await loadedResult(tabId, loaded);
    return { ...result, ...place, ...(groupId !== undefined && { groupId }) };
  } catch (error) {
    await chrome.tabs.remove(tabId).catch(() => {});
    throw await explain(error, url);
  } finally {
    stop();
  }
}

/**
 * @param {number} tabId
 * @param {LoadWait} wait
 * @returns {() => void}
 */
function endingEarly(tabId, wait) {
  // The caller who is to answer a held request must get this result first.
  const stops = [onHeldUp(tabId, () => wait.leave()), onCrash(tabId, (error) => wait.fail(error))];
  return () => stops.forEach((stop) => stop());
}

/**
 * @param {string} url
 * @param {Wire.OpenTab} input
 */
async function createTab(url, { active = false, windowId, window }) {
  try {
    if (window) return await createWindow(url, window);
    return await chrome.tabs.create({ url, active: Boolean(active), windowId });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const isHomeless = !window && windowId === undefined && /window/i.test(messageOf(error));
    if (isHomeless) return createWindow(url, {});
    throw unopened(error);
  }
}

/**
 * Only these have a first request that could be missed, and other URLs may not be reachable from a
 * page.
 * @param {string} url
 */
function isWeb(url) {
  return /^https?:/i.test(url);
}

/**
 * @param {number} tabId
 * @param {string} url
 */
async function firstLeave(tabId, url) {
  try {
    await chrome.tabs.update(tabId, { url });
  } catch (error) {
    throw unopened(error);
  }
}

/** @param {unknown} error */
function unopened(error) {
  return new CommandError("invalid_arguments", `The tab could not be opened: ${messageOf(error)}`);
}

/** @param {Context<Wire.NavigateTab>} context */
export async function navigateTab(context) {
  const { tabId, input } = context;
  const url = addressOf(input);
  if (!WORDS.has(url)) requireAbsolute(url);
  underWay.get(tabId)?.fail(new CommandError("navigated_away", "Another navigation took over."));
  forgetLogin(tabId);
  return leavingFreely(tabId, () => navigateAndWait(context, url));
}

/**
 * @param {Context<Wire.NavigateTab>} context
 * @param {string} url
 */
async function navigateAndWait(context, url) {
  const { tabId, signal, progress, reportTabChanges } = context;
  signal.throwIfAborted();
  const wait = new LoadWait(tabId, {
    progress: (step) => progress(STEPS.indexOf(step) + 1, STEPS.length, step),
  });
  underWay.set(tabId, wait);
  const stop = endingEarly(tabId, wait);
  try {
    onAbort(signal, (reason) => wait.fail(reason));
    await leaveFor(context, url);
    const loaded = await loading(context, wait);
    await reportTabChanges();
    const waiting = waitingIn(tabId);
    const result = await loadedResult(tabId, loaded);
    return waiting.length ? { ...result, waiting } : result;
  } catch (error) {
    throw await explain(error, url);
  } finally {
    stop();
    wait.stop();
    if (underWay.get(tabId) === wait) underWay.delete(tabId);
  }
}

/**
 * @param {Leaving} context
 * @param {string} url
 */
async function leaveFor(context, url) {
  const { tabId } = context;
  try {
    if (url === "back") await goInHistory(context, -1);
    else if (url === "forward") await goInHistory(context, 1);
    else if (url === "reload") await chrome.tabs.reload(tabId);
    else await chrome.tabs.update(tabId, { url });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    await getTab(tabId);
    // The browser refuses a navigation that it has just begun.
    const isBegun = URL.canParse(url) && goingTo(tabId) === new URL(url).href;
    if (isBegun && /rejected/i.test(messageOf(error))) return;
    const message = `The tab could not go to ${url}: ${messageOf(error)}`;
    throw new CommandError("navigation_failed", message);
  }
}

/**
 * The browser may have discarded a background tab: load its page again.
 * @param {number} tabId
 */
export async function revive(tabId) {
  const { discarded } = await getTab(tabId);
  if (!discarded) return;
  const wait = new LoadWait(tabId);
  await chrome.tabs.reload(tabId);
  await wait.within(LOAD_MS);
}

/** @param {Context} context */
export async function closeTab({ tabId, signal }) {
  const { url } = await getTab(tabId);
  forgetLogin(tabId);
  await leavingFreely(tabId, async () => {
    signal.throwIfAborted();
    await chrome.tabs.remove(tabId);
  });
  const sessionId = await sessionOfClosed(url);
  return { closed: tabId, ...(sessionId !== undefined && { sessionId }) };
}

/**
 * Closes tab by tab, so that no page can keep the window open with a dialog.
 * @param {Context<Wire.CloseWindow>} context
 */
export async function closeWindow(context) {
  const { id, tabs = [] } = await requireOwnWindow(context.input);
  if (tabs.some(({ url }) => isExtensionPage(url))) refuseExtensionPage();
  const tabIds = tabs.map((tab) => /** @type {number} */ (tab.id));
  await Promise.all(tabIds.map((tabId) => closeTab({ ...context, tabId })));
  return { closed: /** @type {number} */ (id) };
}

/**
 * @typedef {object} Loaded
 * @property {boolean} isComplete
 * @property {import("./content-wait.js").Content} content
 */

/**
 * Waits until the page has loaded and shows something, both within the load's time limit.
 * @param {{tabId: number, input: {timeoutMs?: number}, signal: AbortSignal}} context
 * @param {LoadWait} wait
 * @param {() => Promise<void>} [arrived] called when it has loaded; ends before this does
 * @returns {Promise<Loaded>}
 */
async function loading({ tabId, input, signal }, wait, arrived = async () => {}) {
  const until = Date.now() + timeoutOf(input);
  const isComplete = await wait.within(timeoutOf(input));
  const arriving = arrived();
  const left = until - Date.now();
  const content = isComplete ? await awaitContent(tabId, left, signal) : "shown";
  await arriving;
  return { isComplete, content };
}

/**
 * @param {number} tabId
 * @param {Loaded} loaded
 */
async function loadedResult(tabId, { isComplete, content }) {
  const result = await pageResult(tabId);
  const dialog = openLogin(tabId)?.dialog;
  const undrawn = content === "shown" ? {} : { undrawn: content };
  const status = isComplete ? "complete" : result.status;
  return { ...result, status, ...undrawn, ...(dialog && { dialog }) };
}

/**
 * @param {unknown} error
 * @param {string} url
 */
async function explain(error, url) {
  if (!wasAborted(error)) return error;
  const item = await downloadedFrom(url);
  const name = item && (item.filename.split(/[\\/]/).pop() || "file");
  const why = name
    ? `it became a download (${quoted(name)})`
    : "it was answered without a page, or the navigation was stopped";
  const data = {
    netError: "net::ERR_ABORTED",
    download: Boolean(name),
    ...(item && { url: clip(item.finalUrl || item.url, URL_LENGTH) }),
  };
  return new CommandError(
    "navigation_failed",
    `${quoted(url)} did not become a page: ${why}.`,
    data,
  );
}

/** @param {string} url */
async function downloadedFrom(url) {
  // Optional in the package of a store.
  if (!chrome.downloads) return undefined;
  const recent = await chrome.downloads.search({ orderBy: ["-startTime"], limit: 5 });
  return recent.find((item) => item.url === url || item.finalUrl === url);
}

/** @param {{url: string}} input */
function addressOf({ url }) {
  if (typeof url !== "string" || !url.trim()) {
    throw new CommandError("invalid_arguments", "url must be an address.");
  }
  if (/^\s*javascript:/i.test(url)) {
    throw new CommandError("invalid_arguments", "url cannot be a javascript: address.");
  }
  if (isExtensionPage(url.trim())) refuseExtensionPage();
  return url.trim();
}

/** @param {string} url */
function requireAbsolute(url) {
  if (URL.canParse(url)) return url;
  throw new CommandError("invalid_arguments", `"${url}" is not a full address (https://…).`);
}

/** @param {{timeoutMs?: number}} input */
function timeoutOf({ timeoutMs = 0 }) {
  return Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : LOAD_MS;
}
