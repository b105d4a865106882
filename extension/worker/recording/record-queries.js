/** record.*: the commands that read and control recordings. */

import { CommandError } from "../shared/command-errors.js";
import { childrenOf } from "../debugger/child-sessions.js";
import { isCrashed } from "../debugger/crashed-pages.js";
import { sendTo } from "../debugger/debugger.js";
import { openDialog } from "../debugger/page-dialogs.js";
import { matcher } from "./safe-pattern.js";
import { endRecording, restartRecording, recordingOf, recordUse } from "./recorder.js";
import { bodiesOf } from "./response-bodies.js";
import { readable } from "../frames/frame-origins.js";
import { within } from "../shared/timing.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./tab-recording.js").Recording} Recording */

const FENCE_MS = 2000;
const READY_MS = 3000;
const MOST_CHARS = 4_000_000;
const HEADERS = /** @type {const} */ (["requestHeaders", "responseHeaders", "postData", "timing"]);

/** @param {Context<Wire.ReadConsole>} context */
export async function readConsole(context) {
  const { level, pattern, clear } = context.input;
  const matches = pattern === undefined ? () => true : matcher(String(pattern));
  const recording = await recorded(context);
  const found = (await readable(context, recording.console.entries)).filter(
    (entry) => (!level || level === "all" || entry.level === level) && matches(entry.text),
  );
  const wanted = part(found, context.input, ({ about: _, ...entry }) => entry);
  const output = { ...headOf(recording, recording.console), ...wanted };
  if (clear) recording.console.clear();
  return output;
}

/** @param {Context} context */
export async function clearConsole(context) {
  const { console } = await recorded(context);
  const cleared = console.entries.length;
  console.clear();
  return { cleared };
}

/** @param {Context<Wire.ReadNetwork>} context */
export async function readNetwork(context) {
  const { urlPattern = "", since, headers, bodies, clear } = context.input;
  const recording = await recorded(context);
  const { network } = recording;
  const all = await readable(context, network.entries);
  const found = all.filter(
    ({ url, started }) => url.includes(urlPattern) && started >= (since ?? 0),
  );
  const { entries, total } = part(found, context.input, headers ? (one) => one : brief);
  const kept = bodies ? await bodiesOf(recording, entries, bodies) : entries;
  const output = { ...headOf(recording, network), entries: kept, total };
  if (clear) network.clear();
  return output;
}

/** @param {Context<Wire.ReadRequest>} context */
export async function readRequest(context) {
  const { requestId, body } = context.input;
  const recording = await recorded(context);
  const [entry] = (await readable(context, recording.network.entries)).filter(
    (one) => one.requestId === String(requestId),
  );
  if (!entry) {
    const message = `There is no request ${requestId} in what was recorded of this tab.`;
    throw new CommandError("not_found", message);
  }
  const [request] = body ? await bodiesOf(recording, [entry], Number(body)) : [entry];
  return { request };
}

/** @param {Context<Wire.ReadSockets>} context */
export async function readSockets(context) {
  const recording = await recorded(context);
  const { urlPattern = "", clear } = context.input;
  const all = await readable(context, recording.sockets.entries);
  const found = all.filter(({ url }) => url.includes(urlPattern));
  const output = {
    ...headOf(recording, recording.sockets),
    ...part(found, context.input, (one) => one),
  };
  if (clear) recording.sockets.clear();
  return output;
}

/** @param {Context<Wire.StartRecording>} context */
export async function startRecording({ tabId, input }) {
  const { consoleEntries, networkEntries, socketFrames, urlFilter } = input;
  await restartRecording(tabId, { consoleEntries, networkEntries, socketFrames, urlFilter });
  return { sizes: recordingOf(tabId)?.sizes };
}

/** @param {Context} context */
export async function stopRecording({ tabId }) {
  endRecording(tabId, true);
  return {};
}

/**
 * @param {Context} context
 * @returns {Promise<Recording>}
 */
async function recorded({ tabId }) {
  recordUse(tabId);
  const recording = recordingOf(tabId);
  if (!recording) {
    const message =
      "This tab is not recorded. browser_enable_network_capture records it from then on.";
    throw new CommandError("not_found", message);
  }
  await recording.attached;
  await Promise.race([recording.ready, pause(READY_MS)]);
  if (!openDialog(tabId) && !isCrashed(tabId)) await allReported(recording);
  return recording;
}

/**
 * The browser reports everything up to now before a page answers; a busy page is not waited for.
 * @param {Recording} recording
 */
async function allReported({ tabId, console }) {
  const sessions = [undefined, ...childrenOf(tabId).map(({ session }) => session)];
  const fences = sessions.map((session) =>
    sendTo(tabId, session, "Runtime.evaluate", { expression: "0" }).catch(() => {}),
  );
  const reported = Promise.all(fences).then(() => console.settled());
  await within(FENCE_MS, reported).catch(() => {});
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * @param {Recording} recording
 * @param {{dropped: number}} log
 */
function headOf({ began, sizes }, { dropped }) {
  return { began, dropped, ...(sizes.urlFilter && { urlFilter: sizes.urlFilter }) };
}

/**
 * @template T, U
 * @param {T[]} found
 * @param {{limit?: number, newest?: boolean}} input
 * @param {(entry: T) => U} shape
 */
function part(found, { limit = found.length, newest = false }, shape) {
  const wanted = newest ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit);
  const shaped = wanted.map(shape);
  return { entries: fitting(newest ? shaped.reverse() : shaped, newest), total: found.length };
}

/**
 * As many entries as fit into one message of the link.
 * @template T
 * @param {T[]} entries
 * @param {boolean} isReversed
 */
function fitting(entries, isReversed) {
  let room = MOST_CHARS;
  const end = entries.findIndex((entry) => (room -= JSON.stringify(entry).length) < 0);
  const kept = end < 0 ? entries : entries.slice(0, end);
  return isReversed ? kept.reverse() : kept;
}

/** @param {import("./network-log.js").Request} request */
function brief(request) {
  const short = { ...request };
  for (const name of HEADERS) delete short[name];
  return short;
}
