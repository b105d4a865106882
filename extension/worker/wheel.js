/** Turning the wheel at a point: what scrolls then, if anything, is up to the page. */

import { actAndRest, effectOf, findNamed, requireArrival } from "./input/act.js";
import { CommandError } from "./shared/command-errors.js";
import { toldOf } from "./input/hand.js";

const DISTANCE = 300;
/** @type {Map<string, import("./input/trusted-input.js").Point>} */
const WAYS = new Map([
  ["up", { x: 0, y: -1 }],
  ["down", { x: 0, y: 1 }],
  ["left", { x: -1, y: 0 }],
  ["right", { x: 1, y: 0 }],
]);

/** @typedef {import("./spots.js").Spot} Spot */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./input/scroll-command.js").Moved} Scrolled */

/**
 * For whoever has the turn already.
 * @param {import("./input/hand.js").Handed<Wire.Scroll>} context
 * @param {{direction?: string, distance?: number}} how
 */
export async function wheelAt(context, { direction = "down", distance = DISTANCE }) {
  const way = WAYS.get(direction);
  if (!way || context.input.position !== undefined) throw refusal();
  const by = { x: way.x * distance, y: way.y * distance };
  const { hand } = context;
  const place = await findNamed(context);
  const { frame, around } = place;
  /** @type {Scrolled} */
  let scrolled = {};
  const prepare = async (/** @type {AbortSignal} */ live) => {
    await Promise.all(around.map((spot) => spot.frame.ask("noteScroll", spot.point)));
    return hand.aim(place, live, { by: "wheel", mayBeDisabled: true });
  };
  const outcome = await actAndRest(context, frame, prepare, async (at) => {
    await hand.wheel(frame, at, by, around);
    scrolled = await scrolledIn([frame, ...around.map((spot) => spot.frame)]);
  });
  if (!scrolled.moved) requireArrival(outcome, "turn of the wheel");
  return { effect: { ...effectOf(outcome), ...scrolled }, ...toldOf(hand), wheel: true };
}

/**
 * What cannot scroll further passes the wheel on to what is around it.
 * @param {Frame[]} frames
 * @returns {Promise<Scrolled>} of the frame that scrolled, else of the innermost
 */
async function scrolledIn(frames) {
  const all = await Promise.all(frames.map((frame) => frame.ask("wheeled", {})));
  return all.find(({ moved }) => moved) ?? all[0];
}

function refusal() {
  return new CommandError("invalid_arguments", "At a point, give direction and distance.");
}
