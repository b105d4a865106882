/**
 * page.coverage: which rules of a page's style sheets are in use, and which are not. Counting
 * begins with the first call and goes on until it is stopped.
 */

import { dropCss, endLeftover, sheetsOf, useCss } from "../debugger/style-sheets.js";
import { hold, send, unhold, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { framesOf } from "../frames/frames.js";
import { summary } from "../ruleusage.js";
import { register } from "../shared/tab-state.js";
import { clip, URL_LENGTH } from "../shared/clip.js";
import { Turns } from "../turns.js";

const COVERAGE = "coverage";

/** @typedef {import("../ruleusage.js").Usage} Usage */
/** @typedef {import("../debugger/style-sheets.js").Sheet} Sheet */
/** @import { Context } from "../tabs/navigation.js" */

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
  const told = await Promise.all(sheets.map((sheet) => describe(tabId, sheet, count)));
  if (input.stop) await end(tabId);
  else await send(tabId, "CSS.startRuleUsageTracking");
  return { since: count.since, sheets: told.filter(({ rules }) => rules > 0) };
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
 * Where frames of other sites may not be looked into, only the page's own sheets count.
 * @param {Context} context
 */
async function visibleSheets({ tabId, reach }) {
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
  // The browser's counts are gone with whoever asked for them.
  restore: () => endLeftover(COVERAGE),
  lost: (tabId) => counting.delete(tabId),
  released: release,
});
