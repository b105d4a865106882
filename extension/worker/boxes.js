/** Where on the tab's viewport an element is, in whichever frame. */

import { placeOf } from "./places.js";
import { findTarget, settled } from "./input/targets.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./picture/tiles.js").Box} Box */
/** @typedef {import("./input/trusted-input.js").Point} Point */

/**
 * Brings the element into view first.
 * @param {number} tabId
 * @param {Wire.Named} input
 * @param {import("./reach.js").Reach} reach
 * @param {AbortSignal} signal
 * @returns {Promise<Box>}
 */
export async function boxOf(tabId, input, reach, signal) {
  const { frame, how } = await findTarget(tabId, input, reach);
  signal.throwIfAborted();
  const { x, y, width, height } = await frame.ask("box", how);
  if (frame.frameId === 0) return { x, y, width, height };
  const start = await settled(() => outward(frame, { x, y }));
  const end = await outward(frame, { x: x + width, y: y + height });
  return { ...start, width: end.x - start.x, height: end.y - start.y };
}

/**
 * @param {Frame} frame
 * @param {Point} point
 * @returns {Promise<Point>}
 */
async function outward(frame, point) {
  if (frame.frameId === 0) return point;
  const { parent, ref, index } = await placeOf(frame);
  return outward(parent, await parent.ask("outward", { ref, index, ...point }));
}
