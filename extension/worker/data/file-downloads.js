/** downloads.*: files that the browser downloads, and where it saves them. */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { carry } from "../shared/file-pieces.js";
import { siteOf } from "../shared/known-tabs.js";
import { onAbort } from "../shared/timing.js";

const WAIT_MS = 30_000;
const PROGRESS_MS = 500;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {chrome.downloads.DownloadItem} Item */

/** @param {Context<Wire.StartDownload>} context */
export function download(context) {
  return downloaded(context, (id) => requireAllowed(context, id));
}

/**
 * @param {Context<Wire.StartDownload>} context
 * @param {(id: number) => Promise<void>} [check] of the download that has begun
 */
async function downloaded(context, check) {
  const { input, signal } = context;
  const { url, filename, saveAs = false } = input;
  signal.throwIfAborted();
  const id = await begin({ url, saveAs, ...(filename !== undefined && { filename }) });
  const stop = onAbort(signal, () => void chrome.downloads.cancel(id));
  try {
    await check?.(id);
    return describe(await ended(id, context));
  } finally {
    stop();
  }
}

/**
 * The call was decided for the address that it names; a redirect may have led to another site.
 * @param {Context} context
 * @param {number} id
 */
async function requireAllowed(context, id) {
  const item = await find(id);
  if ((await shown(context, [item])).length) return;
  await discard(id);
  const message =
    "The download was redirected to a walled site, so it was stopped and its file removed.";
  throw new CommandError("permission_off", message);
}

/**
 * Stops a download, removes its file, and the browser forgets it.
 * @param {number} id
 */
async function discard(id) {
  await chrome.downloads.cancel(id).catch(() => {});
  // Only a download that is complete has a file left.
  await chrome.downloads.removeFile(id).catch(() => {});
  await chrome.downloads.erase({ id });
}

/**
 * Those of the downloads that the caller may see, by where they came from.
 * @param {Pick<Context, "reach" | "site">} context
 * @param {Item[]} items
 */
async function shown({ reach, site }, items) {
  const sites = items.map(({ finalUrl, url }) => siteOf(finalUrl || url));
  const allowed = await reach.among(sites, site);
  return items.filter((_, i) => !allowed || allowed.has(/** @type {string} */ (sites[i])));
}

/** @param {chrome.downloads.DownloadOptions} options */
async function begin(options) {
  try {
    return await chrome.downloads.download(options);
  } catch (error) {
    throw new CommandError("invalid_arguments", `Nothing is downloaded: ${messageOf(error)}`);
  }
}

/**
 * The finished download, or its state when the time is up.
 * @param {number} id
 * @param {Context<Wire.StartDownload>} context
 */
async function ended(id, { input, progress }) {
  /** @type {PromiseWithResolvers<void>} */
  const { promise, resolve } = Promise.withResolvers();
  const timer = setTimeout(resolve, input.timeoutMs ?? WAIT_MS);
  const look = async () => {
    const item = await find(id);
    if (item.state !== "in_progress") resolve();
    else if (item.totalBytes > 0) progress(item.bytesReceived, item.totalBytes, "downloading");
  };
  const changed = (/** @type {chrome.downloads.DownloadDelta} */ delta) => {
    if (delta.id === id) void look();
  };
  chrome.downloads.onChanged.addListener(changed);
  // The browser does not report progress in bytes.
  const ticker = setInterval(look, PROGRESS_MS);
  try {
    await look();
    await promise;
    return await find(id);
  } finally {
    clearTimeout(timer);
    clearInterval(ticker);
    chrome.downloads.onChanged.removeListener(changed);
  }
}

/** @param {number} id */
async function find(id) {
  const [item] = await chrome.downloads.search({ id });
  if (item) return item;
  throw new CommandError("not_found", `There is no download ${id}.`);
}

/** @param {Context<Wire.DownloadStatus>} context */
export async function downloadStatus({ input }) {
  const item = await find(input.downloadId);
  if (input.onlyOurs && !isOurs(item)) {
    throw new CommandError("not_found", `There is no download ${input.downloadId} of yours.`);
  }
  return describe(item);
}

/** @param {Context<Wire.ListDownloads>} context */
export async function listDownloads(context) {
  const { input } = context;
  const { query, state, limit, onlyOurs } = input;
  const items = await chrome.downloads.search({
    orderBy: ["-startTime"],
    ...(query !== undefined && { query: [query] }),
    ...(state !== undefined && { state }),
  });
  const mine = await shown(context, onlyOurs ? items.filter(isOurs) : items);
  return { downloads: mine.slice(0, limit).map(describe), total: mine.length };
}

/**
 * A person's own downloads are private.
 * @param {Item} item
 */
function isOurs({ byExtensionId }) {
  return byExtensionId === chrome.runtime.id;
}

/**
 * @param {Item} item
 * @returns {Wire.Download}
 */
function describe({ id, state, filename, finalUrl, url, bytesReceived, totalBytes, mime, error }) {
  return {
    downloadId: id,
    state,
    path: filename,
    url: finalUrl || url,
    bytesReceived,
    totalBytes,
    mime,
    ...(error && { error }),
  };
}

// downloads.save: a file that the server made, saved among the browser's downloads.

const PAGE = "offscreen/blobs.html";
/** @type {Promise<unknown>} there can be only one offscreen page at a time */
let last = Promise.resolve();

/**
 * Only a page can make a blob URL that the browser can download, so an offscreen page does.
 * @param {Context<Wire.SaveFile>} context
 */
export function saveFile(context) {
  const saved = last.then(() => save(context));
  last = saved.catch(() => {});
  return saved;
}

/** @param {Context<Wire.SaveFile>} context */
async function save(context) {
  context.signal.throwIfAborted();
  const { file } = context.input;
  await openPage();
  try {
    await carry(context, [file], (_, data) => ask({ data }));
    const url = await ask({ type: file.mimeType });
    return await downloaded({ ...context, input: { url, filename: file.name } });
  } finally {
    await chrome.offscreen.closeDocument().catch(() => {});
  }
}

async function openPage() {
  await chrome.offscreen.closeDocument().catch(() => {});
  const justification = "Saves a file that an agent has made.";
  await chrome.offscreen.createDocument({ url: PAGE, reasons: ["BLOBS"], justification });
}

/**
 * @param {object} message
 * @returns {Promise<any>}
 */
function ask(message) {
  return chrome.runtime.sendMessage({ to: "blobs", ...message });
}
