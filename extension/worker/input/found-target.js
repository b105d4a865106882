/**
 * Targets by words: the element that a description means, if one is clearly the best. Otherwise
 * nothing is done, and the error names what it could mean.
 */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { openRequests } from "../recording/recorder.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { CHILD_MS, MAIN_MS } from "../shared/number-limits.js";
import { requireConfirmed } from "./asked-targets.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */
/**
 * @typedef {{ref: number, role: string, name: string, row: string, score: number, missing: number}}
 *   Candidate
 */

const MOST_CHARS = 500;
const MOST_NAMED = 6;
/** How much better the best must be than the next. */
const CLEARLY = 0.08;
/** How long an action waits for what its words mean, while the page is at work. */
const WAIT_MS = 5000;
const PAUSE_MS = 50;
/** A page that has as many elements as before for this long, and nothing under way, is at rest. */
const RESTING_MS = 1000;
/** Looking takes at most a fifth of a page's time, however busy the page itself is. */
const REST = 4;

/**
 * Runs an action with the ref of what its words mean.
 * @template {{effect: Wire.Effect}} T
 * @template I
 * @template {Context<I>} C
 * @param {C} context
 * @param {string} kind what must take the action: text, select, or anything
 * @param {(context: C) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withFound(context, kind, work) {
  await requireConfirmed(context, /** @type {any} */ (context.input));
  const { find, ...input } = /** @type {any} */ (context.input);
  if (find === undefined) return work(context);
  if (input.ref !== undefined || input.selector !== undefined) throw tooMany();
  const found = await seek(context, String(find), kind);
  const output = await work({ ...context, input: { ...input, ref: found.ref } });
  return { ...output, effect: { ...output.effect, found: [found] } };
}

/**
 * @param {Context<any>} context
 * @param {string} words
 * @param {string} kind
 * @returns {Promise<Wire.FoundTarget>}
 */
export async function seek(context, words, kind) {
  const meant = wordsOf(words);
  return unlessDialog(context.tabId, context.signal, async () => {
    const { candidates, whole } = await lookUntil(context, { words: meant, kind }, WAIT_MS, true);
    return best(candidates, meant, whole);
  });
}

/**
 * @param {Context<any>} context
 * @param {string} words
 * @param {number} maxMs
 * @returns {Promise<Wire.FoundTarget | null>} the best that has all the words, once there is one
 */
export async function awaitWords(context, words, maxMs) {
  const search = { words: wordsOf(words), kind: "any" };
  const [first] = (await lookUntil(context, search, maxMs, false)).candidates;
  return isWhole(first) ? shown(first) : null;
}

/** @param {string} words */
function wordsOf(words) {
  const meant = words.trim();
  if (!meant || meant.length > MOST_CHARS) throw unfit();
  return meant;
}

/** @param {Candidate | undefined} candidate */
const isWhole = (candidate) => candidate !== undefined && !candidate.missing;

/** @typedef {{words: string, kind: string}} Search */
/** @typedef {{candidates: Candidate[], whole: boolean, size: number, tookMs: number}} Answer */

/**
 * Looks again while the page has no match: what was just opened may still be drawn.
 * @param {Context<any>} context
 * @param {Search} search
 * @param {number} maxMs
 * @param {boolean} endsAtRest whether a page that has come to rest is not waited for
 * @returns {Promise<Answer>}
 */
async function lookUntil(context, search, maxMs, endsAtRest) {
  const { tabId, site, signal } = context;
  const end = Date.now() + maxMs;
  let [since, size, seen] = [Date.now(), -1, -1];
  for (;;) {
    requireKnownSite(tabId, site);
    const answer = await look(context, search, end);
    const ref = answer?.candidates[0]?.ref ?? -1;
    // On a page at work, another one may come that fits as well.
    const isSure = ref === seen || !endsAtRest || !openRequests(tabId);
    if (answer && isWhole(answer.candidates[0]) && isSure) return answer;
    seen = ref;
    if (answer?.size !== size || openRequests(tabId)) since = Date.now();
    size = answer?.size ?? -1;
    const pause = Math.max(PAUSE_MS, (answer?.tookMs ?? 0) * REST);
    const isAtRest = endsAtRest && Date.now() - since >= RESTING_MS;
    const isOver = isAtRest || Date.now() + pause > end;
    if (answer && isOver) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
    signal.throwIfAborted();
  }
}

/**
 * @param {Context<any>} context
 * @param {Search} search
 * @param {number} end
 * @returns {Promise<Answer | null>} null: the document has gone meanwhile
 */
async function look(context, search, end) {
  try {
    const answers = await askFrames(context, search);
    const candidates = answers.flatMap((answer) => answer.candidates);
    candidates.sort((one, other) => other.score - one.score);
    const size = answers.reduce((sum, answer) => sum + answer.size, 0);
    const tookMs = Math.max(...answers.map((answer) => answer.tookMs));
    return { candidates, whole: answers.every(({ whole }) => whole), size, tookMs };
  } catch (error) {
    const isGone = error instanceof CommandError && error.reason === "navigated_away";
    if (isGone && Date.now() < end) return null;
    throw error;
  }
}

/**
 * @param {Candidate[]} candidates best first
 * @param {string} words
 * @param {boolean} whole whether every element was looked at
 */
function best(candidates, words, whole) {
  const [first, second] = candidates;
  if (!first) {
    const part = whole ? "" : " in the part that could be searched in time";
    const message = `Nothing on the page matches ${JSON.stringify(words)}${part}, so nothing was done. Read the page, or use other words.`;
    throw new CommandError("element_not_found", message);
  }
  const isClear = !second || first.score - second.score >= CLEARLY;
  if (whole && isClear && !first.missing) return shown(first);
  throw unclear(candidates.slice(0, MOST_NAMED), words, whole);
}

/**
 * @param {Candidate} candidate
 * @returns {Wire.FoundTarget}
 */
function shown({ ref, role, name }) {
  return { ref: `ref_${ref}`, role, name };
}

/**
 * @param {Candidate[]} found
 * @param {string} words
 * @param {boolean} whole
 */
function unclear(found, words, whole) {
  const names = found.map(({ ref, role, name, row }) => {
    const around = row && ` in ${JSON.stringify(row)}`;
    return `ref_${ref}: ${role} ${JSON.stringify(name)}${around}`;
  });
  const candidates = found.map(shown);
  const why = whole
    ? `${JSON.stringify(words)} means no one element clearly.`
    : "the page is too large to search all of it in time.";
  const message = `Nothing was done: ${why} Give the ref of one of these, or more words: ${quoted(names.join("; "))}`;
  return new CommandError("ambiguous", message, { candidates });
}

function unfit() {
  const message = `find takes words, at most ${MOST_CHARS} characters of them.`;
  return new CommandError("invalid_arguments", message);
}

function tooMany() {
  return new CommandError("invalid_arguments", "Give one of ref, selector and find.");
}

/**
 * Only frames in which the caller may act and may read: what matches is named.
 * @param {Context<any>} context
 * @param {Search} body
 * @returns {Promise<Answer[]>}
 */
async function askFrames({ tabId, site, reach, readable }, body) {
  const main = await mainFrame(tabId);
  // Frames may have come since the command was allowed.
  if (!framesOf(tabId).every((frame) => reach.allows(frame))) {
    await reach.explore(framesOf(tabId), site);
  }
  const others = framesOf(tabId).filter((frame) => frame !== main && reach.allows(frame));
  const foreign = new Set(others.map((frame) => frame.site).filter((one) => one !== site));
  const allowed = new Set(foreign.size ? await readable([...foreign]) : []);
  const read = others.filter((frame) => frame.site === site || allowed.has(frame.site));
  const inMain = askMinting(main, "seek", { ...body, maxMs: MAIN_MS.walk }, MAIN_MS.answer);
  // Nothing can be done in a frame that does not answer, so it has no candidates.
  const none = { candidates: [], whole: true, size: 0, tookMs: 0 };
  const inOthers = read.map((frame) =>
    askMinting(frame, "seek", { ...body, maxMs: CHILD_MS.walk }, CHILD_MS.answer).catch(() => none),
  );
  return Promise.all([inMain, ...inOthers]);
}
