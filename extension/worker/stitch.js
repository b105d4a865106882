/** Joining what the frames of a page have read into one text, and cutting it to size. */

/**
 * @typedef {object} Hole a frame element: the line it stands on, and what is in the frame
 * @property {number} line
 * @property {number} depth
 * @property {number} ref
 * @property {number} index
 * @property {PageText | null} [page]
 */
/** @typedef {{text: string, frames: Hole[]}} PageText */

/**
 * @param {PageText} page
 * @param {number} maxDepth
 * @returns {string} the lines of child frames stand indented beneath their frame's own line
 */
export function stitch(page, maxDepth) {
  const filled = page.frames.filter((hole) => hole.page?.text);
  if (!filled.length) return page.text;
  const lines = page.text.split("\n");
  const parts = [];
  let done = 0;
  for (const { line, depth, page: child } of filled) {
    const room = maxDepth - depth - 1;
    parts.push(...lines.slice(done, line + 1));
    if (child) parts.push(...indent(stitch(child, room), depth + 1, room));
    done = line + 1;
  }
  return parts.concat(lines.slice(done)).join("\n");
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
 * @param {string} text
 * @param {number} offset
 * @param {number} maxChars
 * @returns {{text: string, truncated: boolean, next?: number}}
 */
export function cut(text, offset, maxChars) {
  const rest = text.slice(offset);
  if (rest.length <= maxChars) return { text: rest, truncated: false };
  const lineEnd = rest.lastIndexOf("\n", maxChars);
  // A single line longer than the limit has no better place to be cut.
  const length = lineEnd > 0 ? lineEnd : maxChars;
  const next = offset + length + (lineEnd > 0 ? 1 : 0);
  return { text: rest.slice(0, length), truncated: true, next };
}
