/** page.scroll: the page, or what scrolls inside it. */

import { actAndRest, effectOf, inTurnWithHand, untilIdle } from "./act.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { mainFrame } from "../frames/frames.js";
import { toldOf } from "./hand.js";
import { waitUntilDrawn } from "../onlooker.js";
import { requireKnownSite } from "../sites.js";
import { isPoint } from "../spots.js";
import { findTarget, outward } from "./targets.js";
import { wheelAt } from "../wheel.js";

/** @import { Context } from "../tabs/navigation.js" */
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
    const { frame, place } = await findPlace(context);
    /** @type {Scrolled} nothing is known if a dialog opens while it is done */
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
    return { effect: { ...effectOf(outcome), moved, position }, ...toldOf(hand, wheel), wheel };
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
 * @param {import("../reach.js").Reach} reach
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
