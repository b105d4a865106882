/**
 * The document that a tab's main frame shows, named so that code can be evaluated in this one and
 * in no later one. The names come with the debugger's Runtime domain, which slows down pages that
 * log much, so it is enabled only while something needs it; several users share it.
 */

import { CommandError } from "../shared/command-errors.js";
import { siteOfDocument } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { send } from "./debugger.js";

const CONTEXT_MS = 5000;
const NAMING = "naming the document";
/** These have nothing of the site that they are shown for. */
const BLANK = /^(?:about:|chrome-error:)/;

/**
 * @typedef {object} PageDocument
 * @property {string} uniqueContextId
 * @property {string} origin
 * @property {string} href
 */

/** @type {Map<number, Set<string>>} who uses the domain in the tab's own session */
const users = new Map();
/** @type {Map<number, Map<string, {uniqueId: string, origin: string}>>} by tab and frame */
const contexts = new Map();
/** @type {Map<number, Promise<PageDocument>>} */
const documents = new Map();

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
  contexts.delete(tabId);
  void order(tabId, "Runtime.disable");
}

/** @param {number} tabId */
export function documentOf(tabId) {
  const known = documents.get(tabId);
  if (known) return known;
  const found = within(CONTEXT_MS, find(tabId));
  documents.set(tabId, found);
  const drop = () => documents.get(tabId) === found && documents.delete(tabId);
  // A blank document can become another one in place.
  found.then((page) => isBlank(page) && drop(), drop);
  return found;
}

/** @param {number} tabId */
export function forgetDocument(tabId) {
  documents.delete(tabId);
}

/** @param {PageDocument} page */
export function isBlank({ href }) {
  return BLANK.test(href);
}

/**
 * @param {PageDocument} page
 * @param {string | undefined} site
 */
export function isOn({ origin, href }, site) {
  if (site === undefined) return true;
  const isOpaque = !/^https?:/.test(origin);
  const own = siteOfDocument(isOpaque ? "null" : origin, href);
  if (own === site) return true;
  // A blank document has the origin of the page that opened it, if any.
  return BLANK.test(href) && (isOpaque || site === "");
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
 * @param {string} uniqueContextId
 * @returns {Promise<string>}
 */
export async function hrefIn(tabId, uniqueContextId) {
  // A page cannot replace this property.
  const params = { expression: "location.href", uniqueContextId, returnByValue: true };
  return String((await send(tabId, "Runtime.evaluate", params)).result.value);
}

/**
 * @param {number} tabId
 * @returns {Promise<PageDocument>}
 */
async function find(tabId) {
  const isNew = !users.has(tabId);
  if (isNew) void useRuntime(tabId, NAMING, true);
  const { uniqueId, origin } = await contextOf(tabId).finally(
    () => isNew && dropRuntime(tabId, NAMING),
  );
  return { uniqueContextId: uniqueId, origin, href: await hrefIn(tabId, uniqueId) };
}

/** @param {number} tabId */
async function contextOf(tabId) {
  const [{ frameTree }] = await Promise.all([
    send(tabId, "Page.getFrameTree"),
    // A document without scripts has no context before it is asked for.
    send(tabId, "Runtime.evaluate", { expression: "0" }),
  ]);
  const context = contexts.get(tabId)?.get(frameTree.frame.id);
  if (context) return context;
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
  if (method === "Runtime.executionContextsCleared") contexts.delete(tabId);
}

/**
 * @param {number} tabId
 * @param {{uniqueId: string, origin: string, auxData?: {isDefault: boolean, frameId: string}}} context
 */
function noteContext(tabId, { uniqueId, origin, auxData }) {
  if (!auxData?.isDefault) return;
  const known = contexts.get(tabId) ?? new Map();
  contexts.set(tabId, known.set(auxData.frameId, { uniqueId, origin }));
}

/** @param {number} tabId */
function forget(tabId) {
  documents.delete(tabId);
  contexts.delete(tabId);
  users.delete(tabId);
}

register({
  name: "documents",
  after: ["attachments"],
  event: runtimeEvent,
  committed: forgetDocument,
  forget,
  lost: forget,
  returned: forget,
});
