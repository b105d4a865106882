/** Reaching the element an acting command names, in whichever frame it is. */

import { CommandError } from "../shared/command-errors.js";
import { frameOfRef, framesOf, mainFrame } from "../frames/frames.js";
import { hoverAt } from "./trusted-input.js";
import { placeOf } from "../places.js";

const MOVING_MS = 2000;
const LOOK_MS = 100;
/** On a busy machine an animation may stand still for a moment. */
const CALM_LOOKS = 2;
const STABLE_TRIES = 4;
const HOVER_MS = 4000;

/** @typedef {import("../frame.js").Frame} Frame */
/** @typedef {import("./trusted-input.js").Point} Point */
/** @typedef {{frame: Frame, how: {ref: number} | {selector: string}}} Target */
/** @typedef {Point & {local: Point}} Located a point of the tab's viewport, and in its own frame */

/**
 * @param {number} tabId
 * @param {Wire.Named} input
 * @param {import("../reach.js").Reach} reach
 * @returns {Promise<Target>}
 */
export async function findTarget(tabId, { ref, selector }, reach) {
  if ((ref === undefined) === (selector === undefined)) {
    throw new CommandError("invalid_arguments", "Give either ref or selector.");
  }
  if (ref === undefined) return findBySelector(tabId, String(selector), reach);
  await mainFrame(tabId);
  const { frame, number } = await frameOfRef(tabId, ref);
  reach.require(frame);
  return { frame, how: { ref: number } };
}

/**
 * @param {number} tabId
 * @param {string} selector
 * @param {import("../reach.js").Reach} reach
 */
async function findBySelector(tabId, selector, reach) {
  const how = { selector };
  const main = await mainFrame(tabId);
  if (await main.ask("has", how)) return { frame: main, how };
  const others = framesOf(tabId).filter((frame) => frame !== main && reach.allows(frame));
  const found = await Promise.all(others.map((frame) => frame.ask("has", how).catch(() => false)));
  const frame = others[found.indexOf(true)];
  if (!frame)
    throw new CommandError("element_not_found", `Nothing on the page matches ${selector}.`);
  return { frame, how };
}

/**
 * Where on the tab's viewport a press reaches the element.
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {any} [options] `mayBeDisabled`, `scrolls`, and `by`: what shall arrive there
 * @returns {Promise<Point>}
 */
export async function aim(target, signal, options = {}) {
  const { local, ...point } = await locate(target, signal, options);
  const { frame } = target;
  // Where nothing is expected, nothing could tell of a movement.
  const isTried = frame.frameId !== 0 && options.by !== "nothing";
  if (isTried) await untilHovered(frame, point, signal);
  return point;
}

/**
 * The same, by what the frames say of themselves alone.
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {any} [options]
 * @returns {Promise<Located>}
 */
export async function locate({ frame, how }, signal, options = {}) {
  const local = await unlessMoving(() => frame.ask("aim", { ...how, ...options }), signal);
  if (frame.frameId === 0) return { ...local, local };
  return { ...(await settled(() => outward(frame, local))), local };
}

/**
 * What unfolds or slides in can be pressed in a moment: as long as it moves, it is tried again.
 * @param {() => Promise<Point>} look
 * @param {AbortSignal} signal
 */
async function unlessMoving(look, signal) {
  const endAt = Date.now() + MOVING_MS;
  for (let before, calm = 0; ;) {
    try {
      return await look();
    } catch (error) {
      const placed = takePlaced(error);
      calm = placed === before ? calm + 1 : 0;
      if (!placed || calm === CALM_LOOKS || Date.now() > endAt) throw error;
      before = placed;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    signal.throwIfAborted();
  }
}

/**
 * Where it was, which concerns nobody else.
 * @param {unknown} error
 */
function takePlaced(error) {
  if (!(error instanceof CommandError)) return undefined;
  const { placed, ...data } = error.data;
  error.data = data;
  return placed;
}

/**
 * The browser routes input to frames of other processes by what was drawn last, which may be
 * older than what we measured. A press must not be tried, but a movement may.
 * @param {Frame} frame
 * @param {Point} point
 * @param {AbortSignal} signal
 */
export async function untilHovered(frame, point, signal) {
  for (const end = Date.now() + HOVER_MS; Date.now() < end;) {
    signal.throwIfAborted();
    await hoverAt(frame.tabId, point);
    if (await frame.ask("hovered", {})) return;
  }
  const message = "The element's frame does not receive the mouse at this point.";
  throw new CommandError("not_visible", message);
}

/**
 * Scrolling in a frame of another process moves the frames around it a little later.
 * @param {() => Promise<Point>} locate
 */
export async function settled(locate) {
  let point = await locate();
  for (let i = 0; i < STABLE_TRIES; i++) {
    const again = await locate();
    if (again.x === point.x && again.y === point.y) break;
    point = again;
  }
  return point;
}

/**
 * From a frame's own coordinates to the tab's.
 * @param {Frame} frame
 * @param {Point} point
 * @returns {Promise<Point>}
 */
export async function outward(frame, point) {
  if (frame.frameId === 0) return point;
  const { parent, ref, index } = await placeOf(frame);
  return outward(parent, await parent.ask("through", { ref, index, ...point }));
}
