/**
 * The service worker. It may be stopped and started at any moment, so every listener is
 * registered here, at once; what they need is rebuilt behind one promise.
 */

import { Attention } from "./attention.js";
import { authRequired, forgetLogin, navigationBegins, pageShown } from "./auth.js";
import { waitsAtGate } from "./birthgate.js";
import { brakeEvent } from "./brake.js";
import { introduceBrowser } from "./browser.js";
import { childEvent, restoreChildren } from "./children.js";
import { chooserEvent, forgetChooser } from "./choosers.js";
import { runCommand } from "./commands.js";
import { COVERAGE } from "./coverage.js";
import { cssEvent, endLeftover } from "./css.js";
import { adoptAttachments, documentChanged, forgetTab } from "./debugger.js";
import { dialogEvent, forgetDialog, restoreDialogs } from "./dialogs.js";
import { Dispatcher } from "./dispatch.js";
import { restoreEmulation } from "./emulation.js";
import { FramedServers } from "./framedservers.js";
import { forgetFrames, frameConnected, restoreSlots, tellPublisher } from "./frames.js";
import { dragEvent } from "./drag.js";
import { forgetWindow, learnFronts, noteFront } from "./front.js";
import { Herald } from "./herald.js";
import { injectEverywhere } from "./inject.js";
import { interceptEvent, restoreInterception } from "./intercept.js";
import { note, noteFault, restoreJournal } from "./journal.js";
import { onLetGo } from "./letgo.js";
import { Link } from "./link.js";
import { tabClosed, listenToLoads } from "./loads.js";
import { findLostLoads } from "./lostloads.js";
import { openNotice } from "./notices.js";
import { screencastEvent } from "./onlooker.js";
import { downloadEvent, tabOpened } from "./outcomes.js";
import { openPanel } from "./openpanel.js";
import { PageTools } from "./pagetools.js";
import { isPanel, Panels } from "./panels.js";
import { forgetPresets, restorePresets } from "./presets.js";
import { forgetForced, PSEUDO } from "./pseudo.js";
import {
  forgetRecording,
  recordEvent,
  recordPopup,
  restoreRecordings,
  setRecording,
} from "./recorder.js";
import { pardonTab, refuseTab } from "./refusals.js";
import { Relay } from "./relay.js";
import { requestEvent } from "./requests.js";
import { forgetSite, siteComing, siteCommitted, siteStays } from "./sites.js";
import { TabNews } from "./tabnews.js";
import { INCOMPATIBLE, MetServer } from "./versions.js";
import { within } from "./within.js";

const RESCUE = "rescue";
const RESCUE_MINUTES = 0.5;
const RESTORE_MS = 5000;

/**
 * A page that shows a dialog, or is busy, must not keep everything else from beginning.
 * @param {() => Promise<unknown>} restore
 */
const inTime = (restore) => within(RESTORE_MS, restore());
const ready = Promise.allSettled([
  restoreSlots(),
  restoreDialogs(),
  adoptAttachments()
    .then(restoreChildren)
    .then(() =>
      Promise.allSettled([restoreRecordings, restoreEmulation, restoreInterception].map(inTime)),
    )
    .then(() => [COVERAGE, PSEUDO].forEach(endLeftover)),
  learnFronts(),
  restorePresets(),
  restoreJournal(),
]);
let isReady = false;
void ready.then(() => (isReady = true));
/** @type {import("./panels.js").Ask} */
const askServer = (method, params) => link.request(method, params);
const panels = new Panels(askServer, () => {
  herald.notify("panel.changed", { open: panels.count });
  if (panels.count) attention.panelOpened();
});
const attention = new Attention(() => panels.isVisible);
const relay = new Relay(panels, attention, askServer);
const herald = new Herald((brief) => introduceBrowser(() => panels.count, brief));
const news = new TabNews((item) => herald.tell(item));
const pageTools = new PageTools({
  tell: (method, params) => herald.notify(method, params),
  tellNews: () => news.flush(),
  note: (text) => note("warn", text),
});
const framedServers = new FramedServers();
tellPublisher({
  said(frame, message) {
    pageTools.said(frame, message);
    framedServers.said(frame, message);
  },
  gone(frame) {
    pageTools.gone(frame);
    framedServers.gone(frame);
  },
});
const metServer = new MetServer();
const link = new Link((line) => {
  const dispatcher = new Dispatcher(line, {
    ready,
    run: (name, context) => {
      pageTools.used(context.tabId);
      return runCommand(name, context);
    },
    execute: (params, how) => pageTools.execute(params, how),
    tellNews: () => news.flush(),
    learn: (greeting) => {
      setRecording(greeting.recording);
      if (!metServer.greeted(greeting)) line.close(INCOMPATIBLE);
      panels.tell("mismatch", { text: metServer.text });
    },
  });
  note("info", "the link to the server is open");
  void herald.opened(line).then(() => {
    pageTools.opened();
    void relay.refresh();
  });
  return (message) => relay.receive(message) || dispatcher.receive(message);
});
link.onClosed = (/** @type {number} */ code) => {
  note("warn", "the link to the server has closed");
  metServer.closed(code);
  relay.closed(metServer.problem);
};
link.problem = () => metServer.problem;

/** @param {number} tabId */
function forgetEverything(tabId) {
  forgetTab(tabId);
  pardonTab(tabId);
  forgetDialog(tabId);
  forgetChooser(tabId);
  forgetFrames(tabId);
  forgetSite(tabId);
  forgetRecording(tabId);
  tabClosed(tabId);
  void forgetPresets(tabId);
  forgetLogin(tabId);
}

note("info", "the worker has started");
self.addEventListener("error", ({ error }) => noteFault(error));
self.addEventListener("unhandledrejection", ({ reason }) => noteFault(reason));
listenToLoads();
chrome.runtime.onConnect.addListener((port) => {
  if (!isPanel(port)) return frameConnected(port);
  panels.connected(port);
  panels.tell("mismatch", { text: metServer.text });
  link.rescue();
});
// Comes only where the browser does not open the side panel by itself.
chrome.action.onClicked.addListener(() => void openPanel());
chrome.notifications.onClicked.addListener((id) => {
  if (!openNotice(id)) void openPanel();
  void chrome.notifications.clear(id);
});
chrome.runtime.onStartup.addListener(findLostLoads);
chrome.runtime.onInstalled.addListener(findLostLoads);
chrome.alarms.onAlarm.addListener(() => link.rescue());
chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const fromOptions = sender.url?.startsWith(chrome.runtime.getURL("options/"));
  if (message === "link-state" && fromOptions) {
    reply({ isOpen: link.isOpen, mismatch: metServer.text });
  }
});
chrome.storage.local.onChanged.addListener(() => void link.reconsider());

chrome.tabs.onCreated.addListener((tab) => news.created(tab));
chrome.tabs.onUpdated.addListener((tabId, change, tab) => news.updated(tabId, change, tab));
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => {
  noteFront(tabId, windowId);
  void news.activated(tabId);
});
chrome.windows.onRemoved.addListener(forgetWindow);
chrome.windows.onFocusChanged.addListener((windowId) => {
  void news.windowFocused(windowId);
  if (windowId !== chrome.windows.WINDOW_ID_NONE) void link.insist();
});
chrome.tabs.onRemoved.addListener((tabId) => {
  forgetEverything(tabId);
  news.closed(tabId);
});
chrome.tabs.onReplaced.addListener((newId, oldId) => {
  forgetEverything(oldId);
  void news.replaced(newId, oldId);
});

chrome.webRequest.onAuthRequired.addListener(
  // Typed as if it could answer at once only.
  /** @type {any} */ (authRequired),
  { urls: ["<all_urls>"] },
  ["asyncBlocking"],
);
chrome.webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url }) => {
  if (frameId !== 0) return;
  siteComing(tabId, url);
  navigationBegins(tabId);
});
chrome.webNavigation.onErrorOccurred.addListener(({ tabId, frameId }) => {
  if (frameId === 0) siteStays(tabId);
});
chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, url }) => {
  if (frameId !== 0) return;
  documentChanged(tabId, url);
  forgetChooser(tabId);
  siteCommitted(tabId, url);
  forgetForced(tabId);
  pageShown(tabId);
});
chrome.webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId }) => {
  void news.openedBy(tabId, sourceTabId);
  tabOpened(sourceTabId, tabId);
  recordPopup(sourceTabId, tabId);
});
/**
 * What the browser tells of a tab is understood only by those who know what they had begun there.
 * @param {number} tabId
 * @param {string | undefined} sessionId
 * @param {string} method
 * @param {any} params
 */
function debuggerEvent(tabId, sessionId, method, params) {
  childEvent(tabId, sessionId, method, params);
  dialogEvent(tabId, method, params);
  brakeEvent(tabId, method, params);
  screencastEvent(tabId, method, params);
  requestEvent(tabId, sessionId, method, params);
  recordEvent(tabId, sessionId, method, params);
  downloadEvent(tabId, method, params);
  dragEvent(tabId, method, params);
  chooserEvent(tabId, sessionId, method, params);
  if (!waitsAtGate(tabId, method)) interceptEvent(tabId, sessionId, method, params);
  cssEvent(tabId, sessionId, method, params);
}

/**
 * @param {number} tabId
 * @param {string} reason
 */
function debuggerDetached(tabId, reason) {
  note("info", `the debugger was detached from tab ${tabId}: ${reason}`);
  if (reason === "canceled_by_user") refuseTab(tabId);
  forgetTab(tabId);
  forgetDialog(tabId);
  forgetChooser(tabId);
}

/** In the order in which they come. @param {() => void} work */
function onceReady(work) {
  if (isReady) work();
  else void ready.then(work);
}

chrome.debugger.onEvent.addListener(({ tabId, sessionId }, method, params) => {
  if (tabId !== undefined) onceReady(() => debuggerEvent(tabId, sessionId, method, params));
});
onLetGo(async (tabId) => pardonTab(tabId));
chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  if (tabId !== undefined) onceReady(() => debuggerDetached(tabId, reason));
});

void chrome.alarms.get(RESCUE).then((alarm) => {
  if (!alarm) void chrome.alarms.create(RESCUE, { periodInMinutes: RESCUE_MINUTES });
});
// Content scripts could read the secret otherwise, and they live in the pages' processes.
void chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
void chrome.sidePanel?.setPanelBehavior({ openPanelOnActionClick: true });
void injectEverywhere();
void attention.restore();
link.start();
