/** downloads.save: a file of the server's own, among the browser's downloads. */

import { download } from "./data/file-downloads.js";
import { carry } from "./shared/file-pieces.js";

const PAGE = "offscreen/blobs.html";
/** @type {Promise<unknown>} there is one such page at a time */
let last = Promise.resolve();

/** @import { Context } from "./tabs/navigation.js" */

/**
 * Only a page can make an address of bytes that the browser downloads from: one that nobody sees.
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
    return await download({ ...context, input: { url, filename: file.name } });
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
