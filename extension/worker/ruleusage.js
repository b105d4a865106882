/** Which rules of a style sheet are in use, as figures and selectors. */

import { styleRules } from "./cssrules.js";
import { clip } from "./shared/clip.js";

const MOST_UNUSED = 1000;
const SELECTOR_LENGTH = 200;

/** @typedef {{styleSheetId: string, startOffset: number, endOffset: number, used: boolean}} Usage */

/**
 * The browser tells of rules that are in use only.
 * @param {string} text of the sheet
 * @param {Iterable<number>} starts where rules begin that are or were in use
 */
export function summary(text, starts) {
  const rules = styleRules(text);
  const used = new Set([...starts].map((start) => indexAt(rules, start)));
  const unused = rules.filter((_, index) => !used.has(index));
  const sizes = rules.map(({ start, end }, index) => (used.has(index) ? end - start : 0));
  return {
    totalBytes: text.length,
    usedBytes: sizes.reduce((sum, size) => sum + size, 0),
    rules: rules.length,
    usedRules: rules.length - unused.length,
    unused: unused.slice(0, MOST_UNUSED).map(({ selector }) => clip(selector, SELECTOR_LENGTH)),
  };
}

/**
 * @param {import("./cssrules.js").StyleRule[]} rules in the order of the text
 * @param {number} place
 */
function indexAt(rules, place) {
  let [low, high] = [0, rules.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {{end: number}} */ (rules[middle]).end <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}
