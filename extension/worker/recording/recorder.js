/**
 * Recording of tabs that agents use: tabs that they open from the start, the person's tabs from
 * their first use. Recordings are kept in memory and end with the tab, with the worker, or when the
 * tab is returned to the person.
 */

import { holdFirstDocument } from "../debugger/first-document.js";
import { heldFor, hold, sendTo, unhold } from "../debugger/debugger.js";
import { dropNetwork, useNetwork } from "../debugger/network-events.js";
import { dropRuntime, useRuntime } from "../debugger/page-document.js";
import { Recording } from "./tab-recording.js";
import { isStealthy } from "../shared/stealth-tabs.js";
import { register, reportNextUses } from "../shared/tab-state.js";
import { earlierRequests } from "./earlier-requests.js";

/** Why the debugger is held. Tabs that a page of an agent's own tab opens are the agent's too. */
const OWN = "recording an agent's own tab";
const USED = "recording";
/** What its uses of the debugger's domains are called. */
const RECORDING = "recording";
const RELEASE_MS = 1000;
const PAUSE_MS = 10_000;
const RESTORE_MS = 5000;
const STORED = "unrecorded";
const STORED_SIZES = "recordingSizes";
const STORED_USUAL = "usualSizes";
/** The types of requests that an application needs to draw. */
const NEEDED = new Set(["document", "fetch", "script", "stylesheet", "xhr"]);

/** @typedef {import("./tab-recording.js").Sizes} Sizes */

/** @type {Map<number, Recording>} */
const recordings = new Map();
/** @type {Set<number>} tabs that an agent does not want recorded */
const unwanted = new Set();
/** @type {Set<string>} sessions whose logged objects have not been released yet */
const unreleased = new Set();
/** @type {Sizes} as the server has configured */
let usual = { consoleEntries: 10_000, networkEntries: 1000 };
/** Whether the server has sent the sizes to this worker: they are newer than the stored ones. */
let isUsualSent = false;

/** @param {any} sizes */
export function setRecording(sizes) {
  const isSize = (/** @type {unknown} */ size) => Number.isInteger(size) && Number(size) >= 0;
  if (!isSize(sizes?.consoleEntries) || !isSize(sizes?.networkEntries)) return;
  usual = { consoleEntries: sizes.consoleEntries, networkEntries: sizes.networkEntries };
  isUsualSent = true;
  void chrome.storage.session.set({ [STORED_USUAL]: usual });
  reportNextUses();
  if (!isOn()) for (const tabId of [...recordings.keys()]) endRecording(tabId);
}

/** Whether tabs are recorded without being asked for. */
export function isOn() {
  return usual.consoleEntries > 0 || usual.networkEntries > 0;
}

/** @param {number} tabId */
export function recordingOf(tabId) {
  return recordings.get(tabId);
}

/**
 * How many requests for what an application draws with are under way, as far as it is recorded.
 * @param {number} tabId
 */
export function openRequests(tabId) {
  const requests = recordings.get(tabId)?.network.entries ?? [];
  return requests.filter(
    ({ type, status, failed, duration }) =>
      NEEDED.has(type) && status === undefined && failed === undefined && duration === undefined,
  ).length;
}

/** What an earlier worker recorded is lost; recording continues in those tabs. */
async function restoreRecordings() {
  /** @type {Record<string, any>} */
  const stored = await chrome.storage.session.get([STORED, STORED_SIZES, STORED_USUAL]);
  for (const tabId of listOf(stored[STORED])) unwanted.add(tabId);
  if (!isUsualSent) usual = stored[STORED_USUAL] ?? usual;
  const sizes = new Map(listOf(stored[STORED_SIZES]));
  const goOn = (/** @type {string} */ why) =>
    heldFor(why).map((tabId) => start(tabId, why, { again: true, sizes: sizes.get(tabId) }));
  const begun = [OWN, USED].flatMap(goOn);
  await Promise.allSettled(begun.map(({ attached }) => attached));
}

/**
 * @param {unknown} stored
 * @returns {any[]}
 */
function listOf(stored) {
  return Array.isArray(stored) ? stored : [];
}

function saveSizes() {
  const sizes = [...recordings].map(([tabId, recording]) => [tabId, recording.sizes]);
  void chrome.storage.session.set({ [STORED_SIZES]: sizes });
}

/**
 * Records a tab that an agent has just opened, before its first navigation. When this settles,
 * nothing will be missed.
 * @param {number} tabId
 */
export async function recordBirth(tabId) {
  if (!isOn()) return;
  const recording = start(tabId, OWN, { born: true });
  await recording.attached;
  holdFirstDocument(tabId, recording.ready);
}

/**
 * @param {number} openerId
 * @param {number} tabId
 */
function recordPopup(openerId, tabId) {
  if (isOn() && recordings.get(openerId)?.why === OWN) start(tabId, OWN, {});
}

/**
 * An agent uses a tab: record it from now on.
 * @param {number} tabId
 */
export function recordUse(tabId) {
  if (isStealthy(tabId)) return;
  if (isOn() && !unwanted.has(tabId) && !recordings.has(tabId)) start(tabId, USED, {});
}

/**
 * Starts a new recording with sizes of its own.
 * @param {number} tabId
 * @param {Partial<Sizes>} sizes
 */
export async function restartRecording(tabId, sizes) {
  const why = recordings.get(tabId)?.why ?? USED;
  setUnwanted(tabId, false);
  recordings.delete(tabId);
  const given = Object.entries({ ...usual, ...sizes }).filter(([, size]) => size !== undefined);
  const recording = start(tabId, why, { born: true, sizes: Object.fromEntries(given) });
  recording.console.since = recording.began;
  await recording.attached;
  await recording.ready;
}

/**
 * @param {number} tabId
 * @param {boolean} [isUnwanted] whether it must not start again by itself
 */
export function endRecording(tabId, isUnwanted = false) {
  setUnwanted(tabId, isUnwanted);
  const recording = recordings.get(tabId);
  if (!recording) return;
  recordings.delete(tabId);
  dropNetwork(tabId, RECORDING);
  disableConsole(tabId, undefined);
  unhold(tabId, recording.why);
}

/** @param {number} tabId */
function forgetRecording(tabId) {
  recordings.delete(tabId);
  setUnwanted(tabId, false);
}

/**
 * @param {number} tabId
 * @param {boolean} isUnwanted
 */
function setUnwanted(tabId, isUnwanted) {
  if (unwanted.has(tabId) === isUnwanted) return;
  if (isUnwanted) unwanted.add(tabId);
  else unwanted.delete(tabId);
  void chrome.storage.session.set({ [STORED]: [...unwanted] });
}

/**
 * @param {number} tabId
 * @param {string} why
 * @param {{born?: boolean, again?: boolean, sizes?: Partial<Sizes>}} how born: the tab is new;
 *   again: its domains may already be enabled
 */
function start(tabId, why, { born = false, again = false, sizes = {} }) {
  const recording = new Recording(tabId, why, { ...usual, ...sizes });
  recordings.set(tabId, recording);
  saveSizes();
  recording.attached = hold(tabId, why).then(() => void listen(recording, born, again));
  const given = () => recordings.get(tabId) === recording && recordings.delete(tabId);
  recording.attached.catch(given);
  return recording;
}

/**
 * All commands are sent at once, so that a tab that navigates in the next moment is recorded there
 * too.
 * @param {Recording} recording
 * @param {boolean} born
 * @param {boolean} again
 */
function listen(recording, born, again) {
  const { tabId, sizes } = recording;
  const network = sizes.networkEntries
    ? useNetwork(tabId, RECORDING, { bodies: true, children: true })
    : undefined;
  const log = sizes.consoleEntries ? enableConsole(tabId, undefined, again) : undefined;
  const enabled = Promise.all([network, log]).catch(() => {});
  recording.ready = enabled.then(async () => {
    recording.hearsSince = Date.now();
    if (!born) await recallRequests(recording);
  });
}

/** @param {Recording} recording */
async function recallRequests(recording) {
  if (!recording.sizes.networkEntries) return;
  recording.addEarlier(await earlierRequests(recording.tabId, Date.now()));
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} method
 * @param {any} params
 */
function recordEvent(tabId, session, method, params) {
  const recording = recordings.get(tabId);
  if (!recording) return;
  const isMessage = method === "Runtime.consoleAPICalled" || method === "Log.entryAdded";
  if (isMessage && recording.isConsolePaused(session)) return;
  recording.event(session, method, params);
  if (isMessage && recording.isTooFast(session)) return pauseConsole(recording, session);
  if (method === "Runtime.consoleAPICalled") releaseSoon(tabId, session);
}

/**
 * A page that logs without end would keep the browser and us from everything else. The browser
 * keeps the latest messages meanwhile.
 * @param {Recording} recording
 * @param {string | undefined} session
 */
function pauseConsole(recording, session) {
  const { tabId } = recording;
  recording.pauseConsole(session, PAUSE_MS);
  disableConsole(tabId, session);
  setTimeout(() => {
    recording.resumeConsole(session);
    if (recordings.get(tabId) !== recording) return;
    void enableConsole(tabId, session);
  }, PAUSE_MS);
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {boolean} [again]
 */
async function enableConsole(tabId, session, again) {
  const order = (/** @type {string} */ method) => sendTo(tabId, session, method).catch(() => {});
  const isOwn = session === undefined;
  const runtime = isOwn ? useRuntime(tabId, RECORDING, again) : order("Runtime.enable");
  await Promise.all([runtime, order("Log.enable")]);
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 */
function disableConsole(tabId, session) {
  const order = (/** @type {string} */ method) => sendTo(tabId, session, method).catch(() => {});
  if (session === undefined) dropRuntime(tabId, RECORDING);
  else void order("Runtime.disable");
  void order("Log.disable");
}

/**
 * The page keeps the logged objects alive for the debugger; we do not need them.
 * @param {number} tabId
 * @param {string | undefined} session
 */
function releaseSoon(tabId, session) {
  const key = `${tabId} ${session}`;
  if (unreleased.has(key)) return;
  unreleased.add(key);
  setTimeout(() => {
    unreleased.delete(key);
    const params = { objectGroup: "console" };
    sendTo(tabId, session, "Runtime.releaseObjectGroup", params).catch(() => {});
  }, RELEASE_MS);
}

/** @param {import("../debugger/child-sessions.js").Child} child */
function listenToChild({ tabId, session }) {
  if (!recordings.get(tabId)?.sizes.consoleEntries) return;
  void enableConsole(tabId, session);
}

/** @param {number} tabId */
function listenAgain(tabId) {
  const recording = recordings.get(tabId);
  if (!recording?.sizes.consoleEntries) return;
  recording.console.sessionGone(undefined);
  void enableConsole(tabId, undefined);
}

function describe() {
  const tabs = [...recordings].map(([tabId, { why, sizes }]) => [tabId, why, sizes]);
  return { usual, unwanted: [...unwanted], tabs };
}

register({
  name: "recordings",
  after: ["children", "network", "documents"],
  restore: restoreRecordings,
  restoreMs: RESTORE_MS,
  forget: forgetRecording,
  event: recordEvent,
  opened: recordPopup,
  used: recordUse,
  child: listenToChild,
  lost: (tabId) => recordings.delete(tabId),
  returned: listenAgain,
  released: async (tabId) => endRecording(tabId),
  describe,
});
