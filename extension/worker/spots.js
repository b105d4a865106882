/** Places to act on: an element by its name, or whatever is at a point. */

import { CommandError } from "./shared/command-errors.js";
import { askMinting, framesOf, mainFrame } from "./frames/frames.js";
import { placeByIndex, placeByNonce } from "./places.js";
import { aim, findTarget, locate, untilHovered } from "./input/targets.js";

/** @import { Context } from "./tabs/navigation.js" */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./input/trusted-input.js").Point} Point */
/** @typedef {{frame: Frame, point: Point}} Spot a point of a frame, in its own coordinates */
/** @typedef {(signal: AbortSignal, options?: any) => Promise<Point>} Aim */
/** @typedef {{ref: number} | {selector: string} | {point: Point}} How */
/**
 * `around`: outer frames, inside out; `how`: what it is in its frame; `locate`: like `aim`, where
 * no mouse is there to try the point
 * @typedef {{frame: Frame, around: Spot[], how: How, aim: Aim, locate: Locate}} Place
 */
/** @typedef {(signal: AbortSignal, options?: any) => Promise<import("./input/targets.js").Located>} Locate */
/** @typedef {{ref: number, index: number}} Inner a frame, as the one around it knows it */

/**
 * @param {Wire.Place} [place] a point of the viewport (x, y) or of the page (pageX, pageY)?
 * @returns {boolean}
 */
export function isPoint(place) {
  const { x = place?.pageX, y = place?.pageY } = place ?? {};
  return Number.isFinite(x) && Number.isFinite(y);
}

/**
 * @param {Pick<Context, "tabId" | "reach">} context
 * @param {Wire.Place} named
 * @returns {Promise<Place>}
 */
export async function findPlace({ tabId, reach }, named) {
  if (isPoint(named)) return placeAt(tabId, onlyPoint(named), reach);
  const target = await findTarget(tabId, named ?? {}, reach);
  const { frame, how } = target;
  return {
    frame,
    around: [],
    how,
    aim: (signal, options) => aim(target, signal, options),
    locate: (signal, options) => locate(target, signal, options),
  };
}

/** @param {Wire.Place} named */
function onlyPoint({ x, y, pageX, pageY, ref, selector }) {
  if (ref === undefined && selector === undefined) return { x, y, pageX, pageY };
  throw new CommandError("invalid_arguments", "Give an element or a point, not both.");
}

/**
 * @param {number} tabId
 * @param {object} named
 * @param {import("./reach.js").Reach} reach
 * @returns {Promise<Place>}
 */
async function placeAt(tabId, named, reach) {
  const main = await mainFrame(tabId);
  const outer = await main.ask("pointOf", named);
  const [{ frame, point }, ...others] = await descend({ frame: main, point: outer });
  reach.require(frame);
  return {
    frame,
    around: others.filter((spot) => reach.allows(spot.frame)),
    how: { point },
    aim: async (signal, options = {}) => {
      await frame.ask("aimAtPoint", { ...point, ...options });
      const isWatched = options.by !== "nothing";
      if (frame !== main && isWatched) await untilHovered(frame, outer, signal);
      return outer;
    },
    locate: async (_, options = {}) => {
      await frame.ask("aimAtPoint", { ...point, ...options });
      return { ...outer, local: point };
    },
  };
}

/**
 * @param {Spot} spot
 * @returns {Promise<[Spot, ...Spot[]]>} the innermost first
 */
async function descend(spot) {
  const within = await askMinting(spot.frame, "frameAt", spot.point);
  if (!within) return [spot];
  const inner = await descend({ frame: await childAt(spot.frame, within), point: within.point });
  return [...inner, spot];
}

/**
 * @param {Frame} parent
 * @param {Inner} inner
 * @returns {Promise<Frame>}
 */
export async function childAt(parent, { ref, index }) {
  const { tabId } = parent;
  const others = framesOf(tabId).filter(({ frameId }) => frameId !== 0);
  const found = await Promise.any(others.map((frame) => asChild(frame, parent, index))).catch(
    () => null,
  );
  if (found) return found;
  const unplaced = others.filter(({ place }) => !place);
  if (unplaced.length) await placeByNonce(tabId, unplaced);
  const named = others.find(({ place }) => place?.parent === parent && place.ref === ref);
  if (named) return named;
  throw new CommandError("not_visible", "The frame at this point does not answer.");
}

/**
 * @param {Frame} frame
 * @param {Frame} parent
 * @param {number} index
 */
async function asChild(frame, parent, index) {
  const place = await placeByIndex(frame);
  if (place?.parent === parent && place.index === index) return frame;
  throw new Error("another frame");
}
