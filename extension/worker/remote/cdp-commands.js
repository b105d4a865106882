/** forwardCDPCommand: commands of the Chrome DevTools Protocol, in one tab. */

import { hold, sendTo, unhold, withTab } from "../debugger/debugger.js";
import { dialogIn } from "../debugger/pending-dialogs.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { requireRemoteAddress } from "./fence.js";

/** The domains that the browser gives to extensions, less those that reach beyond a tab. */
const DOMAINS = new Set([
  "Accessibility",
  "Animation",
  "Audits",
  "CacheStorage",
  "Console",
  "CSS",
  "Database",
  "Debugger",
  "DOM",
  "DOMDebugger",
  "DOMSnapshot",
  "DOMStorage",
  "Emulation",
  "EventBreakpoints",
  "Fetch",
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
/** They name files of the person's machine, or run code in the next page, whichever that is. */
const NEVER = new Set([
  "Page.addScriptToEvaluateOnLoad",
  "Page.addScriptToEvaluateOnNewDocument",
  "Page.navigateToHistoryEntry",
  "DOM.setFileInputFiles",
  "Page.handleFileChooser",
  "Page.setDownloadBehavior",
  "Network.loadNetworkResource",
]);
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
 * @returns {Promise<any>}
 */
export async function forwardCommand(tabId, holder, { method, params, sessionId }) {
  requireAllowed(method, params);
  // What a command switches on lasts only while the debugger stays.
  await hold(tabId, holder);
  const work = () => sendTo(tabId, sessionId, method, params ?? {});
  try {
    // A page with a dialog cannot be woken, and may need this very command.
    return await (dialogIn(tabId) ? work() : withTab(tabId, work));
  } catch (error) {
    throw error instanceof CommandError ? error : refused(method, error);
  }
}

/**
 * @param {number[]} tabs
 * @param {string} holder
 */
export function letGo(tabs, holder) {
  for (const tabId of tabs) unhold(tabId, holder);
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
  if (name === "Page.navigate") requireRemoteAddress(String(params?.url ?? ""));
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
