/** The frames of every tab, each reached through a port that its content script keeps open. */

import { CommandError } from "../shared/command-errors.js";
import { note } from "../shared/journal.js";
import { siteOfDocument } from "../shared/known-tabs.js";
import { Correlator } from "../shared/request-correlator.js";
import { register, report, saver } from "../shared/tab-state.js";
import { RateLimit, within } from "../shared/timing.js";
import { injectInto } from "./content-scripts.js";
import { RefNumbers, parseRef, slotOf } from "./ref-numbers.js";

// One document in one frame, at the other end of a port.

const ANSWER_MS = 10_000;
/** Far more than content scripts send unasked; they limit what pages make them send. */
const MOST_SAID = 1000;
const REST_MS = 10_000;

/** @typedef {{id: number, type: string, body: object, until: number}} Question */

export class Frame {
  /** @type {chrome.runtime.Port} */
  #port;
  #requests = new Correlator();
  /** @type {Question[] | null} what is to be sent in one message */
  #held = null;
  /** @type {import("./ref-numbers.js").Range | undefined} */
  range;
  /** @type {{parent: Frame, ref: number} | undefined} found by a nonce; never changes */
  place;
  /** @type {Promise<number> | undefined} */
  #parentId;
  onHello = () => {};
  onGone = () => {};
  /** @type {(news: any) => void} */
  onNews = () => {};
  /** @type {(message: any) => void} messages about the tools that its page publishes */
  onSaid = () => {};
  /** It has sent too much, and is disconnected for a while. */
  onRateLimit = () => {};
  #rate = new RateLimit(MOST_SAID);
  #isGone = false;
  /** Its page has removed our listeners, and may get input before the ones that we added again. */
  onLate = () => {};

  /**
   * @param {chrome.runtime.Port} port
   * @param {number} tabId
   * @param {number} frameId
   * @param {string} site
   */
  constructor(port, tabId, frameId, site) {
    this.#port = port;
    this.tabId = tabId;
    this.frameId = frameId;
    this.site = site;
    this.sender = port.sender;
    this.since = Date.now();
    port.onMessage.addListener((message) => this.#receive(message));
    port.onDisconnect.addListener(() => this.#gone());
  }

  /**
   * @param {string} type
   * @param {object} body
   * @param {number} [timeoutMs]
   * @returns {Promise<any>}
   */
  ask(type, body, timeoutMs = ANSWER_MS) {
    const send = (/** @type {number} */ id) => {
      // A busy page handles messages late; it must not carry out an action whose call has ended.
      const message = { id, type, body, until: Date.now() + timeoutMs };
      if (this.#held) this.#held.push(message);
      else this.#post([message]);
    };
    return this.#requests.request(send, { timeoutMs, late: timeoutError });
  }

  /**
   * What is asked during the work goes in one message: the page does it in one task.
   * @template T
   * @param {() => T} work
   */
  together(work) {
    /** @type {Question[]} */
    const held = [];
    this.#held = held;
    try {
      return work();
    } finally {
      this.#held = null;
      this.#post(held);
    }
  }

  /** @param {Question[]} questions */
  #post(questions) {
    try {
      this.#port.postMessage(questions.length === 1 ? questions[0] : questions);
    } catch {
      for (const { id } of questions) this.#requests.settle(id, goneError());
    }
  }

  /** @returns {Promise<number>} -1 when the browser does not know */
  parentId() {
    this.#parentId ??= chrome.webNavigation
      .getFrame({ tabId: this.tabId, frameId: this.frameId })
      .then((details) => details?.parentFrameId ?? -1)
      .catch(() => -1)
      .then((id) => {
        // It may know later.
        if (id < 0 && this.frameId) this.#parentId = undefined;
        return id;
      });
    return this.#parentId;
  }

  /** @param {any} message */
  #receive(message) {
    if (this.#isGone) return;
    if (!this.#isAnswer(message) && this.#rate.note(Date.now())) return this.#pause();
    if (message?.type === "hello") this.#hello(message);
    else if (message?.type === "news") this.onNews(message);
    else if (message?.type === "late") this.onLate();
    else if (typeof message?.type === "string") this.onSaid(message);
    else this.#requests.settle(message?.id, answerError(message), message?.value);
  }

  /** @param {any} message */
  #isAnswer(message) {
    return message?.type === undefined && this.#requests.has(message?.id);
  }

  /** @param {any} message */
  #hello({ range }) {
    if (Number.isInteger(range?.slot) && Number.isInteger(range?.next)) this.range = range;
    this.onHello();
  }

  /** A dropped message would be missed, but a new port sends everything again. */
  #pause() {
    void this.ask("rest", { ms: REST_MS }).catch(() => {});
    this.#port.disconnect();
    this.onRateLimit();
    this.#gone();
  }

  /**
   * The same document has connected again. When a worker starts while another one ends, the browser
   * may close a port at the page's end only: nothing that was asked through it will be answered.
   */
  replaced() {
    this.#port.disconnect();
    this.#gone();
  }

  #gone() {
    this.#isGone = true;
    // Reading the error keeps it out of the extension's own error list.
    void chrome.runtime.lastError;
    this.#requests.failAll(goneError);
    this.onGone();
  }
}

/** @param {any} message */
function answerError(message) {
  const error = message?.error;
  if (!error) return null;
  const reason = /** @type {TabhubReason} */ (String(error.reason));
  return new CommandError(reason, String(error.message), error.data);
}

function timeoutError() {
  return new CommandError("timeout", "The page does not answer: it is busy, or shows a dialog.");
}

function goneError() {
  return new CommandError("navigated_away", "The page went away before it answered.");
}

const STORED = "slots";
const INJECT_AFTER_MS = 60;
const APPEAR_MS = 10_000;
const RECOVER_MS = 5000;
const CONNECT_MS = 500;
const bornAt = Date.now();

/** @type {Map<number, Map<number, Frame>>} */
const tabs = new Map();
/** @type {Set<(frame: Frame) => void>} */
const arrivals = new Set();
/** @type {Set<number>} tabs for which this has been noted */
const limited = new Set();
/** @type {Map<number, Set<string>>} the sites whose frames may get input before our listeners do */
const late = new Map();
/** @type {Map<number, Set<number>>} the child frames by tab whose documents have not connected */
const awaited = new Map();
const refNumbers = new RefNumbers();
const save = saver(STORED, () => refNumbers.dump());

async function restoreRefNumbers() {
  refNumbers.load((await chrome.storage.session.get(STORED))[STORED]);
  save();
}

/** @param {chrome.runtime.Port} port */
export function frameConnected(port) {
  const sender = port.sender;
  if (port.name !== "frame" || sender?.tab?.id === undefined) return port.disconnect();
  const site = siteOfDocument(sender.origin, sender.url);
  const frame = new Frame(port, sender.tab.id, sender.frameId ?? 0, site);
  frame.onHello = () => addFrame(frame);
  frame.onGone = () => {
    removeFrame(frame);
    report("gone", frame);
  };
  frame.onSaid = (message) => report("said", frame, message);
  frame.onRateLimit = () => noteRateLimit(frame.tabId);
  frame.onLate = () => late.set(frame.tabId, lateSites(frame.tabId).add(frame.site));
}

/**
 * They stay so until the tab shows another page: the site may have further frames.
 * @param {number} tabId
 */
export function lateSites(tabId) {
  return late.get(tabId) ?? new Set();
}

/** @param {number} tabId */
function noteRateLimit(tabId) {
  if (limited.has(tabId)) return;
  limited.add(tabId);
  note("warn", `a page in tab ${tabId} makes us say too much; it is left alone for a while`);
}

/** @param {Frame} frame */
function addFrame(frame) {
  const earlier = tabs.get(frame.tabId)?.get(frame.frameId);
  if (earlier && earlier !== frame && isSameDocument(earlier, frame)) earlier.replaced();
  const frames = tabs.get(frame.tabId) ?? new Map();
  tabs.set(frame.tabId, frames.set(frame.frameId, frame));
  awaited.get(frame.tabId)?.delete(frame.frameId);
  if (frame.range) noteRange(frame);
  arrivals.forEach((listener) => listener(frame));
}

/**
 * @param {Frame} one
 * @param {Frame} other
 */
function isSameDocument({ sender: one }, { sender: other }) {
  return one?.documentId !== undefined && one.documentId === other?.documentId;
}

/** @param {Frame} frame */
function removeFrame(frame) {
  const frames = tabs.get(frame.tabId);
  if (frames?.get(frame.frameId) !== frame) return;
  frames.delete(frame.frameId);
  if (!frames.size) tabs.delete(frame.tabId);
}

/** @param {Frame} frame */
function noteRange(frame) {
  if (frame.range && refNumbers.note(frame.tabId, frame.range)) save();
}

/** @param {number} tabId */
function forgetFrames(tabId) {
  tabs.delete(tabId);
  limited.delete(tabId);
  late.delete(tabId);
  awaited.delete(tabId);
  if (refNumbers.forget(tabId)) save();
}

/**
 * @param {number} tabId
 * @returns {Frame[]} the main frame first
 */
export function framesOf(tabId) {
  return [...(tabs.get(tabId)?.values() ?? [])].sort((a, b) => a.frameId - b.frameId);
}

export function allFrames() {
  return [...tabs.values()].flatMap((frames) => [...frames.values()]);
}

/**
 * @param {(frame: Frame) => void} listener called when a frame connects, in any tab
 * @returns {() => void} stops listening
 */
export function onFrame(listener) {
  arrivals.add(listener);
  return () => arrivals.delete(listener);
}

/** Our script runs in these, so that they connect in a moment. */
const CONNECTS = /^(https?|about:srcdoc)/;

/**
 * A child frame shows another document.
 * @param {{tabId: number, frameId: number, url: string, documentId?: string}} details
 */
export function childCommitted({ tabId, frameId, url, documentId }) {
  const known = tabs.get(tabId)?.get(frameId)?.sender?.documentId;
  const waits = awaited.get(tabId) ?? new Set();
  if (CONNECTS.test(url) && known !== documentId) awaited.set(tabId, waits.add(frameId));
  else waits.delete(frameId);
}

/**
 * Waits for the child frames that have loaded and not connected yet, each at most once: a page can
 * be complete a moment before they are.
 * @param {number} tabId
 */
export async function untilConnected(tabId) {
  const missing = new Set(awaited.get(tabId));
  if (!missing.size) return;
  await connection(tabId, missing, CONNECT_MS);
  missing.forEach((frameId) => awaited.get(tabId)?.delete(frameId));
}

/**
 * Waits for the frames that the browser knows of and that have not connected yet.
 * @param {number} tabId
 * @param {number} ms
 * @returns {Promise<boolean>} whether there were any
 */
export async function lateFrames(tabId, ms) {
  const listed = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  const missing = new Set(
    listed.flatMap(({ frameId, url, errorOccurred }) =>
      CONNECTS.test(url) && !errorOccurred ? [frameId] : [],
    ),
  );
  framesOf(tabId).forEach(({ frameId }) => missing.delete(frameId));
  if (!missing.size) return false;
  await connection(tabId, missing, ms);
  return true;
}

/**
 * @param {number} tabId
 * @param {Set<number>} missing
 * @param {number} ms
 */
async function connection(tabId, missing, ms) {
  /** @type {PromiseWithResolvers<void>} */
  const { promise, resolve } = Promise.withResolvers();
  const stop = onFrame((frame) => {
    if (frame.tabId === tabId && missing.delete(frame.frameId) && !missing.size) resolve();
  });
  await within(ms, promise).catch(() => {});
  stop();
}

/**
 * Asks a frame something that may create refs.
 * @param {Frame} frame
 * @param {string} type
 * @param {object} body
 * @param {number} [timeoutMs]
 */
export async function askMinting(frame, type, body, timeoutMs) {
  if (!frame.range) {
    frame.range = refNumbers.assign(frame.tabId, frame.frameId === 0);
    save();
  }
  const { next, value } = await frame.ask(type, { ...body, range: frame.range }, timeoutMs);
  if (Number.isSafeInteger(next)) {
    frame.range = { slot: frame.range.slot, next };
    noteRange(frame);
  }
  return value;
}

/** @param {Frame} frame */
export function isBlank({ sender }) {
  return !sender?.url || sender.url.startsWith("about:");
}

/**
 * @param {number} tabId
 * @returns {Promise<Frame>}
 */
export async function mainFrame(tabId) {
  const find = () => tabs.get(tabId)?.get(0);
  const soon = find() ?? (await appearance(find, INJECT_AFTER_MS));
  if (soon) return soon;
  // Injecting may never settle during a navigation, so only its failure is awaited.
  const refused = new Promise((_, reject) => injectInto(tabId).catch(reject));
  const late = await Promise.race([appearance(find, APPEAR_MS), refused]);
  if (late) return late;
  throw new CommandError("timeout", "The page does not answer: it is busy, or shows a dialog.");
}

/**
 * @param {number} tabId
 * @param {unknown} ref
 * @returns {Promise<{frame: Frame, number: number}>}
 */
export async function frameOfRef(tabId, ref) {
  const number = parseRef(ref);
  if (number === null) {
    throw new CommandError("invalid_arguments", `"${ref}" is not a ref (they look like ref_12).`);
  }
  const find = () => framesOf(tabId).find((frame) => frame.range?.slot === slotOf(number));
  const frame = find() ?? (await appearance(find, bornAt + RECOVER_MS - Date.now()));
  if (!frame) throw staleRef(ref);
  return { frame, number };
}

/** @param {unknown} ref */
function staleRef(ref) {
  return new CommandError("stale_ref", `${ref} is not on the page any more. Read the page again.`);
}

/**
 * @param {() => Frame | undefined} find
 * @param {number} timeoutMs
 * @returns {Promise<Frame | undefined>}
 */
function appearance(find, timeoutMs) {
  if (timeoutMs <= 0) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const listener = () => void (find() && end());
    const timer = setTimeout(() => end(), timeoutMs);
    const end = () => {
      arrivals.delete(listener);
      clearTimeout(timer);
      resolve(find());
    };
    arrivals.add(listener);
  });
}

/**
 * The frame around a frame, once its content script is there.
 * @param {Frame} frame
 * @returns {Promise<Frame | undefined>}
 */
export async function parentOf(frame) {
  const id = await frame.parentId();
  const find = () => tabs.get(frame.tabId)?.get(id);
  return find() ?? (id < 0 ? undefined : appearance(find, RECOVER_MS));
}

/**
 * Whether someone has acted in the page, so that it may ask before it is closed.
 * @param {number} tabId
 */
export async function hasBeenActive(tabId) {
  const frame = tabs.get(tabId)?.get(0);
  if (!frame) return false;
  return frame.ask("activation", {}, 200).catch(() => true);
}

function describe() {
  const reached = [...tabs.keys()].map((tabId) => [
    tabId,
    framesOf(tabId).map(({ frameId, range }) => [frameId, range]),
  ]);
  return { reached, slots: refNumbers.dump() };
}

register({
  name: "frames",
  restore: restoreRefNumbers,
  forget: forgetFrames,
  committed: (tabId) => void (late.delete(tabId), awaited.delete(tabId)),
  describe,
});
