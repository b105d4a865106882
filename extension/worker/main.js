/**
 * The service worker. It may be stopped and started at any moment, so every listener is registered
 * here, synchronously; events wait until the state they need is restored.
 */

import { confirmationOf, keepAttention } from "./person/attention.js";
import { diagnose } from "./link/diagnosis.js";
import { authRequired } from "./debugger/logins.js";
import { eraseOutlines } from "./input/target-outline.js";
import { introduceBrowser, watchTabChanges } from "./link/tab-reporter.js";
import { runCommand } from "./commands.js";
import { childCommitted, frameConnected } from "./frames/frames.js";
import "./page_tools/framed-servers.js";
import { findLostLoads, injectEverywhere } from "./frames/content-scripts.js";
import { note, noteFault } from "./shared/journal.js";
import { Link } from "./link/link.js";
import { checker } from "./link/input-schema.js";
import { listenToTabs } from "./shared/known-tabs.js";
import { listenToLoads } from "./shared/tab-events.js";
import { Server, keepServers } from "./link/servers.js";
import {
  declinePermission,
  onWanted,
  permissionsGiven,
  wantedPermissions,
} from "./person/browser-permissions.js";
import { openNotice } from "./person/notifications.js";
import { Panels, Relay, isPanel, openPanel } from "./person/open-panels.js";
import { RemoteAccess } from "./remote/remote-access.js";
import { RemoteLinks } from "./remote/remote-links.js";
import { STORED as REMOTE_SETTINGS } from "./shared/remote-settings.js";
import { takeThumbnail } from "./picture/thumbnails.js";
import { keepPageTools } from "./page_tools/page-tool-registry.js";
import { keepPlugins } from "./plugins/plugin-host.js";
import { setRecording } from "./recording/recorder.js";
import { describeAll, onceRestored, passOn, restoreAll } from "./shared/tab-state.js";

const RESCUE = "rescue";
const RESCUE_MINUTES = 0.5;

/** @type {import("./person/open-panels.js").Ask} */
const askServer = (method, params) => link.request(method, params);
const panels = new Panels(
  askServer,
  () => {
    local.notify("panel.changed", { open: panels.count });
    if (panels.count) attention.panelOpened();
    else eraseOutlines();
  },
  {
    "agents.stop": stopAll,
    "remote.allow": (choice) => remote.allow(choice),
    "remote.setEnded": ({ isEnded }) => remote.setEnded(isEnded),
    "thumbnail.take": takeThumbnail,
    "diagnosis.get": () => diagnose(link.isOpen, local.met.text),
    "permissions.decline": ({ name }) => declinePermission(String(name)),
  },
);
/**
 * The brake: for the server's agents and for those on other machines. None waits for the other, and
 * without a server there is still a brake.
 * @param {{stopped: boolean}} params
 */
async function stopAll(params) {
  const far = remote.setStopped(params.stopped);
  await Promise.all([far, link.isOpen && askServer("agents.stop", params)]);
}
const attention = keepAttention(() => panels.isVisible);
onWanted(() => {
  const wanted = wantedPermissions();
  panels.broadcast("permissions", { wanted });
  attention.setWanted(wanted);
});
const relay = new Relay(panels, attention, askServer);
const servers = keepServers();
const tabChanges = watchTabChanges((item) => servers.report(item));
const pageTools = keepPageTools({
  notify: (method, params) => servers.notify(method, params),
  reportTabChanges: () => tabChanges.flush(),
  note: (text) => note("warn", text),
});

const pluginHost = keepPlugins({
  reportTabChanges: () => tabChanges.flush(),
  note: (text) => note("warn", text),
});
const plugins = pluginHost.of({
  tell: (method, params) => local.tell(method, params),
  ask: askServer,
  hasFiles: true,
  refusal: () => null,
});

const ready = restoreAll();
const local = servers.add(
  new Server({
    isLocal: true,
    introduction: (brief) => introduceBrowser(() => panels.count, brief),
    commands: {
      ready,
      run: (name, context) => servers.uses.sharing(local, runCommand)(name, context),
      execute: (params, how) => pageTools.execute(params, how),
      setOrigins: (params) => pageTools.setOrigins(local, params),
      plugins,
      reportTabChanges: () => tabChanges.flush(),
      checker,
      reload: () => chrome.runtime.reload(),
    },
    learn: (greeting) => {
      setRecording(greeting.recording);
      pageTools.setOrigins(local, greeting);
      panels.broadcast("mismatch", { text: local.met.text });
    },
    opened: () => {
      pageTools.opened(local);
      void relay.refresh();
    },
  }),
);
const link = new Link((line) => {
  const receive = local.begin(line);
  note("info", "the link to the server is open");
  // A request is never for the person.
  return (message) =>
    (message.kind === "notification" && relay.receive(message)) || receive(message);
});
link.onClosed = (/** @type {number} */ code) => {
  note("warn", "the link to the server has closed");
  local.met.closed(code);
  plugins.closed();
  eraseOutlines();
  relay.closed(local.met.problem);
};
link.problem = () => local.met.problem;
const remoteCommands = { ready, run: runCommand, reportTabChanges: () => tabChanges.flush() };
/** @type {RemoteLinks} */
const remoteLinks = new RemoteLinks({
  servers,
  pageTools,
  pluginHost,
  commands: remoteCommands,
  levelOf: (name) => remote.levelOf(name),
});
/** @type {RemoteAccess} */
const remote = new RemoteAccess({
  ...remoteCommands,
  uses: servers.uses,
  takeLink: (client, params) => remoteLinks.take(client, params),
  left: (client) => remoteLinks.left(client),
  revoked: (name) => remoteLinks.revoked(name),
  ended: () => remoteLinks.endAll(),
  changed: () => {
    const { state, clients } = remote.state;
    const isUsed = clients.some(({ level, connections }) => level && connections);
    attention.setRemote(state === "open" ? (isUsed ? "used" : "open") : "");
    panels.broadcast("remote", remote.state);
  },
});

note("info", "the worker has started");
self.addEventListener("error", ({ error }) => noteFault(error));
self.addEventListener("unhandledrejection", ({ reason }) => noteFault(reason));
listenToLoads();
listenToTabs();
chrome.runtime.onConnect.addListener((port) => {
  if (!isPanel(port)) return frameConnected(port);
  panels.connected(port, attention.oldest);
  panels.broadcast("mismatch", { text: local.met.text });
  panels.broadcast("remote", remote.state);
  panels.broadcast("permissions", { wanted: wantedPermissions() });
  link.rescue();
});
// Fires only where the browser does not open the side panel by itself.
chrome.action.onClicked.addListener(() => void openPanel());
chrome.notifications.onClicked.addListener((id) => {
  if (!openNotice(id)) {
    void openPanel();
    panels.point(confirmationOf(id) || attention.oldest);
  }
  void chrome.notifications.clear(id);
});
chrome.permissions.onAdded.addListener(({ permissions = [] }) => permissionsGiven(permissions));
chrome.runtime.onStartup.addListener(findLostLoads);
chrome.runtime.onInstalled.addListener(findLostLoads);
chrome.alarms.onAlarm.addListener(() => {
  link.rescue();
  remote.rescue();
});
chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const fromOptions = sender.url?.startsWith(chrome.runtime.getURL("options/"));
  if (message !== "link-state" || !fromOptions) return false;
  void diagnose(link.isOpen, local.met.text).then((diagnosis) =>
    reply({ isOpen: link.isOpen, remote: remote.state, diagnosis }),
  );
  // The reply comes later.
  return true;
});
chrome.storage.local.onChanged.addListener((changes) => {
  const names = Object.keys(changes);
  if (names.some((name) => REMOTE_SETTINGS.includes(name))) void remote.reconsider();
  if (names.some((name) => !REMOTE_SETTINGS.includes(name))) void link.reconsider();
});

chrome.tabs.onCreated.addListener((tab) => passOn("created", tab));
chrome.tabs.onUpdated.addListener((tabId, change, tab) => passOn("updated", tabId, change, tab));
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => passOn("activated", tabId, windowId));
chrome.windows.onRemoved.addListener((windowId) => passOn("windowClosed", windowId));
chrome.windows.onFocusChanged.addListener((windowId) => {
  passOn("windowFocused", windowId);
  if (windowId !== chrome.windows.WINDOW_ID_NONE) void link.insist();
});
chrome.tabs.onRemoved.addListener((tabId) => {
  passOn("forget", tabId);
  passOn("closed", tabId);
});
chrome.tabs.onReplaced.addListener((newId, oldId) => {
  passOn("forget", oldId);
  passOn("replaced", newId, oldId);
});

chrome.webRequest.onAuthRequired.addListener(
  // The type allows only a synchronous answer.
  /** @type {any} */ (
    (/** @type {any} */ details, /** @type {any} */ reply) =>
      onceRestored(() => authRequired(details, reply))
  ),
  { urls: ["<all_urls>"] },
  ["asyncBlocking"],
);
chrome.webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url }) => {
  if (frameId === 0) passOn("navigating", tabId, url);
});
chrome.webNavigation.onErrorOccurred.addListener(({ tabId, frameId }) => {
  if (frameId === 0) passOn("stayed", tabId);
});
chrome.webNavigation.onCommitted.addListener((details) => {
  if (details.frameId === 0) passOn("committed", details.tabId, details.url);
  else childCommitted(details);
});
chrome.webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId }) => {
  passOn("opened", sourceTabId, tabId);
});
chrome.debugger.onEvent.addListener(({ tabId, sessionId }, method, params) => {
  if (tabId !== undefined) passOn("event", tabId, sessionId, method, params);
});
chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  if (tabId === undefined) return;
  note("info", `the debugger was detached from tab ${tabId}: ${reason}`);
  passOn("detached", tabId, reason);
});

void chrome.alarms.get(RESCUE).then((alarm) => {
  if (!alarm) void chrome.alarms.create(RESCUE, { periodInMinutes: RESCUE_MINUTES });
});
// Otherwise content scripts could read the secret, and they run in the pages' processes.
void chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
void chrome.sidePanel?.setPanelBehavior({ openPanelOnActionClick: true });
void injectEverywhere();
link.start();
void remote.start();

// For debugging in the worker's console, and for the tests.
Object.assign(self, { describeTabState: describeAll });
