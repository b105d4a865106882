/**
 * Small pictures of the tabs that agents use, for the person's panel. A tab is never woken, waited
 * for or changed for one, and an agent does not notice it.
 */

import { dialogIn } from "../debugger/pending-dialogs.js";
import { send, sessionOf } from "../debugger/debugger.js";
import { isInFront } from "../shared/front-tab.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";

/** The person's switch in the panel. */
const SETTING = "showThumbnails";
const EVERY_MS = 2000;
const DRAW_MS = 1000;
const WIDTH = 256;
const HEIGHT = 160;
const QUALITY = 0.6;

/** @typedef {{at: number, image: Promise<string | null>}} Taken */

/** @type {Map<number, Taken>} the last picture of each tab */
const taken = new Map();

/**
 * @param {{nativeId: number}} wanted
 * @returns {Promise<{image: string | null}>} null if there can be none now
 */
export async function takeThumbnail({ nativeId }) {
  const stored = await chrome.storage.local.get(SETTING);
  if (stored[SETTING] === false) return { image: null };
  const last = taken.get(nativeId);
  if (last && Date.now() - last.at < EVERY_MS) return { image: await last.image };
  if (!isDrawing(nativeId)) return { image: null };
  const image = draw(nativeId).catch(() => null);
  taken.set(nativeId, { at: Date.now(), image });
  return { image: await image };
}

/**
 * A tab that sleeps draws nothing, and one that a command uses is left alone: a command may record
 * what the page draws.
 * @param {number} tabId
 */
function isDrawing(tabId) {
  const session = sessionOf(tabId);
  if (!session || session.inUse || dialogIn(tabId)) return false;
  return session.isAwake || isInFront(tabId);
}

/**
 * Made small here: the browser would resize the page to draw it small.
 * @param {number} tabId
 */
async function draw(tabId) {
  const params = { format: "jpeg", quality: 50, optimizeForSpeed: true };
  const { data } = await within(DRAW_MS, send(tabId, "Page.captureScreenshot", params));
  const whole = await createImageBitmap(
    await (await fetch(`data:image/jpeg;base64,${data}`)).blob(),
  );
  const scale = Math.max(WIDTH / whole.width, HEIGHT / whole.height);
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext("2d");
  context?.drawImage(whole, 0, 0, whole.width * scale, whole.height * scale);
  whole.close();
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
  return `data:image/jpeg;base64,${base64(new Uint8Array(await blob.arrayBuffer()))}`;
}

/** @param {Uint8Array} bytes a few thousand */
function base64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * The picture is that of an earlier page; when it was taken still counts, for pages that go from one
 * to the next.
 * @param {number} tabId
 */
function drop(tabId) {
  const last = taken.get(tabId);
  if (last) taken.set(tabId, { ...last, image: Promise.resolve(null) });
}

register({
  name: "thumbnails",
  forget: (tabId) => void taken.delete(tabId),
  lost: drop,
  committed: drop,
});
