/**
 * intercept.*: requests of a tab that wait until the caller answers them. A request without an
 * answer continues by itself after a while; all of them do when interception ends.
 */

import { onAbort } from "../shared/timing.js";
import { isHoldingFirstDocument } from "../debugger/first-document.js";
import { childrenOf, dropChildren, useChildren } from "../debugger/child-sessions.js";
import { heldFor, hold, sendTo, unhold, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { TabListeners, heldUp } from "../shared/tab-events.js";
import { saver, register } from "../shared/tab-state.js";
import {
  BY_ITSELF,
  PausedRequests,
  TOO_MANY,
  WAIT_MS,
  answerOf,
  holdsUpLoading,
  originsIn,
  pausedOf,
} from "./paused-requests.js";
import { isExtensionPage, requireKnownSite, siteNow, siteOf } from "../shared/known-tabs.js";

const WHY = "interception";
const STORED = "interception";
const RESTORE_MS = 5000;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./paused-requests.js").Paused} Paused */

/**
 * @typedef {object} Interception
 * @property {string[]} patterns
 * @property {string[] | null} sites whose requests may be held; null: all
 * @property {PausedRequests} requests
 */

/** @type {Map<number, Interception>} */
const tabs = new Map();
/** @type {TabListeners} called when a request begins to wait */
const pauses = new TabListeners();

async function restoreInterception() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  const held = heldFor(WHY);
  for (const [tabId, { patterns, sites, requests }] of Array.isArray(stored) ? stored : []) {
    if (!held.includes(tabId)) continue;
    const restored = { patterns, sites, requests: new PausedRequests(requests) };
    tabs.set(tabId, restored);
    restored.requests.waiting.forEach((request) => continueLater(tabId, request));
    await useChildren(tabId, WHY).catch(() => {});
  }
}

function dump() {
  return [...tabs].map(([tabId, { requests, ...rest }]) => [
    tabId,
    { ...rest, requests: requests.dump() },
  ]);
}

const save = saver(STORED, dump);

/** @param {Context<Wire.StartIntercepting>} context */
export async function startIntercepting({ tabId, input, site, signal, reach }) {
  const { urlPatterns } = input;
  const named = originsIn(urlPatterns).map(siteOf);
  const sites = await reach.among(named, site);
  return unlessDialog(tabId, signal, (live) =>
    withTab(tabId, async () => {
      await hold(tabId, WHY);
      try {
        live.throwIfAborted();
        requireKnownSite(tabId, site);
      } catch (error) {
        if (!tabs.has(tabId)) unhold(tabId, WHY);
        throw error;
      }
      const requests = tabs.get(tabId)?.requests ?? new PausedRequests();
      tabs.set(tabId, { patterns: urlPatterns, sites: sites && [...sites], requests });
      save();
      await useChildren(tabId, WHY);
      await Promise.all([undefined, ...sessionsOf(tabId)].map((one) => enable(tabId, one)));
      // The caller counts on it from now on, whatever happens to this worker.
      await save.written();
      return { ...standing(tabId), urlPatterns, sites: sites && [...sites] };
    }),
  );
}

/** @param {number} tabId */
function sessionsOf(tabId) {
  return childrenOf(tabId).map(({ session }) => session);
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 */
async function enable(tabId, session) {
  const patterns = (tabs.get(tabId)?.patterns ?? []).map((urlPattern) => ({ urlPattern }));
  const enabled = sendTo(tabId, session, "Fetch.enable", { patterns });
  // Not every session has a network.
  await (session === undefined ? enabled : enabled.catch(() => {}));
}

/** @param {number} tabId */
function require(tabId) {
  const found = tabs.get(tabId);
  if (found) return found;
  const message = "No requests of this tab are intercepted. Begin with browser_intercept_requests.";
  throw new CommandError("not_found", message);
}

/** @param {number} tabId */
function standing(tabId) {
  const { requests } = require(tabId);
  return { waiting: requests.waiting.map(describe), overdue: requests.overdue };
}

/** @param {Paused} request */
function describe({ fetchId: _, session: __, ...request }) {
  return request;
}

/**
 * @param {number} tabId
 * @returns {Wire.WaitingRequest[]} the requests that wait in a tab; empty if it is not intercepted
 */
export function waitingIn(tabId) {
  return (tabs.get(tabId)?.requests.waiting ?? []).map(describe);
}

/** @param {Context<Wire.ListIntercepted>} context */
export async function listIntercepted({ tabId, input, signal }) {
  const { requests } = require(tabId);
  const { timeoutMs = 0 } = input;
  if (!requests.waiting.length && timeoutMs) await nextPaused(tabId, timeoutMs, signal);
  return standing(tabId);
}

/**
 * @param {number} tabId
 * @param {number} ms
 * @param {AbortSignal} signal
 */
async function nextPaused(tabId, ms, signal) {
  /** @type {PromiseWithResolvers<void>} */
  const { promise, resolve } = Promise.withResolvers();
  const timer = setTimeout(resolve, ms);
  const stops = [pauses.add(tabId, () => resolve()), onAbort(signal, () => resolve())];
  await promise;
  clearTimeout(timer);
  stops.forEach((stop) => stop());
}

/** @param {Context<Wire.Input<"intercept.answer">>} context */
export async function answerRequest({ tabId, input, site, signal, reach }) {
  const { requests } = require(tabId);
  const request = requests.require(input.requestId);
  if (input.how === "continue" && input.url !== undefined) {
    await requireReach(reach, input.url, site);
  }
  const { method, params, past } = answerOf(input, request.headers);
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  const { fetchId, session } = request;
  try {
    await sendTo(tabId, session, method, { requestId: fetchId, ...params });
  } catch (error) {
    throw refused(tabId, request, error);
  }
  ended(tabId, request, past);
  return { requestId: request.requestId, ...standing(tabId) };
}

/**
 * The response of the other URL would be read as if it came from this one.
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @param {string} url
 * @param {string | undefined} site
 */
async function requireReach(reach, url, site) {
  const other = siteOf(url);
  const allowed = await reach.among([other], site);
  if (!allowed || allowed.has(other)) return;
  const message = `Requests may not be sent to ${other}: this tool is not allowed there.`;
  throw new CommandError("permission_off", message);
}

/**
 * @param {number} tabId
 * @param {Paused} request
 * @param {unknown} error
 */
function refused(tabId, request, error) {
  const message = messageOf(error);
  if (!/invalid interceptionid/i.test(message)) {
    return new CommandError("invalid_arguments", `The browser refuses this answer: ${message}`);
  }
  ended(tabId, request, "was given up by the page");
  const gone = `The page has given up ${request.requestId} meanwhile.`;
  return new CommandError("not_found", gone);
}

/** @param {Context} context */
export async function stopIntercepting({ tabId }) {
  const { requests } = require(tabId);
  const continued = requests.waiting.length;
  await end(tabId);
  await save.written();
  return { continued };
}

/** @param {number} tabId */
async function end(tabId) {
  const waiting = tabs.get(tabId)?.requests.waiting ?? [];
  tabs.delete(tabId);
  save();
  const gone = waiting.map((request) => goOn(tabId, request));
  const disabled = [undefined, ...sessionsOf(tabId)].map((session) =>
    sendTo(tabId, session, "Fetch.disable").catch(() => {}),
  );
  dropChildren(tabId, WHY);
  unhold(tabId, WHY);
  await Promise.all([...gone, ...disabled]);
}

/**
 * @param {number} tabId
 * @param {Pick<Paused, "fetchId" | "session">} request
 */
function goOn(tabId, { fetchId, session }) {
  const params = { requestId: fetchId };
  return sendTo(tabId, session, "Fetch.continueRequest", params).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {Paused} request
 * @param {string} how
 */
function ended(tabId, { requestId }, how) {
  if (tabs.get(tabId)?.requests.end(requestId, how)) save();
}

/**
 * @param {number} tabId
 * @param {Paused} request
 */
function continueLater(tabId, request) {
  const left = Math.max(request.since + WAIT_MS - Date.now(), 0);
  setTimeout(() => {
    if (!tabs.get(tabId)?.requests.waiting.includes(request)) return;
    ended(tabId, request, BY_ITSELF);
    void goOn(tabId, request);
  }, left);
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function interceptEvent(tabId, session, method, params) {
  if (method !== "Fetch.requestPaused" || isHoldingFirstDocument(tabId)) return;
  const tab = tabs.get(tabId);
  const fetchId = params.requestId;
  if (!tab || !mayHold(tab, tabId, session, params.request)) {
    return void goOn(tabId, { fetchId, session });
  }
  const isFull = tab.requests.isFull;
  const request = tab.requests.add(pausedOf(session, params));
  if (isFull) return letPass(tabId, request);
  save();
  continueLater(tabId, request);
  pauses.call(tabId);
  if (holdsUpLoading(request.resourceType)) heldUp(tabId);
}

/**
 * @param {number} tabId
 * @param {Paused} request
 */
function letPass(tabId, request) {
  ended(tabId, request, TOO_MANY);
  void goOn(tabId, request);
}

/**
 * Where permissions depend on the site, a caller who may answer requests of one site must not see
 * those of another, nor decide what its pages get.
 * @param {Interception} tab
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {any} request
 */
function mayHold({ sites }, tabId, session, { url, headers }) {
  // Whoever answers for a script of our own page would decide what it does.
  if (isExtensionPage(url)) return false;
  if (!sites) return true;
  const frame = childrenOf(tabId).find((child) => child.session === session);
  const places = [siteOf(url), siteNow(tabId), frame && siteOf(frame.url), refererOf(headers)];
  return places.every((place) => !place || sites.includes(place));
}

/** @param {Record<string, string>} headers */
function refererOf(headers) {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === "referer");
  return found && siteOf(found[1]);
}

/** @param {number} tabId */
function forget(tabId) {
  if (tabs.delete(tabId)) save();
}

function describeKept() {
  return [...tabs].map(([tabId, { requests, ...rest }]) => {
    const { waiting, ...counts } = requests.dump();
    return [tabId, { ...rest, ...counts, waiting: waiting.map(({ since: _, ...one }) => one) }];
  });
}

register({
  name: "interception",
  after: ["children", "first documents", "sites"],
  restore: restoreInterception,
  restoreMs: RESTORE_MS,
  event: interceptEvent,
  child: ({ tabId, session }) => void (tabs.has(tabId) && enable(tabId, session)),
  returned: (tabId) => void (tabs.has(tabId) && enable(tabId, undefined).catch(() => {})),
  lost: forget,
  released: async (tabId) => void (tabs.has(tabId) && (await end(tabId))),
  describe: describeKept,
});
