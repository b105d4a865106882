/**
 * page.find, page.query and page.styles: every frame searches itself; the best or the first results
 * of all are returned.
 */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { findTarget } from "../input/targets.js";
import { CHILD_MS, MAIN_MS, numberOr, wordsOr } from "../shared/number-limits.js";
import { learnListeners } from "./page-listeners.js";

const FOUND = 20;
const QUERIED = 100;
const MOST = 100;
/** If there is a good match, much worse ones are not meant. */
const SHARE = 0.6;
const NEAREST = 5;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {Wire.FoundElement & {score: number}} Match */
/**
 * @typedef {object} Found in one frame
 * @property {Match[]} matches
 * @property {number} total
 * @property {Match[]} hidden
 * @property {Match[]} nearest
 * @property {boolean} whole
 * @property {boolean} isLoading
 */

/** @param {Context<Wire.FindElements>} context */
export function findElements({ tabId, input, signal, reach }) {
  const limit = Math.min(numberOr(input.limit, 1, FOUND), MOST);
  return unlessDialog(tabId, signal, () => search(tabId, String(input.query), limit, reach));
}

/**
 * @param {number} tabId
 * @param {string} query
 * @param {number} limit
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<Wire.FoundElements>}
 */
export async function search(tabId, query, limit, reach) {
  const listeners = await learnListeners(await mainFrame(tabId));
  const { answers, isWhole } = await askAll(tabId, "find", { query, limit, share: SHARE }, reach);
  const open = merged(answers, "matches");
  const shown = open.length ? open : merged(answers, "hidden");
  const left = answers.reduce((sum, { total, matches }) => sum + total - matches.length, 0);
  return {
    matches: shown.slice(0, limit).map(withoutScore),
    total: shown.length + left,
    nearest: shown.length ? [] : merged(answers, "nearest").slice(0, NEAREST).map(withoutScore),
    whole: isWhole && answers.every(({ whole }) => whole),
    isLoading: answers.some(({ isLoading }) => isLoading),
    unlistened: listeners.isTooMuch,
  };
}

/**
 * @param {Found[]} answers
 * @param {"matches" | "hidden" | "nearest"} kind
 * @returns {Match[]} the best first
 */
function merged(answers, kind) {
  const all = answers.flatMap((answer) => answer[kind]);
  const best = Math.max(...all.map(({ score }) => score));
  const good = all.filter(({ score }) => kind === "nearest" || score >= best * SHARE);
  return good.sort((one, other) => other.score - one.score);
}

/** @param {Match} match */
function withoutScore({ score: _, ...match }) {
  return match;
}

/** @param {Context<Wire.QueryElements>} context */
export function queryElements({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const limit = Math.min(numberOr(input.limit, 1, QUERIED), MOST);
    const attributes = wordsOr(input.attributes);
    const selector = input.selector === undefined ? undefined : String(input.selector);
    const body = { selector, limit, attributes };
    if (input.ref !== undefined) return queryWithin(tabId, input.ref, body, reach);
    const { answers } = await askAll(tabId, "query", body, reach);
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
 * @returns {Promise<{answers: any[], isWhole: boolean}>} the main frame's answer first; `isWhole`:
 *   every child has answered
 */
async function askAll(tabId, type, body, reach) {
  const main = await mainFrame(tabId);
  const others = framesOf(tabId).filter((frame) => frame !== main && reach.allows(frame));
  const inMain = askMinting(main, type, { ...body, maxMs: MAIN_MS.walk }, MAIN_MS.answer);
  const inOthers = others.map((frame) =>
    askMinting(frame, type, { ...body, maxMs: CHILD_MS.walk }, CHILD_MS.answer).catch(() => null),
  );
  const all = await Promise.all([inMain, ...inOthers]);
  const answers = all.filter((answer) => answer !== null);
  return { answers, isWhole: answers.length === all.length };
}

// page.styles: an element's computed styles.

/** @param {import("../shared/command-context.d.ts").Context<Wire.ElementStyles>} context */
export function elementStyles({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const { frame, how } = await findTarget(tabId, input, reach);
    return askMinting(frame, "styles", { how, properties: wordsOr(input.properties) });
  });
}
