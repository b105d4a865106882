/** Finding the element that holds a frame, in the frame around it. */

import { CommandError } from "./shared/command-errors.js";
import { askMinting, framesOf } from "./frames/frames.js";

const HEARD_MS = 1000;

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {{parent: Frame, ref?: number, index?: number}} Place */

/**
 * Window indexes tell most frames apart. They do not for frames in shadow roots, and the
 * browser does not name the parent of some (blob:): those are sent a nonce to report.
 * @param {number} tabId
 * @param {Frame[]} frames
 */
export async function placeByNonce(tabId, frames) {
  await Promise.allSettled(frames.map((frame) => frame.ask("listen", {}, HEARD_MS)));
  const announced = (await Promise.all(framesOf(tabId).map(announce))).flat();
  await Promise.all(frames.map((frame) => settlePlace(frame, announced)));
}

/** @typedef {{parent: Frame, ref: number, nonce: string}} Announced */

/**
 * @param {Frame} parent
 * @returns {Promise<Announced[]>}
 */
async function announce(parent) {
  const sent = await askMinting(parent, "announce", {}, HEARD_MS).catch(() => []);
  return sent.map((/** @type {{ref: number, nonce: string}} */ one) => ({ parent, ...one }));
}

/**
 * @param {Frame} frame
 * @param {Announced[]} announced
 */
async function settlePlace(frame, announced) {
  const nonce = await frame.ask("heard", {}, HEARD_MS).catch(() => null);
  const found = announced.find((one) => one.nonce === nonce && one.parent !== frame);
  if (found) frame.place = { parent: found.parent, ref: found.ref };
}

/**
 * @param {Frame} frame
 * @returns {Promise<Place>}
 */
export async function placeOf(frame) {
  const place = frame.place ?? (await placeByIndex(frame));
  if (place) return place;
  await placeByNonce(frame.tabId, [frame]);
  if (frame.place) return frame.place;
  throw new CommandError("not_visible", "The frame of this element cannot be found on the page.");
}

/**
 * @param {Frame} frame
 * @returns {Promise<Place | undefined>}
 */
export async function placeByIndex(frame) {
  const [parentId, index] = await Promise.all([frame.parentId(), frame.ask("index", {})]);
  const parent = framesOf(frame.tabId).find((other) => other.frameId === parentId);
  return parent && index >= 0 ? { parent, index } : undefined;
}
