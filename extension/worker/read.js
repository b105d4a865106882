/** page.read: every frame reads itself, the pieces become one text. */

import { CommandError } from "./errors.js";
import { unlessDialog } from "./dialogs.js";
import { askMinting, frameOfRef, framesOf, mainFrame } from "./frames.js";
import { placeByNonce } from "./places.js";
import { countLines, cut, stitch } from "./stitch.js";
import { describe, getTab } from "./tabs.js";

const DEPTH = 15;
const MAX_CHARS = 50_000;
/** More than this could be more than the link carries. */
const MOST_CHARS = 3_000_000;
/** How long a frame may take for its part: the browser may have to lay it out first. */
const MAIN_MS = { walk: 4000, answer: 12_000 };
const CHILD_MS = { walk: 800, answer: 1500 };

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./stitch.js").PageText & {index: number}} FramePage */

/** @param {import("./navigation.js").Context} context */
export async function readPage({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const options = optionsOf(input);
    const main = await mainFrame(tabId);
    const start = options.ref ? await frameOfRef(tabId, options.ref) : { frame: main, number: 0 };
    reach.require(start.frame);
    const full = await readTree(start.frame, start.number, options, reach);
    const [tab, viewport] = await Promise.all([getTab(tabId), main.ask("viewport", {})]);
    const part = cut(full, options.offset, options.maxChars);
    const text = `${part.text}\n\nViewport: ${viewport.width}x${viewport.height}`;
    const { url, title } = describe(tab);
    return { url, title, ...part, text, nodes: countLines(full.text), viewport };
  });
}

/** @param {any} input */
function optionsOf(input) {
  const filter = input.filter ?? "all";
  if (filter !== "all" && filter !== "interactive") {
    throw new CommandError("invalid_arguments", 'filter must be "all" or "interactive".');
  }
  return {
    filter,
    ref: input.ref,
    depth: numberOr(input.depth, 0, DEPTH),
    maxChars: Math.min(numberOr(input.maxChars, 1, MAX_CHARS), MOST_CHARS),
    offset: numberOr(input.offset, 0, 0),
  };
}

/**
 * @param {unknown} value
 * @param {number} least
 * @param {number} fallback
 */
function numberOr(value, least, fallback) {
  return typeof value === "number" && value >= least ? Math.floor(value) : fallback;
}

/**
 * @param {Frame} start
 * @param {number} root number of the ref to start at, 0 for the whole document
 * @param {ReturnType<typeof optionsOf>} options
 * @param {import("./reach.js").Reach} reach
 */
async function readTree(start, root, { filter, depth, offset, maxChars }, reach) {
  const options = { filter, depth, maxChars: offset + maxChars };
  const page = await readFrame(start, { ...options, root }, MAIN_MS);
  // What is cut off a child cannot be made up for by its parent: it is read to its end.
  const whole = { ...options, maxChars: MOST_CHARS };
  if (page.frames.length) await fillHoles(start, page, whole, reach);
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

/**
 * @param {Frame} start
 * @param {FramePage} page
 * @param {object} options
 * @param {import("./reach.js").Reach} reach
 */
async function fillHoles(start, page, options, reach) {
  const children = framesOf(start.tabId).filter((frame) => frame.frameId !== 0);
  const others = children.filter((frame) => frame !== start && reach.allows(frame));
  /** @type {Map<Frame, FramePage>} */
  const pages = new Map([[start, page]]);
  await Promise.all(
    others.map(async (frame) => {
      const child = await readFrame(frame, { ...options, root: 0 }, CHILD_MS).catch(() => null);
      if (child) pages.set(frame, child);
      await frame.parentId();
    }),
  );
  await place(start, pages);
}

/**
 * @param {Frame} start
 * @param {Map<Frame, FramePage>} pages
 */
async function place(start, pages) {
  const children = [...pages.keys()].filter((frame) => frame !== start);
  const loose = await placeEach(children, pages);
  const empty = [...pages.values()].some((page) => page.frames.some((hole) => !hole.page));
  if (!loose.length || !empty) return;
  const unplaced = loose.filter((frame) => !frame.place);
  if (unplaced.length) await placeByNonce(start.tabId, unplaced);
  await placeEach(loose, pages);
}

/**
 * @param {Frame[]} children
 * @param {Map<Frame, FramePage>} pages
 * @returns {Promise<Frame[]>} those that found no hole
 */
async function placeEach(children, pages) {
  const parents = new Map([...pages].map(([frame, page]) => [frame.frameId, page]));
  const loose = [];
  for (const child of children) {
    const page = /** @type {FramePage} */ (pages.get(child));
    const hole = await holeFor(child, page, parents);
    if (hole) hole.page = page;
    else loose.push(child);
  }
  return loose;
}

/**
 * @param {Frame} child
 * @param {FramePage} page
 * @param {Map<number, FramePage>} parents
 */
async function holeFor(child, page, parents) {
  const known = child.place;
  if (known) {
    return parents.get(known.parent.frameId)?.frames.find((hole) => hole.ref === known.ref);
  }
  if (page.index < 0) return undefined;
  const parent = parents.get(await child.parentId());
  return parent?.frames.find((hole) => hole.index === page.index && !hole.page);
}
