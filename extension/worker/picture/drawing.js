/** Capturing a page, as it is shown or tile by tile. */

import { send } from "../debugger/debugger.js";
import { CommandError } from "../shared/command-errors.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { within } from "../shared/timing.js";
import { measure } from "./page-measure.js";
import { isWithin, pixelsOf, tilesOf } from "./tiles.js";

/** @typedef {import("./tiles.js").Box} Box */

class TiledPicture {
  #canvas;
  #context;

  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.#canvas = new OffscreenCanvas(width, height);
    const context = this.#canvas.getContext("2d");
    if (!context) throw new CommandError("too_large", "The browser has no room for this picture.");
    context.imageSmoothingQuality = "high";
    this.#context = context;
  }

  /**
   * @param {string} data a piece in base64
   * @param {Box} place
   * @param {Box} [source] the part of it that is wanted
   */
  async add(data, { x, y, width, height }, source) {
    const answer = await fetch(`data:image/png;base64,${data}`);
    const bitmap = await createImageBitmap(await answer.blob());
    const from = source ?? { x: 0, y: 0, width: bitmap.width, height: bitmap.height };
    const { x: left, y: top, width: wide, height: high } = from;
    this.#context.drawImage(bitmap, left, top, wide, high, x, y, width, height);
    bitmap.close();
  }

  /**
   * @param {{format: string, quality: number}} how
   * @returns {Promise<string>} in base64
   */
  async encode({ format, quality }) {
    const type = `image/${format}`;
    const blob = await this.#canvas.convertToBlob({ type, quality: quality / 100 });
    const { promise, resolve, reject } = Promise.withResolvers();
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
    const address = /** @type {string} */ (await promise);
    return address.slice(address.indexOf(",") + 1);
  }
}

/** A page that has not drawn a tile by then is too busy. */
const DRAW_MS = 8000;
const MOST_TILES = 120;
const NUDGE = "html { padding-right: 1px !important }";
const NUDGE_MS = 1000;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./screenshot.js").Options} Options */
/** @typedef {import("./page-measure.js").Page} Page */

/**
 * @param {Context} context
 * @param {Page} page
 * @param {Box} area
 * @param {Options} options
 * @returns {Promise<string>} in base64
 */
export async function drawViewport(context, page, area, options) {
  const { viewport, isExact } = page;
  const ratio = page.zoom * page.density;
  const isAll = isExact && isWithin(viewport, area) && options.scale === ratio;
  if (isAll) return draw(context, how(options));
  const { width, height } = pixelsOf(area, options.scale);
  const picture = new TiledPicture(width, height);
  const source = {
    x: (area.x - viewport.x) * ratio,
    y: (area.y - viewport.y) * ratio,
    width: area.width * ratio,
    height: area.height * ratio,
  };
  await picture.add(await draw(context, { format: "png" }), { x: 0, y: 0, width, height }, source);
  return picture.encode(options);
}

/** @param {Options} options */
function how({ format, quality }) {
  return format === "jpeg" ? { format, quality } : { format };
}

/**
 * @param {Context} context
 * @param {object} params
 * @returns {Promise<string>} in base64
 */
async function draw({ tabId, site, signal }, params) {
  signal.throwIfAborted();
  const { data } = await within(DRAW_MS, send(tabId, "Page.captureScreenshot", params));
  requireKnownSite(tabId, site);
  return data;
}

/**
 * @param {Context} context
 * @param {Page} page
 * @param {Box} area
 * @param {Options} options
 * @returns {Promise<string>} in base64
 */
export async function drawPage(context, page, area, options) {
  const tiles = tilesOf(area, options.scale);
  if (tiles.length > MOST_TILES) throw tooLarge(area);
  const { width, height } = pixelsOf(area, options.scale);
  const picture = new TiledPicture(width, height);
  try {
    for (const [index, { box, place }] of tiles.entries()) {
      await picture.add(await drawTile(context, page, box, options.scale), place);
      context.progress(index + 1, tiles.length, "drawing the page");
    }
  } finally {
    await bringScrollbarsBack(context.tabId, page).catch(() => {});
  }
  return picture.encode(options);
}

/** @param {Box} area */
function tooLarge({ width, height }) {
  const size = `${Math.round(width)}x${Math.round(height)}`;
  const message = `${size} pixels are too many for one picture. Give a region.`;
  return new CommandError("too_large", message);
}

/**
 * @param {Context} context
 * @param {Page} page
 * @param {Box} box
 * @param {number} scale
 */
function drawTile(context, { zoom, density, viewport }, box, scale) {
  const clip = {
    x: box.x * zoom,
    y: box.y * zoom,
    width: box.width * zoom,
    height: box.height * zoom,
    scale: scale / zoom / density,
  };
  const captureBeyondViewport = !isWithin(box, viewport);
  return draw(context, { format: "png", clip, captureBeyondViewport });
}

/**
 * To draw parts that are not in view the browser removes the scrollbars, and makes room for them
 * again only at the next layout.
 * @param {number} tabId
 * @param {Page} before
 */
async function bringScrollbarsBack(tabId, before) {
  const { inner } = await measure(tabId);
  if (inner !== before.inner) await within(NUDGE_MS, nudge(tabId));
}

/** @param {number} tabId */
async function nudge(tabId) {
  const style = { target: { tabId }, css: NUDGE, origin: /** @type {const} */ ("USER") };
  await chrome.scripting.insertCSS(style);
  // Measuring makes the browser lay the page out.
  await measure(tabId);
  await chrome.scripting.removeCSS(style);
}
