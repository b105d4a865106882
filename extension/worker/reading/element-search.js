/**
 * page.find, page.query and page.styles: every frame searches itself; the best or the first results
 * of all are returned.
 */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { findTarget } from "../input/targets.js";
import { CHILD_MS, MAIN_MS, numberOr, wordsOr } from "../shared/number-limits.js";

const FOUND = 20;
const QUERIED = 100;
const MOST = 100;
/** If there is a good match, much worse ones are not meant. */
const SHARE = 0.6;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {Wire.FoundElement & {score: number}} Match */

/** @param {Context<Wire.FindElements>} context */
export function findElements({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const limit = Math.min(numberOr(input.limit, 1, FOUND), MOST);
    const body = { query: String(input.query), limit, share: SHARE };
    /** @type {{matches: Match[], total: number, whole: boolean}[]} */
    const answers = await askAll(tabId, "find", body, reach);
    const all = answers.flatMap(({ matches }) => matches);
    const best = Math.max(...all.map(({ score }) => score));
    const good = all.filter(({ score }) => score >= best * SHARE);
    good.sort((one, other) => other.score - one.score);
    const matches = good.slice(0, limit).map(({ score: _, ...match }) => match);
    const left = answers.reduce((sum, { total, matches }) => sum + total - matches.length, 0);
    const whole = answers.every((answer) => answer.whole);
    return { matches, total: good.length + left, whole };
  });
}

/** @param {Context<Wire.QueryElements>} context */
export function queryElements({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const limit = Math.min(numberOr(input.limit, 1, QUERIED), MOST);
    const attributes = wordsOr(input.attributes);
    const selector = input.selector === undefined ? undefined : String(input.selector);
    const body = { selector, limit, attributes };
    if (input.ref !== undefined) return queryWithin(tabId, input.ref, body, reach);
    /** @type {Wire.QueriedElements[]} */
    const answers = await askAll(tabId, "query", body, reach);
    const elements = answers.flatMap((answer) => answer.elements).slice(0, limit);
    return { elements, total: answers.reduce((sum, { total }) => sum + total, 0) };
  });
}

/**
 * In the element's own document and its shadow roots.
 * @param {number} tabId
 * @param {string} ref
 * @param {object} body
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function queryWithin(tabId, ref, body, reach) {
  const { frame, how } = await findTarget(tabId, { ref }, reach);
  return askMinting(frame, "query", { ...body, ...how });
}

/**
 * @param {number} tabId
 * @param {string} type
 * @param {object} body
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<any[]>} the main frame's answer first; a child that does not answer has none
 */
async function askAll(tabId, type, body, reach) {
  const main = await mainFrame(tabId);
  const others = framesOf(tabId).filter((frame) => frame !== main && reach.allows(frame));
  const inMain = askMinting(main, type, { ...body, maxMs: MAIN_MS.walk }, MAIN_MS.answer);
  const inOthers = others.map((frame) =>
    askMinting(frame, type, { ...body, maxMs: CHILD_MS.walk }, CHILD_MS.answer).catch(() => null),
  );
  const answers = await Promise.all([inMain, ...inOthers]);
  return answers.filter((answer) => answer !== null);
}

// page.styles: an element's computed styles.

/** @param {import("../shared/command-context.d.ts").Context<Wire.ElementStyles>} context */
export function elementStyles({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const { frame, how } = await findTarget(tabId, input, reach);
    return askMinting(frame, "styles", { how, properties: wordsOr(input.properties) });
  });
}
