/** Finding the element or the point that a command names, in any frame, and where to press. */

import { parseRef } from "../frames/ref-numbers.js";
import { askMinting, frameOfRef, framesOf, lateFrames, mainFrame } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { siteNow } from "../shared/known-tabs.js";
import { hoverAt } from "./trusted-input.js";

// Finding the element that holds a frame, in the frame around it.

const NONCE_MS = 1000;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {{parent: Frame, ref?: number, index?: number}} FramePlace */

/**
 * Most frames are identified by their window index. Frames in shadow roots have none, and the
 * browser does not know the parent of some (blob:): those get a nonce, which they report.
 * @param {number} tabId
 * @param {Frame[]} frames
 */
export async function placeByNonce(tabId, frames) {
  await Promise.allSettled(frames.map((frame) => frame.ask("listen", {}, NONCE_MS)));
  const announced = (await Promise.all(framesOf(tabId).map(announce))).flat();
  await Promise.all(frames.map((frame) => settlePlace(frame, announced)));
}

/** @typedef {{parent: Frame, ref: number, nonce: string}} Announced */

/**
 * @param {Frame} parent
 * @returns {Promise<Announced[]>}
 */
async function announce(parent) {
  const sent = await askMinting(parent, "announce", {}, NONCE_MS).catch(() => []);
  return sent.map((/** @type {{ref: number, nonce: string}} */ one) => ({ parent, ...one }));
}

/**
 * @param {Frame} frame
 * @param {Announced[]} announced
 */
async function settlePlace(frame, announced) {
  const nonce = await frame.ask("heard", {}, NONCE_MS).catch(() => null);
  const found = announced.find((one) => one.nonce === nonce && one.parent !== frame);
  if (found) frame.place = { parent: found.parent, ref: found.ref };
}

/**
 * @param {Frame} frame
 * @returns {Promise<FramePlace>}
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
 * @returns {Promise<FramePlace | undefined>}
 */
async function placeByIndex(frame) {
  const [parentId, index] = await Promise.all([frame.parentId(), frame.ask("index", {})]);
  const parent = framesOf(frame.tabId).find((other) => other.frameId === parentId);
  return parent && index >= 0 ? { parent, index } : undefined;
}

/** The content script of a frame connects a moment after the page has loaded. */
const LATE_MS = 3000;
const MOVING_MS = 2000;
const LOOK_MS = 100;
/** On a busy machine an animation may stand still for a moment. */
const CALM_LOOKS = 2;
/** What lies over an element while something closes goes away by itself. */
const COVERED_LOOKS = 10;
const STABLE_TRIES = 4;
const HOVER_MS = 4000;

/** @typedef {import("./trusted-input.js").Point} Point */
/**
 * `isGuess`: its frame has not been asked whether it has such an element
 * @typedef {{frame: Frame, how: {ref: number} | {selector: string}, isGuess?: boolean}} Target
 */
/** @typedef {Point & {local: Point}} Located a point of the tab's viewport, and in its own frame */

/**
 * @param {number} tabId
 * @param {Wire.Named} input
 * @param {import("../shared/command-context.d.ts").Reach} reach
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
 * The same for actions that are answered if there is no such element: the only document of a page
 * is taken without asking.
 * @param {number} tabId
 * @param {Wire.Named} input
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<Target>}
 */
export async function guessTarget(tabId, input, reach) {
  const { ref, selector } = input;
  const [main, ...others] = framesOf(tabId);
  const isOnly = main?.frameId === 0 && !others.length;
  if (ref !== undefined || selector === undefined || !isOnly)
    return findTarget(tabId, input, reach);
  return { frame: main, how: { selector: String(selector) }, isGuess: true };
}

/** A guess was wrong. */
export class NotHere extends Error {}

/**
 * @param {number} tabId
 * @param {string} selector
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function findBySelector(tabId, selector, reach) {
  const how = { selector };
  const main = await mainFrame(tabId);
  if (await main.ask("has", how)) return { frame: main, how };
  const frame = (await frameWith(main, how, reach)) ?? (await lateFrameWith(main, how, reach));
  if (!frame)
    throw new CommandError("element_not_found", `Nothing on the page matches ${selector}.`);
  return { frame, how };
}

/**
 * @param {Frame} main
 * @param {{selector: string}} how
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<Frame | undefined>}
 */
async function frameWith(main, how, reach) {
  const others = framesOf(main.tabId).filter((frame) => frame !== main && reach.allows(frame));
  const found = await Promise.all(others.map((frame) => frame.ask("has", how).catch(() => false)));
  return others[found.indexOf(true)];
}

/**
 * The same, once every frame is there that the browser knows of.
 * @param {Frame} main
 * @param {{selector: string}} how
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function lateFrameWith(main, how, reach) {
  const wasLate = await lateFrames(main.tabId, LATE_MS);
  // One that has connected since nobody has asked about yet.
  if (!wasLate && framesOf(main.tabId).every((frame) => reach.allows(frame))) return undefined;
  await reach.explore(framesOf(main.tabId), siteNow(main.tabId));
  return frameWith(main, how, reach);
}

/**
 * Where on the tab's viewport a press reaches the element.
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {any} [options] `mayBeDisabled`, `scrolls`, and `by`: which input is expected there
 * @returns {Promise<Point>}
 */
async function aim(target, signal, options = {}) {
  const { local, ...point } = await locate(target, signal, options);
  const { frame } = target;
  // Where no input is expected, nothing would report a movement.
  const isTried = frame.frameId !== 0 && options.by !== "nothing";
  if (isTried) await untilHovered(frame, point, signal);
  return point;
}

/**
 * The same, from the frames' own measurements alone.
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {any} [options]
 * @returns {Promise<Located>}
 */
async function locate({ frame, how, isGuess }, signal, options = {}) {
  const body = { ...how, ...options, isGuess };
  const local = await unlessMoving(() => frame.ask("aim", body), signal);
  if (!local) throw new NotHere();
  if (frame.frameId === 0) return { ...local, local };
  return { ...(await settled(() => outward(frame, local))), local };
}

/**
 * An element that unfolds or slides in, or that something still covers, can be pressed in a moment.
 * @template T
 * @param {() => Promise<T>} look
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
      if (!placed || calm === looksAfter(error) || Date.now() > endAt) throw error;
      before = placed;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    signal.throwIfAborted();
  }
}

/** @param {unknown} error */
function looksAfter(error) {
  const isCovered = error instanceof CommandError && error.reason === "covered_by";
  return isCovered ? COVERED_LOOKS : CALM_LOOKS;
}

/**
 * Takes the element's position out of the error, where the caller does not need it.
 * @param {unknown} error
 */
function takePlaced(error) {
  if (!(error instanceof CommandError)) return undefined;
  const { placed, ...data } = error.data;
  error.data = data;
  return placed;
}

/**
 * The browser routes input to frames of other processes by the last drawn frame, which may be older
 * than our measurement. A press must not be tried out, but a movement may.
 * @param {Frame} frame
 * @param {Point} point
 * @param {AbortSignal} signal
 */
async function untilHovered(frame, point, signal) {
  for (const end = Date.now() + HOVER_MS; Date.now() < end;) {
    signal.throwIfAborted();
    await hoverAt(frame.tabId, point);
    if (await frame.ask("hovered", {})) return;
  }
  const message = "The element's frame does not receive the mouse at this point.";
  throw new CommandError("not_visible", message);
}

/**
 * Scrolling in a frame of another process moves the outer frames a little later.
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

// Places to act on: a named element, or whatever is at a point.

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{frame: Frame, point: Point}} FramePoint a point of a frame, in its own coordinates */
/** @typedef {(signal: AbortSignal, options?: any) => Promise<Point>} Aim */
/** @typedef {{ref: number} | {selector: string} | {point: Point}} How */
/**
 * `around`: outer frames, from the inside out; `how`: how its frame finds it; `locate`: like `aim`,
 * but without trying the point with the mouse
 * @typedef {{frame: Frame, around: FramePoint[], how: How, aim: Aim, locate: Locate}} Place
 */
/** @typedef {(signal: AbortSignal, options?: any) => Promise<Located>} Locate */
/** @typedef {{ref: number, index: number}} Inner a frame, as its parent knows it */

/**
 * @param {Wire.Place} [place] a point of the viewport (x, y) or of the page (pageX, pageY)?
 * @returns {boolean}
 */
export function isPoint(place) {
  const { x = place?.pageX, y = place?.pageY } = place ?? {};
  return Number.isFinite(x) && Number.isFinite(y);
}

/**
 * What a person said yes to, for the document that has it: it compares once more when it is acted
 * on, which may be seconds later.
 * @param {{confirmed?: Wire.ConfirmedTarget}} named
 */
export function toCompare({ confirmed }) {
  return confirmed ? { confirmed: { ...confirmed, ref: parseRef(confirmed.ref) } } : {};
}

/**
 * @param {Pick<Context, "tabId" | "reach">} context
 * @param {Wire.Place & {confirmed?: Wire.ConfirmedTarget}} named
 * @param {typeof findTarget} [seek]
 * @returns {Promise<Place>}
 */
export async function findPlace(context, named, seek = findTarget) {
  const place = await placeOfNamed(context, named, seek);
  const compared = toCompare(named ?? {});
  return {
    ...place,
    aim: (signal, options) => place.aim(signal, { ...compared, ...options }),
    locate: (signal, options) => place.locate(signal, { ...compared, ...options }),
  };
}

/**
 * @param {Pick<Context, "tabId" | "reach">} context
 * @param {Wire.Place} named
 * @param {typeof findTarget} seek
 * @returns {Promise<Place>}
 */
async function placeOfNamed({ tabId, reach }, named, seek) {
  if (isPoint(named)) return placeAt(tabId, onlyPoint(named), reach);
  const target = await seek(tabId, named ?? {}, reach);
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
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @returns {Promise<Place>}
 */
async function placeAt(tabId, named, reach) {
  const main = await mainFrame(tabId);
  const outer = await main.ask("pointOf", named);
  const [{ frame, point }, ...others] = await descend({ frame: main, point: outer });
  reach.require(frame);
  return {
    frame,
    around: others.filter((at) => reach.allows(at.frame)),
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
 * @param {FramePoint} at
 * @returns {Promise<[FramePoint, ...FramePoint[]]>} the innermost first
 */
async function descend(at) {
  const within = await askMinting(at.frame, "frameAt", at.point);
  if (!within) return [at];
  const inner = await descend({ frame: await childAt(at.frame, within), point: within.point });
  return [...inner, at];
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
