/** forwardCDPCommand: commands of the Chrome DevTools Protocol, in one tab. */

import { hold, renew, sendTo, unhold, withTab } from "../debugger/debugger.js";
import { documentOf, forgetDocument, isGone } from "../debugger/page-document.js";
import { dialogIn } from "../debugger/pending-dialogs.js";
import { whileUnlined } from "../input/target-outline.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { requireRemoteAddress, requireRemotePage, unlessGone } from "./fence.js";

/**
 * The domains that the browser gives to extensions, less those that reach beyond a tab, and less
 * Debugger and Fetch: their events are not forwarded, and what a client could still do with them
 * goes into scripts of other extensions and into whichever page comes next.
 */
const DOMAINS = new Set([
  "Accessibility",
  "Animation",
  "Audits",
  "CacheStorage",
  "Console",
  "CSS",
  "Database",
  "DOM",
  "DOMDebugger",
  "DOMSnapshot",
  "DOMStorage",
  "Emulation",
  "EventBreakpoints",
  "IndexedDB",
  "Input",
  "Inspector",
  "IO",
  "LayerTree",
  "Log",
  "Media",
  "Network",
  "Overlay",
  "Page",
  "Performance",
  "PerformanceTimeline",
  "Profiler",
  "Runtime",
  "Schema",
  "Security",
  "Storage",
  "WebAudio",
  "WebAuthn",
]);
/**
 * They name files of the person's machine, or run code in the next page, whichever that is, or undo
 * what other clients of the same tab have set up.
 */
const NEVER = new Set([
  "DOM.getFileInfo",
  "DOM.setFileInputFiles",
  "DOMDebugger.getEventListeners",
  "Network.loadNetworkResource",
  "Page.addScriptToEvaluateOnLoad",
  "Page.addScriptToEvaluateOnNewDocument",
  "Page.createIsolatedWorld",
  "Page.handleFileChooser",
  "Page.navigateToHistoryEntry",
  "Page.removeScriptToEvaluateOnLoad",
  "Page.removeScriptToEvaluateOnNewDocument",
  "Page.setDownloadBehavior",
  "Runtime.compileScript",
  "Runtime.runScript",
]);
/** Scripts of other extensions have worlds of their own in every page. */
const WORLDS = ["contextId", "executionContextId", "executionContextName", "uniqueContextId"];
/** Members that say whose stored data is meant. */
const OWNERS = new Set(["origin", "securityOrigin", "storageKey"]);
/** Others need these domains in the same tab, and one of the debugger's sessions serves all. */
const SHARED = new Set(["CSS", "DOM", "Log", "Network", "Page", "Runtime"].map(disabling));
const NAME = /^([A-Z]\w*)\.\w+$/;
const NOT_THERE = -32601;
const INVALID = -32602;

/**
 * @typedef {object} CdpCommand
 * @property {string} method
 * @property {any} [params]
 * @property {string} [sessionId]
 */

/**
 * @param {number} tabId
 * @param {string} holder who keeps the debugger on the tab
 * @param {CdpCommand} command
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function forwardCommand(tabId, holder, command, signal) {
  const { method } = command;
  requireAllowed(method, command.params);
  await requireRemotePage(tabId);
  signal.throwIfAborted();
  // What a command switches on lasts only while the debugger stays.
  await hold(tabId, holder);
  try {
    const work = () => send(tabId, command, signal);
    // A page with a dialog cannot be woken, and may need this very command.
    const result = await whileUnlined(tabId, () =>
      dialogIn(tabId) ? work() : withTab(tabId, work),
    );
    await requireRemotePage(tabId).catch(unlessGone);
    return result;
  } catch (error) {
    throw error instanceof CommandError || signal.aborted ? error : refused(method, error);
  }
}

/**
 * @param {number} tabId
 * @param {CdpCommand} command
 * @param {AbortSignal} signal
 */
async function send(tabId, { method, params = {}, sessionId }, signal) {
  signal.throwIfAborted();
  if (SHARED.has(method)) return {};
  if (method !== "Runtime.evaluate" || sessionId !== undefined) {
    return sendTo(tabId, sessionId, method, params);
  }
  try {
    return await evaluate(tabId, params, signal);
  } catch (error) {
    // The document had gone before anything ran.
    if (!isGone(messageOf(error))) throw error;
    return evaluate(tabId, params, signal);
  }
}

/**
 * In the document that is looked at here, and in no later one.
 * @param {number} tabId
 * @param {object} params
 * @param {AbortSignal} signal
 */
async function evaluate(tabId, params, signal) {
  const page = await documentOf(tabId);
  signal.throwIfAborted();
  try {
    const pinned = { ...params, uniqueContextId: page.uniqueId };
    return await sendTo(tabId, undefined, "Runtime.evaluate", pinned);
  } catch (error) {
    if (isGone(messageOf(error))) forgetDocument(tabId, page);
    throw error;
  }
}

/**
 * What the client has switched on ends now, whoever else uses the debugger there.
 * @param {number[]} tabs
 * @param {string} holder
 */
export function letGo(tabs, holder) {
  for (const tabId of tabs) {
    unhold(tabId, holder);
    void renew(tabId);
  }
}

/**
 * @param {unknown} method
 * @param {any} params
 */
export function requireAllowed(method, params) {
  const domain = typeof method === "string" ? NAME.exec(method)?.[1] : undefined;
  if (domain === undefined) {
    throw new CommandError("invalid_arguments", "method must be a command, as in Page.reload.");
  }
  const name = String(method);
  if (!DOMAINS.has(domain)) throw notAllowed(`The domain ${domain} is not for extensions.`);
  if (NEVER.has(name)) throw notAllowed(`${name} is not for remote clients.`);
  if (params?.scriptToEvaluateOnLoad) throw notAllowed(`${name} runs no script on load.`);
  if (params?.data?.files?.length) throw notAllowed("Files cannot be dragged by remote clients.");
  if (WORLDS.some((member) => params?.[member] !== undefined)) {
    throw notAllowed(`${name} reaches only the page's own scripts.`);
  }
  for (const owner of ownersIn(params)) requireRemoteAddress(owner);
  if (name === "Page.navigate") requireRemoteAddress(String(params?.url ?? ""));
}

/** @param {string} domain */
function disabling(domain) {
  return `${domain}.disable`;
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function ownersIn(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    OWNERS.has(member) && typeof inner === "string" ? [inner] : ownersIn(inner),
  );
}

/** @param {string} why */
function notAllowed(why) {
  return new CommandError("cdp_domain_not_allowed", `${why} Nothing was done.`);
}

/**
 * @param {string} method
 * @param {unknown} error
 */
function refused(method, error) {
  const text = error instanceof Error ? error.message : String(error);
  const code = codeOf(text);
  const message = messageOf(error);
  if (code === NOT_THERE || /not allowed/i.test(message)) {
    return notAllowed(`The browser does not let extensions use ${method}.`);
  }
  /** @type {TabhubReason} */
  const reason = code === INVALID ? "invalid_arguments" : "request_failed";
  return new CommandError(reason, `${method}: ${message}`);
}

/** @param {string} text */
function codeOf(text) {
  try {
    return JSON.parse(text).code;
  } catch {
    return undefined;
  }
}
