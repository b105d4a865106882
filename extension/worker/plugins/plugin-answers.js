/** What a call of a plugin's tool ends with, from what the page answers. */

import { CommandError, messageOf, quoted } from "../shared/command-errors.js";

/** @typedef {import("./page-runtime.js").Answer} Answer */

const CATEGORY = /^(auth|rate_limit|not_found|validation|internal|timeout)$/;

/**
 * @param {string} tool
 * @param {Answer} answer of a plugin that was ready
 * @returns {unknown} the result
 */
export function resultOf(tool, answer) {
  if (answer.state === "done") return JSON.parse(answer.text ?? "null");
  if (answer.state === "failed") throw failed(tool, answer);
  if (answer.state === "oversized") throw tooLarge(tool);
  if (answer.state === "unwritable") throw unwritable(tool, answer);
  throw new CommandError("unknown_tool", `The plugin's adapter has no tool ${tool}.`);
}

/**
 * @param {string} tool
 * @param {Answer} answer
 */
function failed(tool, { message = "", code, category, retryable, retryAfterMs }) {
  const known = CATEGORY.test(category ?? "") ? { category } : {};
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const failure = { code: code ?? "", retryable: retryable === true, ...known, ...wait };
  const text = `${tool} has failed: ${quoted(message)}`;
  return new CommandError("script_error", text, { failure });
}

/** @param {string} tool */
function tooLarge(tool) {
  return new CommandError("too_large", `The result of ${tool} is larger than the link carries.`);
}

/**
 * @param {string} tool
 * @param {Answer} answer
 */
function unwritable(tool, { message = "" }) {
  const text = `The result of ${tool} cannot be written as JSON: ${quoted(message)}`;
  return new CommandError("invalid_response", text);
}

/** @param {string} message of a script that a plugin runs */
export function scriptFailed(message) {
  return new CommandError("script_error", `The script has failed: ${quoted(message)}`);
}

/**
 * The plugin has not received the call.
 * @param {string | undefined} readiness why
 * @param {string | undefined} message
 */
export function notReady(readiness = "not_ready", message = "") {
  return new CommandError("adapter_not_ready", message, { readiness });
}

/**
 * @param {number} tabId
 * @param {string} plugin
 */
export function elsewhere(tabId, plugin) {
  const message = `Tab ${tabId} shows a page that ${plugin} is not for. Nothing was done.`;
  return new CommandError("tab_url_mismatch", message);
}

/** The page went away, or the call was lost in it: what it has done is unknown. */
export function afterwards() {
  const message = "The page went away during the call; the plugin may have begun it.";
  return new CommandError("page_may_have_received", message);
}

/**
 * @param {unknown} error
 * @returns {never}
 */
export function injectionFailed(error) {
  throw notReady("not_injected", messageOf(error));
}
