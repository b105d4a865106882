/** page.read: every frame reads itself, and the parts become one text. */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { describe, getTab } from "../shared/known-tabs.js";
import { CHILD_MS, MAIN_MS, MOST_CHARS, charsOr, numberOr } from "../shared/number-limits.js";
import { countLines, cut, addChildFrames, kindOf, stitch } from "./frame-stitching.js";
import { delta } from "./page-delta.js";
import { learnListeners } from "./page-listeners.js";
import { partOf } from "./page-part.js";

// Recent readings of documents, so that a later one can return only what is new.

const STORED = "reads";
const KEPT_FOR_PAGE = 5;
const KEPT_PAGES = 20;
const KEPT_CHARS = 300_000;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {{manner: Manner, text: string, entered: Frame[]}} Snapshot */

/** @type {Map<Frame, Map<number, Snapshot>>} by document, the one read last at the end */
const snapshots = new Map();
/** @type {Promise<number> | undefined} */
let last;

/** Numbers continue across restarts of the worker: an old one must not mean a new reading. */
async function nextNumber() {
  last ??= chrome.storage.session.get(STORED).then((stored) => Number(stored[STORED]) || 0);
  last = last.then((number) => number + 1);
  const number = await last;
  void chrome.storage.session.set({ [STORED]: number });
  return number;
}

/**
 * @param {Map<any, unknown>} map
 * @param {number} size
 */
function dropOldest(map, size) {
  for (const key of map.keys()) {
    if (map.size <= size) return;
    map.delete(key);
  }
}

/**
 * @param {Frame} main
 * @param {Snapshot} snapshot
 * @returns {Promise<number>} by which it can be found again
 */
async function remember(main, snapshot) {
  const read = await nextNumber();
  if (snapshot.text.length > KEPT_CHARS) return read;
  const ofPage = snapshots.get(main) ?? new Map();
  snapshots.delete(main);
  snapshots.set(main, ofPage.set(read, snapshot));
  dropOldest(ofPage, KEPT_FOR_PAGE);
  dropOldest(snapshots, KEPT_PAGES);
  return read;
}

/**
 * Only for the same document, and for callers who may enter the same frames: nothing of another
 * page, or of frames that this caller may not enter, is revealed.
 * @param {Frame} main
 * @param {unknown} read
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
function recall(main, read, reach) {
  const snapshot = snapshots.get(main)?.get(Number(read));
  return snapshot?.entered.every((frame) => reach.allows(frame)) ? snapshot : undefined;
}

const DEPTH = 15;
const MAX_CHARS = 50_000;

/** @typedef {import("./frame-stitching.js").PageText & {index: number}} FramePage */
/** @typedef {import("./page-part.js").Part} Part */
/** @typedef {Part & {filter: string, depth: number}} Manner what is read */

/** @param {import("../shared/command-context.d.ts").Context<Wire.ReadPage>} context */
export async function readPage({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const main = await mainFrame(tabId);
    const listeners = await learnListeners(main);
    const before = recall(main, input.since, reach);
    const manner = before?.manner ?? mannerOf(input);
    const maxChars = charsOr(input.maxChars, MAX_CHARS);
    const offset = numberOr(input.offset, 0, 0);
    const room = input.measure ? MOST_CHARS : (before?.text.length ?? offset) + maxChars;
    const [kind, size] = [kindOf(main), viewportOf(main)];
    const full = await readTree(main, manner, room, reach);
    const entered = framesOf(tabId).filter((frame) => reach.allows(frame));
    const read = await remember(main, { manner, text: full.text, entered });
    const [tab, viewport] = await Promise.all([getTab(tabId), size]);
    const output = before ? { text: delta(before.text, full.text), whole: true } : full;
    const { url, title } = describe(tab);
    const since = before ? { since: /** @type {number} */ (input.since) } : {};
    const part = cut(output, offset, maxChars);
    const measured = input.measure ? { total: full.text.length, whole: full.whole } : {};
    const nodes = countLines(full.text);
    const known = { ...measured, read, nodes, viewport, unlistened: listeners.isTooMuch };
    return { url, title, ...(await kind), ...part, ...since, ...known };
  });
}

/**
 * Must be asked before reading, and then is not waited for: a page answers in order, and one that
 * has just been laid out may be busy drawing.
 * @param {Frame} main
 */
function viewportOf(main) {
  const viewport = main.ask("viewport", {}, MAIN_MS.answer);
  viewport.catch(() => {});
  return viewport;
}

/**
 * @param {Wire.ReadPage} input
 * @returns {Manner}
 */
function mannerOf(input) {
  const filter = input.filter ?? "all";
  if (filter !== "all" && filter !== "interactive") {
    throw new CommandError("invalid_arguments", 'filter must be "all" or "interactive".');
  }
  const { ref, selector, find } = input;
  return { filter, ref, selector, find, depth: numberOr(input.depth, 0, DEPTH) };
}

/**
 * @param {Frame} main
 * @param {Manner} manner
 * @param {number} maxChars
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function readTree(main, { filter, depth, ...part }, maxChars, reach) {
  const start = await partOf(main.tabId, part, reach);
  reach.require(start.frame);
  const options = { filter, depth, maxChars };
  const page = await readFrame(start.frame, { ...options, how: start.how }, MAIN_MS);
  // What is cut off from a child frame cannot be read later through its parent, so it is read to
  // its end.
  const inFull = { ...options, maxChars: MOST_CHARS };
  const readChild = (/** @type {Frame} */ frame) => readFrame(frame, inFull, CHILD_MS);
  if (page.frames.length) await addChildFrames(start.frame, page, readChild, reach);
  return stitch(page, depth);
}

/**
 * @param {Frame} frame
 * @param {object} options
 * @param {{walk: number, answer: number}} ms
 * @returns {Promise<FramePage>}
 */
function readFrame(frame, options, ms) {
  return askMinting(frame, "read", { ...options, maxMs: ms.walk }, ms.answer);
}
