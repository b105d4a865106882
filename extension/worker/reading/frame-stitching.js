/** Joining what the frames of a page have read into one text, and cutting it to size. */

import { wholeLength } from "../shared/clip.js";

const BEYOND = "(The page goes on, but is too large to be read further. Read a part of it.)";
const PAIR = 2;

/**
 * @typedef {object} Hole a frame element: the line it stands on, and what is in the frame
 * @property {number} line
 * @property {number} depth
 * @property {number} ref
 * @property {number} index
 * @property {PageText | null} [page]
 */
/** @typedef {{text: string, frames: Hole[], whole: boolean}} PageText */
/** @typedef {{text: string, whole: boolean}} Stitched `whole`: nothing follows that was not read */

/**
 * @param {PageText} page
 * @param {number} maxDepth
 * @returns {Stitched} the lines of child frames stand indented beneath their frame's own line
 */
export function stitch(page, maxDepth) {
  const filled = page.frames.filter((hole) => hole.page?.text);
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
  // To go on from where nothing came would bring nothing again.
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
  // A single line longer than the limit has no better place to be cut.
  const length = lineEnd > 0 ? lineEnd : wholeLength(rest, maxChars) || PAIR;
  const next = offset + length + (lineEnd > 0 ? 1 : 0);
  return { text: rest.slice(0, length), truncated: true, next };
}
