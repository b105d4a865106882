/** What the frames of a tab tell of themselves, put where their elements stand in the others. */

import { framesOf } from "./frames/frames.js";
import { placeByNonce } from "./places.js";

/** @typedef {import("./frame.js").Frame} Frame */

/**
 * @template Page
 * @typedef {{ref: number, index: number, page?: Page | null}} Hole a frame element, and its inside
 */
/** @typedef {{index: number, frames: Hole<any>[]}} Holed */

/**
 * @template {Holed} Page
 * @param {Frame} start
 * @param {Page} page
 * @param {(frame: Frame) => Promise<Page>} read
 * @param {import("./reach.js").Reach} reach
 */
export async function fillHoles(start, page, read, reach) {
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
 * @param {Map<Frame, Holed>} pages
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
 * @param {Map<Frame, Holed>} pages
 * @returns {Promise<Frame[]>} those that found no hole
 */
async function placeEach(children, pages) {
  const parents = new Map([...pages].map(([frame, page]) => [frame.frameId, page]));
  const loose = [];
  for (const child of children) {
    const page = /** @type {Holed} */ (pages.get(child));
    const hole = await holeFor(child, page, parents);
    if (hole) hole.page = page;
    else loose.push(child);
  }
  return loose;
}

/**
 * @param {Frame} child
 * @param {Holed} page
 * @param {Map<number, Holed>} parents
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
