/** plugin.*: what Python plugins do in a page, by its content script. */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { mainFrame } from "../frames/frames.js";
import { moved } from "../shared/known-tabs.js";
import { numberOr } from "../shared/number-limits.js";
import { onAbort } from "../shared/timing.js";

/** The server ends calls earlier; this limit is for a page that never answers. */
const LONGEST_MS = 600_000;
const WAIT_MS = 10_000;
const SPARE_MS = 3000;
/** What a response has beside its body: headers, address. */
const BESIDE_BODY = 256 * 1024;
/** The browser passes on messages of up to 64 MB between a page and the worker. */
const MOST_BODY = 40_000_000;

/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * The document for which the server has allowed the command.
 * @param {Context<any>} context
 */
export async function frameOf({ tabId, site }) {
  const frame = await mainFrame(tabId);
  if (site !== undefined && frame.site !== site) throw moved();
  return frame;
}

/**
 * @template T
 * @param {Context<any>} context
 * @param {string} type
 * @param {object} body
 * @param {{timeoutMs?: number, stop?: string}} [how] `stop` is asked when the call is cancelled
 * @returns {Promise<T>}
 */
async function askPage(context, type, body, { timeoutMs, stop } = {}) {
  const { tabId, signal } = context;
  const frame = await frameOf(context);
  return unlessDialog(tabId, signal, (ended) => {
    const unhear = onAbort(ended, () => void (stop && frame.ask(stop, body).catch(() => {})));
    return frame.ask(type, body, timeoutMs).finally(unhear);
  });
}

/** @param {Context<Wire.PluginFetch>} context */
export async function fetchInPage(context) {
  const { method = "GET", headers = {}, stream = false, ...rest } = context.input;
  const id = crypto.randomUUID();
  const body = { ...rest, id, method, headers, stream, mostBytes: mostBody(context.maxBytes) };
  return askPage(context, "request", body, { timeoutMs: LONGEST_MS, stop: "closeRequest" });
}

/** @param {number} maxBytes of a message to the server */
function mostBody(maxBytes) {
  const room = Math.floor(((maxBytes - BESIDE_BODY) * 3) / 4);
  return Math.max(0, Math.min(room, MOST_BODY));
}

/** @param {Context<Wire.PluginStream>} context */
export async function readStream(context) {
  const id = context.input.stream;
  const how = { timeoutMs: LONGEST_MS, stop: "closeRequest" };
  return askPage(context, "readResponse", { id }, how);
}

/** @param {Context<Wire.PluginStream>} context */
export async function closeStream(context) {
  await askPage(context, "closeRequest", { id: context.input.stream });
  return {};
}

/** @param {Context<Wire.PluginSelector>} context */
export async function hasElement(context) {
  const { selector } = context.input;
  return { found: await askPage(context, "has", { selector }) };
}

/** @param {Context<Wire.PluginWait>} context */
export async function waitForMatch(context) {
  const { selector, gone = false, timeoutMs } = context.input;
  const maxMs = numberOr(timeoutMs, 0, WAIT_MS);
  const body = { id: crypto.randomUUID(), selector, gone, maxMs };
  const how = { timeoutMs: maxMs + SPARE_MS, stop: "stopWaiting" };
  return { found: await askPage(context, "match", body, how) };
}

/** @param {Context<Wire.PluginStorage>} context */
export async function useStorage(context) {
  return askPage(context, "useStorage", context.input);
}
