/** page.scroll: scrolls the page, or an element in it. */

import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { mainFrame } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import {
  actAndRest,
  effectOf,
  findNamed,
  inTurnWithHand,
  requireArrival,
  untilIdle,
} from "./act.js";
import { trustOf } from "./hand.js";
import { findTarget, isPoint, outward } from "./targets.js";

// Turning the wheel at a point: the page decides what scrolls, if anything.

const DISTANCE = 300;
/** @type {Map<string, import("./trusted-input.js").Point>} */
const WAYS = new Map([
  ["up", { x: 0, y: -1 }],
  ["down", { x: 0, y: 1 }],
  ["left", { x: -1, y: 0 }],
  ["right", { x: 1, y: 0 }],
]);

/** @typedef {import("./targets.js").FramePoint} FramePoint */
/** @typedef {import("../frames/frames.js").Frame} Frame */

/**
 * For a caller that has the turn already.
 * @param {import("./hand.js").Handed<Wire.Scroll>} context
 * @param {{direction?: string, distance?: number}} how
 */
async function wheelAt(context, { direction = "down", distance = DISTANCE }) {
  const way = WAYS.get(direction);
  if (!way || context.input.position !== undefined) throw wheelRefusal();
  const by = { x: way.x * distance, y: way.y * distance };
  const { hand } = context;
  const place = await findNamed(context);
  const { frame, around } = place;
  /** @type {Moved} */
  let scrolled = {};
  const prepare = async (/** @type {AbortSignal} */ live) => {
    await Promise.all(around.map((at) => at.frame.ask("noteScroll", at.point)));
    return hand.aim(place, live, { by: "wheel", mayBeDisabled: true });
  };
  const outcome = await actAndRest(context, frame, prepare, async (at) => {
    await hand.wheel(frame, at, by, around);
    scrolled = await scrolledIn([frame, ...around.map((at) => at.frame)]);
  });
  if (!scrolled.moved) requireArrival(outcome, "turn of the wheel");
  return { effect: { ...effectOf(outcome), ...scrolled }, ...trustOf(hand), wheel: true };
}

/**
 * A frame that cannot scroll further passes the wheel on to the one around it.
 * @param {Frame[]} frames
 * @returns {Promise<Moved>} of the frame that scrolled, else of the innermost
 */
async function scrolledIn(frames) {
  const all = await Promise.all(frames.map((frame) => frame.ask("wheeled", {})));
  return all.find(({ moved }) => moved) ?? all[0];
}

function wheelRefusal() {
  return new CommandError("invalid_arguments", "At a point, give direction and distance.");
}

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{moved?: boolean, position?: Wire.ScrollPosition}} Moved */
/** @typedef {Moved & {wheel?: {at: Point, by: Point}}} Scrolled */
/** @typedef {import("./trusted-input.js").Point} Point */

const DIRECTIONS = new Set(["up", "down", "left", "right"]);

/** @param {Context<Wire.Scroll>} context */
export async function scroll(context) {
  const { tabId } = context;
  const how = howOf(context.input);
  if (isPoint(context.input)) return inTurnWithHand(context, (handed) => wheelAt(handed, how));
  return inTurnWithHand(context, async (handed) => {
    const { hand } = handed;
    const { frame, place } = await findPlace(handed);
    /** @type {Scrolled} undefined if a dialog opens meanwhile */
    let scrolled = {};
    /** @type {(_: unknown, live: AbortSignal) => Promise<void>} */
    const act = async (_, live) => {
      scrolled = await frame.ask("scroll", { ...place, ...how });
      if (!scrolled.wheel) return;
      const local = scrolled.wheel.at;
      const at = { ...(await outward(frame, local)), local };
      live.throwIfAborted();
      requireKnownSite(tabId, context.site);
      await hand.wheel(frame, at, scrolled.wheel.by);
    };
    const outcome = await actAndRest(handed, frame, () => untilIdle(frame), act);
    const { moved, position } = scrolled;
    const wheel = scrolled.wheel !== undefined;
    return { effect: { ...effectOf(outcome), moved, position }, ...trustOf(hand, wheel), wheel };
  });
}

/** @param {Wire.Scroll} input */
function howOf({ direction, distance, position }) {
  if (direction !== undefined && !DIRECTIONS.has(direction)) {
    throw refusal(`direction must be one of ${[...DIRECTIONS].join(", ")}.`);
  }
  if (direction !== undefined && position !== undefined) {
    throw refusal("Give direction or position, not both.");
  }
  if (distance !== undefined && !(Number.isFinite(distance) && distance > 0)) {
    throw refusal("distance is a number of pixels above 0.");
  }
  const to = position && { x: coordinate(position.x), y: coordinate(position.y) };
  return { direction, distance, to };
}

/** @param {unknown} value */
function coordinate(value) {
  if (value === undefined || Number.isFinite(value)) return value;
  throw refusal("position has numbers x and y.");
}

/** @param {Context<Wire.Scroll>} context */
async function findPlace({ tabId, input, reach, signal }) {
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    const { frame, ...place } = await namedPlace(tabId, input, reach);
    return { frame, place };
  });
}

/**
 * @param {number} tabId
 * @param {Wire.Scroll} input
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function namedPlace(tabId, { ref, selector, container }, reach) {
  const given = [ref, selector, container].filter((value) => value !== undefined);
  if (given.length > 1) throw refusal("Give one of ref, selector and container.");
  if (!given.length) return { frame: await mainFrame(tabId) };
  const named = { ref, selector: selector ?? container };
  const { frame, how } = await findTarget(tabId, named, reach);
  return { frame, ...how, isContainer: container !== undefined };
}

/** @param {string} message */
function refusal(message) {
  return new CommandError("invalid_arguments", message);
}
