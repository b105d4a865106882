/** The closed list of what the server may ask for. */

import { seekDialog, seekReceiver, seekTargets } from "./input/question-targets.js";
import { outlineTargets, whileUnlined } from "./input/target-outline.js";
import { answerDialog } from "./input/dialog-answers.js";
import { createBookmark, listBookmarks, searchBookmarks } from "./data/bookmark-list.js";
import { capture } from "./picture/screenshot.js";
import { click, hover } from "./input/click.js";
import { recentlyClosed, restoreSession } from "./tabs/closed-tabs.js";
import { cssCoverage } from "./recording/css-coverage.js";
import {
  clearSiteData,
  deleteCookies,
  getCookies,
  getStorage,
  setCookie,
} from "./data/site-data.js";
import { keepingAwake, lookingAt } from "./debugger/awake-tabs.js";
import { requireAlive, unlessCrashed } from "./debugger/crashed-pages.js";
import { refuseIfOpen } from "./debugger/page-dialogs.js";
import { download, downloadStatus, listDownloads, saveFile } from "./data/file-downloads.js";
import { drag } from "./input/drag.js";
import { emulate } from "./emulation/device-emulation.js";
import { CommandError } from "./shared/command-errors.js";
import { describeElement, locateElement } from "./reading/durable-refs.js";
import { evaluate } from "./debugger/evaluation.js";
import { fill, select, set } from "./input/form-fields.js";
import { elementStyles, findElements, queryElements } from "./reading/element-search.js";
import { framesOf, untilConnected } from "./frames/frames.js";
import {
  addToGroup,
  createGroup,
  groupTab,
  listGroups,
  removeFromGroup,
  ungroupTab,
  updateGroup,
} from "./tabs/tab-groups.js";
import {
  answerRequest,
  listIntercepted,
  startIntercepting,
  stopIntercepting,
} from "./emulation/interception.js";
import { readJournal } from "./shared/journal.js";
import { releaseTab, reportUse } from "./shared/tab-state.js";
import { awaitCalm, awaitFirstContent, isKnown } from "./tabs/content-wait.js";
import { closeTab, closeWindow, navigateTab, openTab, revive } from "./tabs/navigation.js";
import { mayNeedPermission, requirePermission } from "./person/browser-permissions.js";
import { showNotice } from "./person/notifications.js";
import {
  closeStream,
  fetchInPage,
  hasElement,
  readStream,
  useStorage,
  waitForMatch,
} from "./plugins/page-operations.js";
import { runScript } from "./plugins/page-scripts.js";
import { printPdf } from "./picture/page-pdf.js";
import { readHtml, readText } from "./reading/page-pieces.js";
import { setPermission } from "./emulation/site-permissions.js";
import { press, type } from "./input/key-press.js";
import { forcePseudo } from "./emulation/forced-states.js";
import { openDialogs } from "./debugger/pending-dialogs.js";
import { readPage } from "./reading/page-reading.js";
import { analyzeSite } from "./recording/site-analysis.js";
import {
  clearConsole,
  readConsole,
  readNetwork,
  readRequest,
  readSockets,
  startRecording,
  stopRecording,
} from "./recording/record-queries.js";
import { listResources, resourceContent } from "./recording/page-resources.js";
import { scroll } from "./input/scroll-command.js";
import { describePanel, describeSelf } from "./link/self-description.js";
import {
  isMoved,
  listTabs,
  requireKnownSite,
  requireSite,
  requireTab,
} from "./shared/known-tabs.js";
import { focusTab, tabInfo } from "./tabs/tab-details.js";
import { upload } from "./input/file-upload.js";
import { getVisits, searchHistory } from "./data/browsing-history.js";
import { waitForElement } from "./reading/element-wait.js";
import { listWindows, updateWindow } from "./tabs/browser-windows.js";

/** @import { Context } from "./shared/command-context.d.ts" */

/**
 * One function for each command, with the input and output that the link declares.
 * @template {keyof Wire.Commands} N
 * @typedef {{[K in N]: (context: Context<Wire.Input<K>>) => Promise<Wire.Output<K>>}} Handlers
 */
/** @typedef {(context: Context<any>) => Promise<unknown>} Handler any of them */

/** @type {Handlers<Wire.BrowserCommand>} */
const forBrowser = {
  "bookmarks.create": createBookmark,
  "bookmarks.search": searchBookmarks,
  "bookmarks.tree": listBookmarks,
  "downloads.list": listDownloads,
  "downloads.start": download,
  "downloads.status": downloadStatus,
  "extension.logs": readJournal,
  "extension.panel": describePanel,
  "extension.state": describeSelf,
  "groups.add": addToGroup,
  "groups.create": createGroup,
  "groups.list": listGroups,
  "groups.remove": removeFromGroup,
  "groups.update": updateGroup,
  "history.search": searchHistory,
  "history.visits": getVisits,
  "notices.show": showNotice,
  "sessions.recent": recentlyClosed,
  "sessions.restore": restoreSession,
  "tabs.list": list,
  "tabs.open": openTab,
  "windows.close": closeWindow,
  "windows.list": listWindows,
  "windows.update": updateWindow,
};

/** @satisfies {Partial<Handlers<Wire.TabCommand>>} */
const forTab = {
  "cookies.delete": deleteCookies,
  "cookies.get": getCookies,
  "cookies.set": setCookie,
  "downloads.save": saveFile,
  "intercept.answer": answerRequest,
  "intercept.list": listIntercepted,
  "intercept.start": startIntercepting,
  "intercept.stop": stopIntercepting,
  "site.analyze": analyzeSite,
  "site.clear": clearSiteData,
  "page.dialog": answerDialog,
  "page.emulate": emulate,
  "page.permission": setPermission,
  "record.clearConsole": clearConsole,
  "record.start": startRecording,
  "record.stop": stopRecording,
  "tabs.close": closeTab,
  "tabs.focus": focusTab,
  "tabs.group": groupTab,
  "tabs.info": tabInfo,
  "tabs.navigate": navigateTab,
  "tabs.release": releaseTab,
  "tabs.ungroup": ungroupTab,
};

/**
 * Commands that read recordings: the page itself need not answer.
 * @satisfies {Partial<Handlers<Wire.TabCommand>>}
 */
const forRecords = {
  "record.console": readConsole,
  "record.network": readNetwork,
  "record.request": readRequest,
  "record.sockets": readSockets,
};

/** @satisfies {Partial<Handlers<Wire.TabCommand>>} */
const forLooking = {
  "page.capture": capture,
  "page.describe": describeElement,
  "page.coverage": cssCoverage,
  "page.find": findElements,
  "page.html": readHtml,
  "page.locate": locateElement,
  "page.pdf": printPdf,
  "page.query": queryElements,
  "page.read": readPage,
  "page.resource": resourceContent,
  "page.resources": listResources,
  "page.storage": getStorage,
  "page.styles": elementStyles,
  "page.text": readText,
  "page.wait": waitForElement,
};

/** @satisfies {Partial<Handlers<Wire.TabCommand>>} */
const forPage = {
  "page.click": click,
  "page.drag": drag,
  "page.evaluate": evaluate,
  "page.fill": fill,
  "page.hover": hover,
  "page.press": press,
  "page.pseudo": forcePseudo,
  "page.scroll": scroll,
  "page.select": select,
  "page.set": set,
  "page.type": type,
  "page.upload": upload,
  ...forLooking,
};

/**
 * What plugins do in a page. It does not count as using the page: the tab may be the person's, and
 * nothing is attached to it.
 * @satisfies {Partial<Handlers<Wire.TabCommand>>}
 */
const forPlugins = {
  "plugin.fetch": fetchInPage,
  "plugin.fetchClose": closeStream,
  "plugin.fetchRead": readStream,
  "plugin.has": hasElement,
  "plugin.run": runScript,
  "plugin.storage": useStorage,
  "plugin.waitFor": waitForMatch,
};

/**
 * What a person is asked about. It does not count as using the page: they may say no.
 * @satisfies {Partial<Handlers<Wire.TabCommand>>}
 */
const forQuestions = {
  "page.outline": outlineTargets,
  "page.receiver": seekReceiver,
  "page.shownDialog": seekDialog,
  "page.target": seekTargets,
};

/** @type {Handlers<Wire.TabCommand>} all of them, as the type demands */
const onTab = { ...forTab, ...forRecords, ...forPage, ...forQuestions, ...forPlugins };

/** @param {Record<string, Handler>} handlers */
const byName = (handlers) => new Map(Object.entries(handlers));
const browserCommands = byName(forBrowser);
const tabCommands = byName(onTab);
const pageCommands = new Set(Object.keys(forPage));
/** Commands that may go into frames of other sites, about which the server is asked first. */
const entersFrames = new Set([...pageCommands, "page.receiver", "page.target"]);
/** Commands that a page, or the debugger in it, must answer. */
const needsPage = new Set([
  ...pageCommands,
  ...Object.keys(forPlugins),
  "page.dialog",
  "page.receiver",
  "page.target",
  "page.emulate",
  "intercept.start",
  "site.analyze",
]);
/** Commands that need a living page without an open dialog; not all of them count as its use. */
const needsAccess = new Set([...pageCommands, "page.receiver", "page.target", "site.analyze"]);
/** Commands whose result describes a page: it must not describe the next one. */
const looks = new Set([
  ...Object.keys({ ...forLooking, ...forRecords }),
  "cookies.get",
  "page.receiver",
  "page.target",
  "site.analyze",
]);
/** Commands that count as using the page that a tab shows. */
const uses = new Set([...pageCommands, "page.dialog", "tabs.navigate"]);

/** Commands that look at a page without naming something that they have seen there. */
const firstLooks = new Set([
  "page.capture",
  "page.click",
  "page.drag",
  "page.fill",
  "page.find",
  "page.hover",
  "page.html",
  "page.press",
  "page.query",
  "page.read",
  "page.receiver",
  "page.scroll",
  "page.select",
  "page.set",
  "page.target",
  "page.text",
  "page.type",
  "page.upload",
]);

/** They go to what has the focus. */
const keys = new Set(["page.press", "page.type"]);
/** Commands that wait for what they need, or need nothing that a page draws. */
const waitsItself = new Set([
  "intercept.start",
  "page.dialog",
  "page.emulate",
  "page.wait",
  "plugin.waitFor",
]);

/** @param {Context} context */
async function list({ reportTabChanges }) {
  await reportTabChanges();
  return { tabs: await listTabs(), dialogs: openDialogs() };
}

/**
 * Reports and answers leave in the order in which they became true: a command that describes a tab
 * looks at it last and is answered without awaiting anything else.
 * @param {string} name
 * @param {Context} context
 */
export async function runCommand(name, context) {
  const browserCommand = browserCommands.get(name);
  if (mayNeedPermission(name)) await requirePermission(name, context.signal);
  if (browserCommand) return browserCommand(context);
  const command = tabCommands.get(name);
  if (!command) throw new CommandError("unknown_command", `There is no command ${name}.`);
  const tabId = await requireTab(context.tabId);
  if (name === "page.outline") return command(context);
  return whileUnlined(tabId, () => runInTab(name, command, context, tabId));
}

/**
 * @param {string} name
 * @param {Handler} command
 * @param {Context} context
 * @param {number} tabId
 */
async function runInTab(name, command, context, tabId) {
  reportUse("addressed", tabId);
  const actsInPage = pageCommands.has(name);
  if (needsAccess.has(name)) await requirePage(tabId);
  await untilShown(name, tabId, context);
  context.signal.throwIfAborted();
  try {
    await requireSite(tabId, context.site);
    if (uses.has(name)) reportUse("used", tabId);
    if (entersFrames.has(name)) await enterFrames(tabId, context);
    const act = (/** @type {AbortSignal} */ signal) => command({ ...context, signal });
    const run = (/** @type {AbortSignal} */ signal) => drawn(name, tabId, () => act(signal));
    const output = needsPage.has(name)
      ? await unlessCrashed(tabId, context.signal, run)
      : await run(context.signal);
    if (looks.has(name)) requireKnownSite(tabId, context.site);
    if (actsInPage) await context.reportTabChanges();
    return output;
  } catch (error) {
    // The server decides again by what it knows then.
    if (isMoved(error)) await context.reportTabChanges();
    throw error;
  }
}

/**
 * Whoever looks for a target by words waits for it anyway, and an element with a ref is there: the
 * rest of the page is not waited for, also not for the keys that follow. What a person is asked
 * about is waited for.
 * @param {string} name
 * @param {number} tabId
 * @param {Context<any>} context
 */
async function untilShown(name, tabId, { input, signal }) {
  const isTarget = (input?.find ?? input?.ref) !== undefined && !(name in forLooking);
  const isNamed = isTarget || (keys.has(name) && isKnown(tabId));
  if (firstLooks.has(name)) await awaitFirstContent(tabId, signal, !isNamed);
  else if (needsPage.has(name) && !waitsItself.has(name)) await awaitCalm(tabId, signal);
}

/**
 * @param {number} tabId
 * @param {Context} context
 */
async function enterFrames(tabId, { reach, site }) {
  await untilConnected(tabId);
  await reach.explore(framesOf(tabId), site);
}

/**
 * A page that is about to be left, or shows a dialog, is not waited for.
 * @param {string} name
 * @param {number} tabId
 * @param {() => Promise<unknown>} work
 */
function drawn(name, tabId, work) {
  if (pageCommands.has(name)) return lookingAt(tabId, work);
  return uses.has(name) || name in forPlugins ? keepingAwake(tabId, work) : work();
}

/** @param {number} tabId */
async function requirePage(tabId) {
  requireAlive(tabId);
  refuseIfOpen(tabId);
  if (!framesOf(tabId).length) await revive(tabId);
}
