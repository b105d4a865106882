/** sessions.*: recently closed tabs and windows, and restoring them. */

import { onAbort } from "../shared/timing.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { groupOf, joinGroup } from "./tab-groups.js";
import {
  describe as describeTab,
  getTab,
  isExtensionPage,
  noteTab,
  refuseExtensionPage,
} from "../shared/known-tabs.js";
import { LoadWait, catchUp } from "./load-wait.js";
import { clip, TITLE_LENGTH, URL_LENGTH } from "../shared/clip.js";

const MOST = 25;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {chrome.sessions.Session} Session */

/** @param {Context<Wire.RecentSessions>} context */
export async function recentlyClosed({ input }) {
  const { maxResults = MOST } = input;
  const sessions = await chrome.sessions.getRecentlyClosed({ maxResults });
  return { sessions: sessions.map(describe) };
}

/**
 * @param {Session} session
 * @returns {Wire.ClosedSession}
 */
function describe({ lastModified, tab, window }) {
  return {
    sessionId: /** @type {string} */ (tab?.sessionId ?? window?.sessionId),
    kind: tab ? "tab" : "window",
    // The browser counts seconds here.
    closedAt: lastModified * 1000,
    tabs: tabsOf({ tab, window }).map(({ url = "", title = "" }) => ({
      url: clip(url, URL_LENGTH),
      title: clip(title, TITLE_LENGTH),
    })),
  };
}

/**
 * @param {{tab?: chrome.tabs.Tab, window?: chrome.windows.Window}} session
 * @returns {chrome.tabs.Tab[]}
 */
function tabsOf({ tab, window }) {
  return tab ? [tab] : (window?.tabs ?? []);
}

/**
 * The session id of a tab that has just been closed.
 * @param {string | undefined} url where the tab was
 */
export async function sessionOfClosed(url) {
  // Optional in the package of a store; without it nothing can be restored either.
  if (!chrome.sessions) return undefined;
  const [latest] = await chrome.sessions.getRecentlyClosed({ maxResults: 1 });
  return latest?.tab?.url === url ? latest?.tab?.sessionId : undefined;
}

/** @param {Context<Wire.RestoreSession>} context */
export async function restoreSession(context) {
  const { input, signal, reportTabChanges } = context;
  const group = groupOf(input.group);
  const known = await chrome.sessions.getRecentlyClosed({ maxResults: MOST });
  const wanted = known.find((session) => describe(session).sessionId === input.sessionId);
  if (!wanted) throw unknown(input.sessionId);
  if (tabsOf(wanted).some(({ url }) => isExtensionPage(url))) refuseExtensionPage();
  signal.throwIfAborted();
  const tabs = tabsOf(await restoreBehind(input.sessionId));
  tabs.forEach(noteTab);
  const groups = await Promise.all(tabs.map((tab) => joinGroup(tab, group)));
  const loads = await Promise.all(tabs.map((tab) => hasLoaded(tab, context)));
  await reportTabChanges();
  const now = await Promise.all(tabs.map(({ id }) => getTab(/** @type {number} */ (id))));
  const described = now.map((tab, i) => ({
    ...describeTab(tab),
    // The browser may report an old status.
    ...(loads[i] && { status: /** @type {const} */ ("complete") }),
  }));
  const [groupId] = groups;
  return { tabs: described, ...(groupId !== undefined && { groupId }) };
}

/** @param {unknown} id */
function unknown(id) {
  const message = `Nothing that was closed is called ${id}. browser_get_recently_closed lists it.`;
  return new CommandError("not_found", message);
}

/**
 * The browser activates what it restores; bring back what the person was looking at.
 * @param {string} sessionId
 */
async function restoreBehind(sessionId) {
  const shown = await chrome.tabs.query({ active: true });
  const focused = await chrome.windows.getLastFocused().catch(() => undefined);
  const restored = await chrome.sessions.restore(sessionId).catch((error) => {
    throw new CommandError("not_found", `It could not be brought back: ${messageOf(error)}`);
  });
  const windowId = restored.tab?.windowId;
  const before = shown.find((tab) => tab.windowId === windowId);
  if (before?.id !== undefined) await chrome.tabs.update(before.id, { active: true });
  if (restored.window && focused?.focused && focused.id !== undefined) {
    await chrome.windows.update(focused.id, { focused: true });
  }
  return restored;
}

/**
 * A tab whose page does not load any more is restored all the same.
 * @param {chrome.tabs.Tab} tab
 * @param {Context<Wire.RestoreSession>} context
 */
async function hasLoaded({ id, url = "", pendingUrl }, { input, signal }) {
  const tabId = /** @type {number} */ (id);
  const wait = new LoadWait(tabId);
  const stop = onAbort(signal, (reason) => wait.fail(reason));
  try {
    await catchUp(wait, tabId, pendingUrl || url);
    return await wait.within(input.timeoutMs);
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    wait.stop();
    stop();
  }
}
