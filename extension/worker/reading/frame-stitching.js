/** Joining what was read in the frames of a page into one text, and cutting it to size. */

import { framesOf } from "../frames/frames.js";
import { placeByNonce } from "../input/targets.js";
import { wholeLength } from "../shared/clip.js";

const BEYOND = "(The page goes on, but is too large to be read further. Read a part of it.)";
const PAIR = 2;

/**
 * @typedef {object} FrameLine a frame element: the line it is on, and the page in it
 * @property {number} line
 * @property {number} depth
 * @property {number} ref
 * @property {number} index
 * @property {PageText | null} [page]
 */
/** @typedef {{text: string, frames: FrameLine[], whole: boolean}} PageText */
/** @typedef {{text: string, whole: boolean}} Stitched `whole`: the page was read to its end */

/**
 * @param {PageText} page
 * @param {number} maxDepth
 * @returns {Stitched} the lines of child frames are indented below their frame's line
 */
export function stitch(page, maxDepth) {
  const filled = page.frames.filter((element) => element.page?.text);
  if (!filled.length) return { text: page.text, whole: page.whole };
  const lines = page.text.split("\n");
  /** @type {string[]} */
  let parts = [];
  let done = 0;
  for (const { line, depth, page: child } of filled) {
    const room = maxDepth - depth - 1;
    const { text, whole } = stitch(/** @type {PageText} */ (child), room);
    parts = parts.concat(lines.slice(done, line + 1), indent(text, depth + 1, room));
    if (!whole) return { text: parts.join("\n"), whole };
    done = line + 1;
  }
  return { text: parts.concat(lines.slice(done)).join("\n"), whole: page.whole };
}

/**
 * @param {string} text
 * @param {number} by
 * @param {number} maxDepth
 */
function indent(text, by, maxDepth) {
  const margin = " ".repeat(by);
  const lines = text.split("\n").filter((line) => depthOf(line) <= maxDepth);
  return lines.map((line) => margin + line);
}

/** @param {string} line */
function depthOf(line) {
  return line.search(/[^ ]/);
}

/** @param {string} text */
export function countLines(text) {
  return text ? text.split("\n").length : 0;
}

/**
 * @param {Stitched} page
 * @param {number} offset
 * @param {number} maxChars
 * @returns {{text: string, truncated: boolean, next?: number}}
 */
export function cut({ text, whole }, offset, maxChars) {
  const rest = text.slice(offset);
  if (rest.length > maxChars) return cutShort(rest, offset, maxChars);
  if (whole) return { text: rest, truncated: false };
  // Continuing at this offset would return nothing again.
  if (!rest) return { text: BEYOND, truncated: false };
  return { text: rest, truncated: true, next: text.length };
}

/**
 * @param {string} rest
 * @param {number} offset
 * @param {number} maxChars
 */
function cutShort(rest, offset, maxChars) {
  const lineEnd = rest.lastIndexOf("\n", maxChars);
  // A single line longer than the limit has no better place to cut.
  const length = lineEnd > 0 ? lineEnd : wholeLength(rest, maxChars) || PAIR;
  const next = offset + length + (lineEnd > 0 ? 1 : 0);
  return { text: rest.slice(0, length), truncated: true, next };
}

// What the frames of a tab return, put where their elements are in the outer frames.

/** @typedef {import("../frames/frames.js").Frame} Frame */

/**
 * @template Page
 * @typedef {{ref: number, index: number, page?: Page | null}} FrameElement a frame element, and the
 *   page in it
 */
/** @typedef {{index: number, frames: FrameElement<any>[]}} PageWithFrames */

/**
 * @template {PageWithFrames} Page
 * @param {Frame} start
 * @param {Page} page
 * @param {(frame: Frame) => Promise<Page>} read
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
export async function addChildFrames(start, page, read, reach) {
  const children = framesOf(start.tabId).filter((frame) => frame.frameId !== 0);
  const others = children.filter((frame) => frame !== start && reach.allows(frame));
  /** @type {Map<Frame, Page>} */
  const pages = new Map([[start, page]]);
  await Promise.all(
    others.map(async (frame) => {
      const child = await read(frame).catch(() => null);
      if (child) pages.set(frame, child);
      await frame.parentId();
    }),
  );
  await place(start, pages);
}

/**
 * @param {Frame} start
 * @param {Map<Frame, PageWithFrames>} pages
 */
async function place(start, pages) {
  const children = [...pages.keys()].filter((frame) => frame !== start);
  const loose = await placeEach(children, pages);
  const empty = [...pages.values()].some((page) => page.frames.some((element) => !element.page));
  if (!loose.length || !empty) return;
  const unplaced = loose.filter((frame) => !frame.place);
  if (unplaced.length) await placeByNonce(start.tabId, unplaced);
  await placeEach(loose, pages);
}

/**
 * @param {Frame[]} children
 * @param {Map<Frame, PageWithFrames>} pages
 * @returns {Promise<Frame[]>} those whose frame element was not found
 */
async function placeEach(children, pages) {
  const parents = new Map([...pages].map(([frame, page]) => [frame.frameId, page]));
  const loose = [];
  for (const child of children) {
    const page = /** @type {PageWithFrames} */ (pages.get(child));
    const element = await frameElementFor(child, page, parents);
    if (element) element.page = page;
    else loose.push(child);
  }
  return loose;
}

/**
 * @param {Frame} child
 * @param {PageWithFrames} page
 * @param {Map<number, PageWithFrames>} parents
 */
async function frameElementFor(child, page, parents) {
  const known = child.place;
  if (known) {
    return parents.get(known.parent.frameId)?.frames.find((element) => element.ref === known.ref);
  }
  if (page.index < 0) return undefined;
  const parent = parents.get(await child.parentId());
  return parent?.frames.find((element) => element.index === page.index && !element.page);
}

// A tab may show something other than HTML: little of it can be read, so the result names its
// content type.

const PAGES = new Set(["text/html", "application/xhtml+xml"]);

/**
 * Must be asked before reading: a page answers in order.
 * @param {import("../frames/frames.js").Frame} main
 * @returns {Promise<{contentType?: string}>} empty for HTML, or where the page does not answer
 */
export async function kindOf(main) {
  const contentType = String(await main.ask("contentType", {}).catch(() => "text/html"));
  return PAGES.has(contentType) ? {} : { contentType };
}
