/** page.evaluate: the person's own console, as it were, under any content security policy. */

import { withBrake } from "./brake.js";
import { CommandError, messageOf } from "./errors.js";
import { send, withTab } from "./debugger.js";
import { unlessDialog } from "./dialogs.js";

const TIMEOUT_MS = 30_000;
const EVALUATE = { replMode: true, awaitPromise: true, userGesture: true, objectGroup: "tabhub" };
const ITSELF = "function () { return this; }";
/** Kinds of objects that are still themselves as JSON. */
const DATA_KINDS = new Set([undefined, "array", "typedarray"]);
const LISTS_OF_NODES = new Set(["NodeList", "HTMLCollection"]);

/** @param {import("./navigation.js").Context} context */
export async function evaluate({ tabId, input, signal }) {
  const { code, timeoutMs } = input;
  if (typeof code !== "string") throw new CommandError("invalid_arguments", "code is missing.");
  // The browser itself ends code that does not yield, in case nobody cancels it.
  const timeout = typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : TIMEOUT_MS;
  const work = () => withBrake(tabId, code, signal, (source) => run(tabId, code, timeout, source));
  return withTab(tabId, () => unlessDialog(tabId, () => bounded(work, timeoutMs, signal)));
}

/**
 * @param {number} tabId
 * @param {string} code
 * @param {number} timeout
 * @param {string} source what the page's stacks call it
 */
async function run(tabId, code, timeout, source) {
  const params = { ...EVALUATE, timeout };
  const evaluated = (/** @type {string} */ text) =>
    ask(tabId, "Runtime.evaluate", { ...params, expression: `${text}\n//# sourceURL=${source}` });
  const answer = await evaluated(code);
  if (!refusedReturn(answer)) return resultOf(tabId, answer);
  return resultOf(tabId, await evaluated(`(async () => {\n${code}\n})()`));
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
 * @returns {Promise<object>}
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
function described({ description, unserializableValue, type }) {
  return { value: null, description: description ?? unserializableValue ?? type };
}

/**
 * @param {number} tabId
 * @param {string} promiseObjectId
 */
async function settled(tabId, promiseObjectId) {
  return resultOf(tabId, await ask(tabId, "Runtime.awaitPromise", { promiseObjectId }));
}

/**
 * @param {number} tabId
 * @param {any} result
 */
async function dataResult(tabId, result) {
  const { objectId } = result;
  const params = { objectId, functionDeclaration: ITSELF, returnByValue: true };
  const copy = await ask(tabId, "Runtime.callFunctionOn", params);
  void ask(tabId, "Runtime.releaseObjectGroup", { objectGroup: EVALUATE.objectGroup });
  // Cyclic values, and those nested too deep, are refused by the browser.
  return copy.result && "value" in copy.result ? { value: copy.result.value } : described(result);
}

/** @param {any} details */
function exceptionOf({ exception, text }) {
  const stack = exception?.description ?? "";
  const thrown =
    exception && "value" in exception ? `${text} ${JSON.stringify(exception.value)}` : text;
  return { message: stack.split("\n")[0] || thrown, stack };
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @param {unknown} timeoutMs
 * @param {AbortSignal} signal
 */
async function bounded(work, timeoutMs, signal) {
  /** @type {PromiseWithResolvers<never>} */
  const { promise: stopped, reject } = Promise.withResolvers();
  const tooLate = new CommandError("timeout", `The code did not end within ${timeoutMs} ms.`);
  const timer = typeof timeoutMs === "number" ? setTimeout(reject, timeoutMs, tooLate) : undefined;
  const cancel = () => reject(signal.reason);
  signal.addEventListener("abort", cancel);
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
