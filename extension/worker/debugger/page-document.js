/**
 * The document that a tab's main frame shows, named so that code can be evaluated in this one and
 * in no later one. The names come with the debugger's Runtime domain, which slows down pages that
 * log much, so it is enabled only while something needs it; several users share it.
 */

import { CommandError } from "../shared/command-errors.js";
import {
  isExtensionPage,
  refuseExtensionPage,
  siteOf,
  siteOfDocument,
} from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { send } from "./debugger.js";

const FIND_MS = 5000;
const NAMING = "naming the document";
/** These have nothing of the site that they are shown for. */
const BLANK = /^(?:about:|chrome-error:)/;

/** @typedef {{uniqueId: string, origin: string}} PageDocument */

/** @type {Map<number, Set<string>>} who uses the domain in the tab's own session */
const users = new Map();
/** @type {Map<number, Map<string, PageDocument>>} by tab and frame, while the domain is enabled */
const shown = new Map();
/** @type {Map<number, string>} the debugger's names of main frames */
const mainFrames = new Map();
/** @type {Map<number, PageDocument>} found while the domain was enabled for a moment */
const found = new Map();
/** @type {Map<number, Promise<PageDocument>>} */
const finding = new Map();

/**
 * @param {number} tabId
 * @param {string} user
 * @param {boolean} [again] the domain may already be enabled by an earlier worker
 */
export async function useRuntime(tabId, user, again = false) {
  const using = users.get(tabId) ?? new Set();
  // Only a fresh start reports what has been logged before.
  if (using.size || again) void order(tabId, "Runtime.disable");
  users.set(tabId, using.add(user));
  await order(tabId, "Runtime.enable");
}

/**
 * @param {number} tabId
 * @param {string} user
 */
export function dropRuntime(tabId, user) {
  const using = users.get(tabId);
  if (!using?.delete(user) || using.size) return;
  users.delete(tabId);
  shown.delete(tabId);
  void order(tabId, "Runtime.disable");
}

/**
 * The browser hands commands on to the next document while a tab changes it, and tells us later, so
 * code that was sent for a page could run in one of our own.
 * @param {number} tabId
 * @returns {Promise<PageDocument>}
 */
export async function documentOf(tabId) {
  const page = found.get(tabId) ?? shownIn(tabId) ?? (await within(FIND_MS, findOnce(tabId)));
  if (isExtensionPage(page.origin)) refuseExtensionPage();
  return page;
}

/**
 * Several commands may look at once: the first to end would disable the domain for the others.
 * @param {number} tabId
 */
function findOnce(tabId) {
  const underWay = finding.get(tabId);
  if (underWay) return underWay;
  const begun = find(tabId).finally(() => finding.delete(tabId));
  finding.set(tabId, begun);
  return begun;
}

/** @param {number} tabId */
function shownIn(tabId) {
  return shown.get(tabId)?.get(mainFrames.get(tabId) ?? "");
}

/**
 * @param {number} tabId
 * @param {PageDocument} gone
 */
export function forgetDocument(tabId, gone) {
  if (found.get(tabId) === gone) found.delete(tabId);
  dropContext(tabId, gone.uniqueId);
}

/**
 * @param {string | undefined} fault of a command in a document
 * @returns {boolean} whether the document was gone before anything ran
 */
export function isGone(fault) {
  return /uniqueContextId not found|cannot find context/i.test(fault ?? "");
}

/**
 * @param {number} tabId
 * @param {PageDocument} page
 * @param {string | undefined} site
 * @param {Pick<import("../shared/command-context.d.ts").Reach, "among">} reach
 * @returns {Promise<boolean>}
 */
export async function isOn(tabId, page, site, reach) {
  const isOpaque = !/^https?:/.test(page.origin);
  const own = siteOf(page.origin);
  if (site === undefined || (own === site && !isOpaque)) return true;
  const href = await addressOf(tabId, page);
  if (isOpaque) return BLANK.test(href) || siteOfDocument("null", href) === site;
  if (!BLANK.test(href) || site !== "") return false;
  // A blank document has the origin, and so the data, of the page that opened it.
  const allowed = await reach.among([own], site);
  return !allowed || allowed.has(own);
}

/**
 * @param {number} tabId
 * @param {PageDocument} page
 * @returns {Promise<string>}
 */
export async function addressOf(tabId, { uniqueId }) {
  // A page cannot replace this property.
  const params = { expression: "location.href", uniqueContextId: uniqueId, returnByValue: true };
  return String((await send(tabId, "Runtime.evaluate", params)).result.value);
}

/** @param {number} tabId */
async function find(tabId) {
  const isNew = !users.has(tabId);
  if (isNew) void useRuntime(tabId, NAMING, true);
  try {
    const page = await look(tabId);
    if (isNew) found.set(tabId, page);
    return page;
  } finally {
    if (isNew) dropRuntime(tabId, NAMING);
  }
}

/** @param {number} tabId */
async function look(tabId) {
  const [{ frameTree }] = await Promise.all([
    send(tabId, "Page.getFrameTree"),
    // A document without scripts has no name before something is evaluated in it.
    send(tabId, "Runtime.evaluate", { expression: "0" }),
  ]);
  mainFrames.set(tabId, frameTree.frame.id);
  const page = shownIn(tabId);
  if (page) return page;
  throw new CommandError("navigated_away", "The page went away before it answered.");
}

/**
 * @param {number} tabId
 * @param {string} method
 */
function order(tabId, method) {
  return send(tabId, method).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function runtimeEvent(tabId, session, method, params) {
  if (session !== undefined) return;
  if (method === "Runtime.executionContextCreated") noteContext(tabId, params.context);
  if (method === "Runtime.executionContextsCleared") shown.delete(tabId);
  if (method === "Runtime.executionContextDestroyed")
    dropContext(tabId, params.executionContextUniqueId);
}

/**
 * @param {number} tabId
 * @param {PageDocument & {auxData?: {isDefault: boolean, frameId: string}}} context
 */
function noteContext(tabId, { uniqueId, origin, auxData }) {
  if (!auxData?.isDefault) return;
  const known = shown.get(tabId) ?? new Map();
  shown.set(tabId, known.set(auxData.frameId, { uniqueId, origin }));
}

/**
 * @param {number} tabId
 * @param {string} uniqueId
 */
function dropContext(tabId, uniqueId) {
  const known = shown.get(tabId);
  for (const [frameId, page] of known ?? []) if (page.uniqueId === uniqueId) known?.delete(frameId);
}

/** @param {number} tabId */
function forget(tabId) {
  for (const map of [found, shown, mainFrames, users]) map.delete(tabId);
}

register({
  name: "documents",
  after: ["attachments"],
  event: runtimeEvent,
  committed: (tabId) => void found.delete(tabId),
  forget,
  lost: forget,
  returned: forget,
});
