/**
 * The service worker. It may be stopped and started at any moment, so every listener is
 * registered here, at once; what they need is rebuilt behind one promise.
 */

import { brakeEvent } from "./brake.js";
import { introduceBrowser } from "./browser.js";
import { runCommand } from "./commands.js";
import { adoptAttachments, documentChanged, forgetTab, screencastEvent } from "./debugger.js";
import { dialogEvent, forgetDialog, restoreDialogs } from "./dialogs.js";
import { Dispatcher } from "./dispatch.js";
import { forgetFrames, frameConnected, restoreSlots } from "./frames.js";
import { Herald } from "./herald.js";
import { injectEverywhere } from "./inject.js";
import { Link } from "./link.js";
import { tabClosed, listenToLoads } from "./loads.js";
import { TabNews } from "./tabnews.js";

const RESCUE = "rescue";
const RESCUE_MINUTES = 0.5;

const ready = Promise.allSettled([restoreSlots(), restoreDialogs(), adoptAttachments()]);
const herald = new Herald(introduceBrowser);
const news = new TabNews((item) => herald.tell(item));
const link = new Link((line) => {
  const dispatcher = new Dispatcher(line, { ready, run: runCommand, tellNews: () => news.flush() });
  void herald.opened(line);
  return (message) => dispatcher.receive(message);
});

/** @param {number} tabId */
function forgetEverything(tabId) {
  forgetTab(tabId);
  forgetDialog(tabId);
  forgetFrames(tabId);
  tabClosed(tabId);
}

listenToLoads();
chrome.runtime.onConnect.addListener((port) => frameConnected(port));
chrome.alarms.onAlarm.addListener(() => link.rescue());
chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const fromOptions = sender.url?.startsWith(chrome.runtime.getURL("options/"));
  if (message === "link-state" && fromOptions) reply(link.isOpen);
});
chrome.storage.local.onChanged.addListener(() => void link.reconsider());

chrome.tabs.onCreated.addListener((tab) => news.created(tab));
chrome.tabs.onUpdated.addListener((tabId, change) => news.updated(tabId, change));
chrome.tabs.onActivated.addListener(({ tabId }) => news.activated(tabId));
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

chrome.webNavigation.onCommitted.addListener(({ tabId, frameId }) => {
  if (frameId === 0) documentChanged(tabId);
});
chrome.debugger.onEvent.addListener(({ tabId }, method, params) => {
  if (tabId === undefined) return;
  dialogEvent(tabId, method, params);
  brakeEvent(tabId, method, params);
  screencastEvent(tabId, method, params);
});
chrome.debugger.onDetach.addListener(({ tabId }) => {
  if (tabId === undefined) return;
  forgetTab(tabId);
  forgetDialog(tabId);
});

void chrome.alarms.get(RESCUE).then((alarm) => {
  if (!alarm) void chrome.alarms.create(RESCUE, { periodInMinutes: RESCUE_MINUTES });
});
// Content scripts could read the secret otherwise, and they live in the pages' processes.
void chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
void injectEverywhere();
link.start();
