/** Limits of reading commands: how much they return, and how long frames may take. */

/** A larger result might not fit into one message of the link. */
export const MOST_CHARS = 3_000_000;
/** How long a frame may take for its part; the browser may have to lay it out first. */
export const MAIN_MS = { walk: 4000, answer: 25_000 };
export const CHILD_MS = { walk: 800, answer: 3000 };

/**
 * @param {unknown} value
 * @param {number} least
 * @param {number} fallback
 */
export function numberOr(value, least, fallback) {
  return typeof value === "number" && value >= least ? Math.floor(value) : fallback;
}

/**
 * @param {unknown} value
 * @param {number} fallback
 */
export function charsOr(value, fallback) {
  return Math.min(numberOr(value, 1, fallback), MOST_CHARS);
}

/**
 * @param {unknown} value
 * @returns {string[] | undefined}
 */
export function wordsOr(value) {
  return Array.isArray(value) ? value.map(String) : undefined;
}
