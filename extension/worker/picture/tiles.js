/** Areas of a page in CSS pixels, and the tiles in which they are drawn. */

import { CommandError } from "../shared/command-errors.js";

/** The browser draws larger tiles slowly, wrongly or never. */
const TILE = 2000;
const MOST_THIN = 30;
const MOST_SIDE = 16_000;
const MOST_PIXELS = 32_000_000;

/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {{width: number, height: number}} Size */
/** @typedef {{box: Box, place: Box}} Tile an area of the page, and where it goes in the picture */

/**
 * The scale at which the picture of an area has a possible size.
 * @param {Box} area
 * @param {number} wanted
 */
export function fit({ width, height }, wanted) {
  const bySide = MOST_SIDE / Math.max(width, height);
  return Math.min(wanted, bySide, Math.sqrt(MOST_PIXELS / (width * height)));
}

/**
 * @param {Size} area
 * @param {number} scale
 * @returns {Size} of its picture
 */
export function pixelsOf({ width, height }, scale) {
  const pixels = (/** @type {number} */ length) => Math.max(1, Math.round(length * scale));
  return { width: pixels(width), height: pixels(height) };
}

/**
 * @param {Box} area
 * @param {number} scale
 * @returns {Tile[]}
 */
export function tilesOf(area, scale) {
  const whole = pixelsOf(area, scale);
  // Whole pixels of the picture, to avoid seams.
  const step = Math.max(1, Math.floor(TILE * Math.min(1, scale)));
  return starts(whole.height, step).flatMap((y) =>
    starts(whole.width, step).map((x) => {
      const left = { width: whole.width - x, height: whole.height - y };
      const size = thicker(Math.min(step, left.width), Math.min(step, left.height));
      const place = { x, y, ...size };
      const box = { x: area.x + x / scale, y: area.y + y / scale, ...divided(size, scale) };
      return { box, place };
    }),
  );
}

/**
 * The browser does not draw very thin areas; the surplus falls outside the picture.
 * @param {number} width
 * @param {number} height
 */
function thicker(width, height) {
  const least = Math.ceil(Math.max(width, height) / MOST_THIN);
  return { width: Math.max(width, least), height: Math.max(height, least) };
}

/**
 * @param {Size} size
 * @param {number} scale
 */
function divided({ width, height }, scale) {
  return { width: width / scale, height: height / scale };
}

/**
 * @param {number} length
 * @param {number} step
 */
function starts(length, step) {
  return Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step);
}

/**
 * @param {Box} box
 * @param {Box} outer
 */
export function isWithin(box, outer) {
  const slack = 0.5;
  return (
    box.x >= outer.x - slack &&
    box.y >= outer.y - slack &&
    box.x + box.width <= outer.x + outer.width + slack &&
    box.y + box.height <= outer.y + outer.height + slack
  );
}

/**
 * A region given within a frame, as an area of the page.
 * @param {Wire.Region} region
 * @param {Box} frame
 * @returns {Box}
 */
export function inside({ x = NaN, y = NaN, width = NaN, height = NaN }, frame) {
  const box = { x: frame.x + x, y: frame.y + y, width, height };
  const isThere = [x, y, width, height].every(Number.isFinite) && width > 0 && height > 0;
  if (isThere && isWithin(box, frame)) return box;
  const message = `The region must lie within ${frame.width}x${frame.height} pixels.`;
  throw new CommandError("invalid_arguments", message);
}

/**
 * A box in the viewport, as an area of the page.
 * @param {Box} box
 * @param {{viewport: Box, size: Size}} page
 * @returns {Box}
 */
export function onThePage(box, { viewport, size }) {
  const left = Math.max(0, box.x + viewport.x);
  const top = Math.max(0, box.y + viewport.y);
  const right = Math.min(box.x + viewport.x + box.width, Math.max(size.width, viewport.width));
  const bottom = Math.min(box.y + viewport.y + box.height, Math.max(size.height, viewport.height));
  if (right > left && bottom > top) {
    return { x: left, y: top, width: right - left, height: bottom - top };
  }
  throw new CommandError("not_visible", "The element lies outside of the page.");
}
