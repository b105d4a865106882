/** page.text and page.html: a page or a part of it as one text, with its frames in place. */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, mainFrame } from "../frames/frames.js";
import { addChildFrames, kindOf } from "./frame-stitching.js";
import { partOf } from "./page-part.js";
import { charsOr, CHILD_MS, MAIN_MS, MOST_CHARS, numberOr } from "../shared/number-limits.js";
import { describe, getTab } from "../shared/known-tabs.js";
import { wholeLength } from "../shared/clip.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{at: number, ref: number, index: number, page?: Piece | null}} FrameMark */
/** @typedef {{text: string, tag: string, frames: FrameMark[], whole: boolean, index: number}} Piece */

const TEXT_CHARS = 50_000;
const HTML_CHARS = 200_000;

/** @param {Context<Wire.ReadPiece>} context */
export function readText(context) {
  return readPiece(context, "text", TEXT_CHARS, "\n");
}

/** @param {Context<Wire.ReadPiece>} context */
export function readHtml(context) {
  return readPiece(context, "html", HTML_CHARS, "");
}

/**
 * @param {Context<Wire.ReadPiece>} context
 * @param {string} kind
 * @param {number} usual the default number of characters
 * @param {string} gap what separates a frame's text from the text before it
 */
function readPiece({ tabId, input, signal, reach }, kind, usual, gap) {
  return unlessDialog(tabId, signal, async () => {
    const maxChars = charsOr(input.maxChars, usual);
    const offset = numberOr(input.offset, 0, 0);
    const { frame, how } = await partOf(tabId, input, reach);
    const type = kindOf(await mainFrame(tabId));
    const page = await ask(
      frame,
      kind,
      { how, isMain: true, maxChars: offset + maxChars },
      MAIN_MS,
    );
    const inFull = { isMain: false, maxChars: MOST_CHARS };
    const readChild = (/** @type {Frame} */ child) => ask(child, kind, inFull, CHILD_MS);
    if (page.frames.length) await addChildFrames(frame, page, readChild, reach);
    const { url, title } = describe(await getTab(tabId));
    const piece = part(join(page, gap), offset, maxChars);
    return { url, title, ...(await type), source: page.tag, ...piece };
  });
}

/**
 * @param {Frame} frame
 * @param {string} kind
 * @param {object} body
 * @param {{walk: number, answer: number}} ms
 * @returns {Promise<Piece>}
 */
function ask(frame, kind, body, ms) {
  return askMinting(frame, kind, { ...body, maxMs: ms.walk }, ms.answer);
}

/**
 * @param {Piece} piece
 * @param {string} gap
 * @returns {{text: string, whole: boolean}}
 */
function join({ text, frames, whole }, gap) {
  let joined = "";
  let done = 0;
  for (const { at, page } of frames) {
    const inside = page ? join(page, gap) : { text: "", whole: true };
    const before = joined + text.slice(done, at);
    joined = before + (before && inside.text && gap) + inside.text;
    // Nothing follows a part that was not read to its end.
    if (!inside.whole) return { text: joined, whole: false };
    done = at;
  }
  return { text: joined + text.slice(done), whole };
}

/**
 * @param {{text: string, whole: boolean}} full
 * @param {number} offset
 * @param {number} maxChars
 * @returns {{text: string, truncated: boolean, next?: number}}
 */
function part({ text, whole }, offset, maxChars) {
  const rest = text.slice(offset);
  if (rest.length <= maxChars) {
    // Continuing at this offset would return nothing again.
    const goesOn = !whole && rest.length > 0;
    return goesOn
      ? { text: rest, truncated: true, next: text.length }
      : { text: rest, truncated: false };
  }
  const length = Math.max(wholeLength(rest, maxChars), 1);
  return { text: rest.slice(0, length), truncated: true, next: offset + length };
}
