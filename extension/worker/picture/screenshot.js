/** page.capture: a picture of the viewport, of the whole page, of an element or of a region. */

import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { inTurnWithTab } from "../input/act.js";
import { findTarget, placeOf, settled } from "../input/targets.js";
import { CommandError } from "../shared/command-errors.js";
import { drawPage, drawViewport } from "./drawing.js";
import { whileAllShown } from "./hidden-frames.js";
import { measure } from "./page-measure.js";
import { fit, inside, isWithin, onThePage, pixelsOf } from "./tiles.js";

// Where in the tab's viewport an element is, in any frame.

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./tiles.js").Box} Box */
/** @typedef {import("../input/trusted-input.js").Point} Point */

/**
 * Brings the element into view first.
 * @param {number} tabId
 * @param {Wire.Named} input
 * @param {import("../shared/command-context.d.ts").Reach} reach
 * @param {AbortSignal} signal
 * @returns {Promise<Box>}
 */
async function boxOf(tabId, input, reach, signal) {
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

const QUALITY = 80;
const FORMATS = ["jpeg", "png"];

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./page-measure.js").Page} Page */
/** @typedef {{format: string, quality: number, scale: number}} Options */
/** @typedef {Options & {maxSide: number}} Wanted */

/** @param {Context<Wire.Capture>} context */
export async function capture(context) {
  const { tabId, input, signal } = context;
  const options = optionsOf(input);
  return inTurnWithTab(context, () =>
    unlessDialog(tabId, signal, (live) => {
      const current = { ...context, signal: live };
      return whileAllShown(current, () => takePicture(current, options));
    }),
  );
}

/**
 * @param {Context<Wire.Capture>} context
 * @param {Wanted} options
 */
async function takePicture(context, options) {
  const { tabId, input, reach, signal } = context;
  await waitUntilDrawn(tabId);
  const element = isElement(input) && (await boxOf(tabId, input, reach, signal));
  const page = await measure(tabId);
  const area = element ? onThePage(element, page) : areaOf(input, page);
  return picture(context, page, area, options);
}

/**
 * @param {Wire.Capture} input
 * @returns {Wanted}
 */
function optionsOf({ format = "jpeg", quality = QUALITY, scale = 1, maxSide = Infinity }) {
  if (!FORMATS.includes(format)) refuse(`format must be ${FORMATS.join(" or ")}.`);
  if (!(quality >= 1 && quality <= 100)) refuse("quality must be between 1 and 100.");
  if (!(scale > 0)) refuse("scale must be more than 0.");
  if (!(maxSide >= 1)) refuse("maxSide must be 1 or more.");
  return { format, quality, scale, maxSide };
}

/**
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  throw new CommandError("invalid_arguments", message);
}

/** @param {Wire.Capture} input */
function isElement({ ref, selector }) {
  return ref !== undefined || selector !== undefined;
}

/**
 * @param {Wire.Capture} input
 * @param {Page} page
 * @returns {Box}
 */
function areaOf({ region, fullPage }, page) {
  const frame = fullPage ? { x: 0, y: 0, ...page.size } : page.viewport;
  return region ? inside(region, frame) : frame;
}

/**
 * @param {Context} context
 * @param {Page} page
 * @param {Box} area
 * @param {Wanted} wanted
 */
async function picture(context, page, area, { maxSide, ...wanted }) {
  // An area that is scaled down keeps its share of the limit.
  const most = Math.min(1, maxSide / Math.max(area.width, area.height));
  const options = { ...wanted, scale: fit(area, wanted.scale * most) };
  // At its own size, the area only has to be drawn once more.
  const isShown = isWithin(area, page.viewport) && options.scale <= page.zoom * page.density;
  const data = await (isShown ? drawViewport : drawPage)(context, page, area, options);
  const { width, height } = page.viewport;
  return {
    data,
    mimeType: `image/${options.format}`,
    ...pixelsOf(area, options.scale),
    scale: options.scale,
    region: area,
    page: page.size,
    viewport: { width, height },
  };
}
