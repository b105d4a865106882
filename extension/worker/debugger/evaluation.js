/** page.evaluate: runs code as the browser's console does, under any content security policy. */

import { LONG_LENGTH, clip } from "../shared/clip.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { moved } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { onAbort, unlessAborted } from "../shared/timing.js";
import { send, takenTabs, withTab } from "./debugger.js";
import { unlessDialog } from "./page-dialogs.js";
import { documentOf, forgetDocument, isGone, isOn } from "./page-document.js";

// Stopping code that does not yield. Extensions may not terminate a page's code, but they may pause
// it and resume it with the order to terminate. The debugger must be enabled before the code runs:
// afterwards the page handles no messages.

const PAUSE_MS = 300;
const MAY_NOT_YIELD = /\b(?:for|while|do)\b/;
let lastNumber = 0;

/**
 * One run of our code. Its name marks it in the page's stack, so that nothing else is terminated.
 * @typedef {object} Termination
 * @property {string} source
 * @property {string} [scriptId]
 * @property {(() => void) | null} requested set while the code is to be stopped
 */

/** @type {Map<number, Set<Termination>>} */
const terminations = new Map();

/**
 * @template T
 * @param {number} tabId
 * @param {string} code
 * @param {AbortSignal} signal
 * @param {(source: string) => Promise<T>} work
 */
async function withTermination(tabId, code, signal, work) {
  /** @type {Termination} */
  const termination = { source: `tabhub-${++lastNumber}`, requested: null };
  if (!MAY_NOT_YIELD.test(code)) return work(termination.source);
  try {
    await enable(tabId, termination);
    signal.throwIfAborted();
    return await Promise.race([work(termination.source), stopped(tabId, termination, signal)]);
  } finally {
    await remove(tabId, termination);
  }
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function terminationEvent(tabId, _, method, params) {
  const active = [...(terminations.get(tabId) ?? [])];
  if (method === "Debugger.scriptParsed") noteScript(active, params);
  if (method === "Debugger.paused") paused(tabId, active, params);
}

/**
 * @param {Termination[]} active
 * @param {{url: string, scriptId: string}} script
 */
function noteScript(active, { url, scriptId }) {
  const termination = active.find(({ source }) => source === url);
  if (termination) termination.scriptId = scriptId;
}

/**
 * @param {number} tabId
 * @param {Termination[]} active
 * @param {{callFrames: {location: {scriptId: string}}[]}} params
 */
function paused(tabId, active, { callFrames }) {
  const running = new Set(callFrames.map(({ location }) => location.scriptId));
  const caught = active.find(({ requested, scriptId }) => requested && running.has(scriptId ?? ""));
  trySend(tabId, "Debugger.resume", { terminateOnResume: Boolean(caught) });
  // The pause hit the page's own code: let it go on, and try again.
  if (!caught && active.some(({ requested }) => requested)) trySend(tabId, "Debugger.pause");
  caught?.requested?.();
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 */
function trySend(tabId, method, params) {
  return send(tabId, method, params).catch(() => {});
}

/**
 * @param {number} tabId
 * @param {Termination} termination
 */
async function enable(tabId, termination) {
  const active = terminations.get(tabId) ?? new Set();
  terminations.set(tabId, active.add(termination));
  await send(tabId, "Debugger.enable");
}

/**
 * @param {number} tabId
 * @param {Termination} termination
 */
async function remove(tabId, termination) {
  const active = terminations.get(tabId);
  active?.delete(termination);
  if (active?.size) return;
  terminations.delete(tabId);
  await trySend(tabId, "Debugger.disable");
}

/**
 * Fails once the code has been cancelled and stopped; code that only waits is left alone.
 * @param {number} tabId
 * @param {Termination} termination
 * @param {AbortSignal} signal
 * @returns {Promise<never>}
 */
async function stopped(tabId, termination, signal) {
  await new Promise((resolve) => onAbort(signal, resolve));
  /** @type {PromiseWithResolvers<void>} */
  const { promise, resolve } = Promise.withResolvers();
  termination.requested = resolve;
  void trySend(tabId, "Debugger.pause");
  setTimeout(resolve, PAUSE_MS);
  await promise;
  termination.requested = null;
  throw signal.reason;
}

register({
  name: "running code",
  after: ["attachments"],
  // No call waits for the code any longer, so the page need not be slowed down for it.
  restore: () => takenTabs().forEach((tabId) => void trySend(tabId, "Debugger.disable")),
  event: terminationEvent,
  lost: (tabId) => terminations.delete(tabId),
});

const TIMEOUT_MS = 30_000;
const EVALUATE = { replMode: true, awaitPromise: true, userGesture: true, objectGroup: "tabhub" };
const AS_JSON = "function () { return JSON.stringify(this); }";
/** Kinds of objects that JSON can hold. */
const DATA_KINDS = new Set([undefined, "array", "date", "proxy", "typedarray"]);
/** JSON parsers have their limits too. */
const MOST_LEVELS = 200;
const LISTS_OF_NODES = new Set(["NodeList", "HTMLCollection"]);

/** @param {import("../shared/command-context.d.ts").Context<Wire.Evaluate>} context */
export async function evaluate({ tabId, input, site, signal, reach }) {
  const { code, timeoutMs } = input;
  if (typeof code !== "string") throw new CommandError("invalid_arguments", "code is missing.");
  // The browser itself ends code that does not yield, if it is not cancelled before.
  const timeout = typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : TIMEOUT_MS;
  const work = (/** @type {AbortSignal} */ live) =>
    withTermination(tabId, code, signal, (source) =>
      run({ tabId, code, site, reach, timeout, source }, live),
    );
  return withTab(tabId, () =>
    unlessDialog(tabId, signal, (live) => bounded(() => work(live), timeoutMs)),
  );
}

/**
 * @typedef {object} Run
 * @property {number} tabId
 * @property {string} code
 * @property {string | undefined} site
 * @property {import("../shared/command-context.d.ts").Reach} reach
 * @property {number} timeout
 * @property {string} source its name in the page's stacks
 */

/**
 * @param {Run} order
 * @param {AbortSignal} signal
 */
async function run({ tabId, code, timeout, source, ...bounds }, signal) {
  const evaluated = async (/** @type {string} */ text) => {
    const expression = `${text}\n//# sourceURL=${source}`;
    const params = { ...EVALUATE, timeout, expression };
    const answer = await inDocument(tabId, bounds, params);
    // The document had gone before anything ran.
    return isGone(answer.refused) ? inDocument(tabId, bounds, params) : answer;
  };
  const answer = await evaluated(code);
  if (!refusedReturn(answer)) return resultOf(tabId, answer);
  signal.throwIfAborted();
  return resultOf(tabId, await evaluated(`(async () => {\n${code}\n})()`));
}

/**
 * Evaluates in the document whose site is checked here, and in no other that the tab may show by
 * then. The check is not part of the code, which could be written so that the check does not run.
 * @param {number} tabId
 * @param {Pick<Run, "site" | "reach">} bounds
 * @param {{expression: string}} params
 */
async function inDocument(tabId, { site, reach }, params) {
  const page = await documentOf(tabId);
  const isAllowed = () => isOn(tabId, page, site, reach);
  if (!(await isAllowed())) throw moved();
  const uniqueContextId = page.uniqueId;
  const answer = await ask(tabId, "Runtime.evaluate", { ...params, uniqueContextId });
  if (isGone(answer.refused)) forgetDocument(tabId, page);
  if (answer.refused) return answer;
  // A blank document may have become another one in place; if that cannot be asked, nothing leaves.
  const isStill = await isAllowed().catch((error) => Promise.reject(cutOff(messageOf(error))));
  if (!isStill) throw moved();
  return answer;
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} params
 */
async function ask(tabId, method, params) {
  try {
    return await send(tabId, method, params);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    return { refused: messageOf(error) };
  }
}

/**
 * Code that does not compile has run nothing, so it may be tried in another form.
 * @param {any} answer
 */
function refusedReturn({ exceptionDetails: details }) {
  // The same error thrown by code that runs comes with a stack.
  return details?.exception?.description === "SyntaxError: Illegal return statement";
}

/**
 * @param {number} tabId
 * @param {any} answer
 * @returns {Promise<Wire.Output<"page.evaluate">>}
 */
async function resultOf(tabId, { refused, exceptionDetails, result }) {
  if (refused) throw cutOff(refused);
  if (exceptionDetails) return { exception: exceptionOf(exceptionDetails) };
  if (result.subtype === "promise") return settled(tabId, result.objectId);
  if (!result.objectId) return plainResult(result);
  return isData(result) ? dataResult(tabId, result) : described(result);
}

/** @param {string} message */
function cutOff(message) {
  if (/terminated/i.test(message)) return new CommandError("timeout", "The code ran too long.");
  return new CommandError("navigated_away", `The page went away while the code ran: ${message}`);
}

/** @param {any} result */
function isData({ type, subtype, className }) {
  return type === "object" && DATA_KINDS.has(subtype) && !LISTS_OF_NODES.has(className);
}

/** @param {any} result */
function plainResult(result) {
  return "value" in result ? { value: result.value } : described(result);
}

/** @param {any} result */
function described({ description, unserializableValue, type, subtype }) {
  const shown = clip(String(description ?? unserializableValue ?? type), LONG_LENGTH);
  return { value: null, description: shown, ...(subtype === "node" && { isNode: true }) };
}

/**
 * @param {number} tabId
 * @param {string} promiseObjectId
 */
async function settled(tabId, promiseObjectId) {
  return resultOf(tabId, await ask(tabId, "Runtime.awaitPromise", { promiseObjectId }));
}

/**
 * The debugger's own copy loses what JSON keeps: dates, and objects with a toJSON method.
 * @param {number} tabId
 * @param {any} result
 */
async function dataResult(tabId, result) {
  const { objectId } = result;
  const params = { objectId, functionDeclaration: AS_JSON, returnByValue: true };
  const copy = await ask(tabId, "Runtime.callFunctionOn", params);
  void ask(tabId, "Runtime.releaseObjectGroup", { objectGroup: EVALUATE.objectGroup });
  // A cyclic value throws; some have no JSON at all.
  const text = copy.exceptionDetails ? undefined : copy.result?.value;
  const value = typeof text === "string" ? JSON.parse(text) : undefined;
  return value === undefined || isDeeper(value, MOST_LEVELS) ? described(result) : { value };
}

/**
 * @param {unknown} value
 * @param {number} levels
 * @returns {boolean}
 */
function isDeeper(value, levels) {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** @param {any} details */
function exceptionOf({ exception, text }) {
  const stack = clip(exception?.description ?? "", LONG_LENGTH);
  const thrown =
    exception && "value" in exception ? `${text} ${JSON.stringify(exception.value)}` : text;
  return { message: stack.split("\n")[0] || clip(thrown, LONG_LENGTH), stack };
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @param {unknown} timeoutMs
 */
async function bounded(work, timeoutMs) {
  if (typeof timeoutMs !== "number") return work();
  const late = new AbortController();
  const tooLate = new CommandError("timeout", `The code did not end within ${timeoutMs} ms.`);
  const timer = setTimeout(() => late.abort(tooLate), timeoutMs);
  try {
    return await unlessAborted(late.signal, work);
  } finally {
    clearTimeout(timer);
  }
}
