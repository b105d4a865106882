/**
 * page.coverage: which rules of a page's style sheets are in use and which are not. Counting begins
 * with the first call and continues until it is stopped.
 */

import { hold, send, unhold, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { dropCss, endLeftover, sheetsOf, useCss } from "../debugger/style-sheets.js";
import { isFromServer, readable } from "../frames/frame-origins.js";
import { framesOf } from "../frames/frames.js";
import { URL_LENGTH, clip } from "../shared/clip.js";
import { register } from "../shared/tab-state.js";
import { Turns } from "../shared/timing.js";
import { Redirects } from "./page-resources.js";

// The style rules of a sheet, by their position in its text. A rule counts as one with the rules
// nested in it.

/** @typedef {{start: number, end: number, selector: string}} StyleRule */

/** Comments and strings, in which braces and semicolons mean nothing. */
const OPAQUE = /\/\*[\s\S]*?(?:\*\/|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$)|'(?:\\[\s\S]|[^'\\])*(?:'|$)/y;
const URL_TOKEN = /url\(\s*[^"'\s)][^)]*\)/iy;
/** At-rules that hold style rules. */
const GROUPS = /^@(?:media|supports|layer|container|scope|starting-style|document)\b/i;

/**
 * @param {string} text
 * @returns {StyleRule[]}
 */
export function styleRules(text) {
  /** @type {StyleRule[]} */
  const rules = [];
  let at = 0;
  while (at < text.length) {
    const start = skipBlank(text, at);
    const end = endOfPrelude(text, start);
    const prelude = text.slice(start, end);
    if (text[end] !== "{" || GROUPS.test(prelude)) {
      at = end + 1;
      continue;
    }
    at = endOfBlock(text, end + 1);
    if (!prelude.startsWith("@")) rules.push({ start, end: at, selector: plain(prelude) });
  }
  return rules;
}

/** @param {string} prelude */
function plain(prelude) {
  return prelude
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * @param {string} text
 * @param {number} at
 */
function skipBlank(text, at) {
  const blank = /(?:\s|\/\*[\s\S]*?(?:\*\/|$)|<!--|-->)*/y;
  blank.lastIndex = at;
  blank.test(text);
  return blank.lastIndex;
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {number} where a block begins, or a statement or the block around it ends
 */
function endOfPrelude(text, at) {
  while (at < text.length && !"{};".includes(/** @type {string} */ (text[at]))) at = next(text, at);
  return at;
}

/**
 * @param {string} text
 * @param {number} at behind the brace that opens it
 * @returns {number} behind the one that closes it
 */
function endOfBlock(text, at) {
  for (let depth = 1; at < text.length && depth;) {
    if (text[at] === "{") depth++;
    if (text[at] === "}") depth--;
    at = next(text, at);
  }
  return at;
}

/**
 * @param {string} text
 * @param {number} at
 */
function next(text, at) {
  if (text[at] === "\\") return at + 2;
  for (const token of [OPAQUE, URL_TOKEN]) {
    token.lastIndex = at;
    if (token.test(text)) return token.lastIndex;
  }
  return at + 1;
}

// Which rules of a style sheet are in use, as figures and selectors.

const MOST_UNUSED = 1000;
const SELECTOR_LENGTH = 200;

/** @typedef {{styleSheetId: string, startOffset: number, endOffset: number, used: boolean}} Usage */

/**
 * The browser reports only rules that are in use.
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
 * @param {StyleRule[]} rules in the order of the text
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

const COVERAGE = "coverage";

/** @typedef {import("../debugger/style-sheets.js").Sheet} Sheet */
/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * @typedef {object} Count
 * @property {number} since
 * @property {Map<string, Set<number>>} used where in each sheet a rule begins that is or was in use
 */

/** @type {Map<number, Count>} */
const counting = new Map();
const turns = new Turns();

/** @param {Context<Wire.CssCoverage>} context */
export async function cssCoverage(context) {
  const { tabId, signal } = context;
  return unlessDialog(tabId, signal, (live) =>
    withTab(tabId, () => turns.take(tabId, live, () => look(context))),
  );
}

/** @param {Context<Wire.CssCoverage>} context */
async function look(context) {
  const { tabId, input } = context;
  const count = counting.get(tabId) ?? (await begin(tabId));
  const { ruleUsage } = await send(tabId, "CSS.stopRuleUsageTracking");
  noteUsed(count, ruleUsage);
  const sheets = await visibleSheets(context);
  const described = await Promise.all(sheets.map((sheet) => describe(tabId, sheet, count)));
  if (input.stop) await end(tabId);
  else await send(tabId, "CSS.startRuleUsageTracking");
  return { since: count.since, sheets: described.filter(({ rules }) => rules > 0) };
}

/** @param {number} tabId */
async function begin(tabId) {
  await hold(tabId, COVERAGE);
  try {
    await useCss(tabId, undefined, COVERAGE);
    await send(tabId, "CSS.startRuleUsageTracking");
  } catch (error) {
    await end(tabId);
    throw error;
  }
  const count = { since: Date.now(), used: new Map() };
  counting.set(tabId, count);
  return count;
}

/**
 * @param {Count} count
 * @param {Usage[]} usage
 */
function noteUsed({ used }, usage) {
  for (const { styleSheetId, startOffset, used: isUsed } of usage) {
    const starts = used.get(styleSheetId) ?? new Set();
    if (isUsed) used.set(styleSheetId, starts.add(startOffset));
  }
}

/**
 * Where permissions depend on the site, a sheet is left out if another site may have sent it.
 * @param {Context} context
 * @returns {Promise<Sheet[]>}
 */
async function visibleSheets(context) {
  const { tabId, reach, site = "" } = context;
  const sheets = await ownSheets(context);
  if (reach.isEverywhere) return sheets;
  const redirects = new Redirects(tabId);
  const isKnown = (/** @type {Sheet} */ { isInline, sourceURL }) =>
    isInline || !isFromServer(sourceURL) || redirects.isKnown(sourceURL);
  const entries = sheets.filter(isKnown).map((sheet) => {
    const url = sheet.isInline ? "" : sheet.sourceURL;
    return { ...sheet, site, url, about: redirects.of(url) };
  });
  return readable(context, entries);
}

/**
 * Where frames of other sites may not be entered, only the page's own sheets count.
 * @param {Context} context
 */
async function ownSheets({ tabId, reach }) {
  const sheets = sheetsOf(tabId);
  if (framesOf(tabId).every((frame) => reach.allows(frame))) return sheets;
  const { frameTree } = await send(tabId, "Page.getFrameTree");
  return sheets.filter(({ frameId }) => frameId === frameTree.frame.id);
}

/**
 * @param {number} tabId
 * @param {Sheet} sheet
 * @param {Count} count
 */
async function describe(tabId, { styleSheetId, sourceURL, isInline }, { used }) {
  const asked = send(tabId, "CSS.getStyleSheetText", { styleSheetId });
  const text = await asked.then((answer) => answer.text).catch(() => "");
  const starts = used.get(styleSheetId) ?? [];
  return { url: clip(sourceURL, URL_LENGTH), inline: isInline, ...summary(text, starts) };
}

/** @param {number} tabId */
async function end(tabId) {
  counting.delete(tabId);
  const dropped = dropCss(tabId, COVERAGE);
  unhold(tabId, COVERAGE);
  await dropped;
}

/** @param {number} tabId */
async function release(tabId) {
  if (!counting.has(tabId)) return;
  void send(tabId, "CSS.stopRuleUsageTracking").catch(() => {});
  await end(tabId);
}

register({
  name: "coverage",
  after: ["style sheets"],
  // The browser's counts are gone with the debugger.
  restore: () => endLeftover(COVERAGE),
  lost: (tabId) => counting.delete(tabId),
  released: release,
});
