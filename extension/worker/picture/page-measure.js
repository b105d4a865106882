/** The size of a page, and the part of it that is in view. */

import { send } from "../debugger/debugger.js";
import { framesOf } from "../frames/frames.js";
import { within } from "../shared/timing.js";

const ANSWER_MS = 10_000;
const VIEWPORT_MS = 2000;

/**
 * @typedef {object} Page in CSS pixels
 * @property {import("./tiles.js").Box} viewport the part of the page that is in view
 * @property {boolean} isExact whether the viewport is known with its scrollbars
 * @property {number} inner its width without them
 * @property {import("./tiles.js").Size} size
 * @property {number} zoom of CSS pixels, to those that the debugger counts in
 * @property {number} density of those, to the pixels of a screen
 */

/**
 * @param {number} tabId
 * @returns {Promise<Page>}
 */
export async function measure(tabId) {
  const [metrics, seen] = await Promise.all([
    within(ANSWER_MS, send(tabId, "Page.getLayoutMetrics")),
    withScrollbars(tabId),
  ]);
  const { cssVisualViewport: view, cssLayoutViewport: css, layoutViewport: device } = metrics;
  const { width, height } = seen ?? { width: view.clientWidth, height: view.clientHeight };
  const zoom = view.zoom || 1;
  return {
    viewport: { x: view.pageX, y: view.pageY, width, height },
    isExact: seen !== null,
    inner: css.clientWidth,
    size: { width: metrics.cssContentSize.width, height: metrics.cssContentSize.height },
    zoom,
    density: Math.round((device.clientWidth / css.clientWidth / zoom) * 100) / 100 || 1,
  };
}

/**
 * @param {number} tabId
 * @returns {Promise<{width: number, height: number} | null>} null where our script is not
 */
async function withScrollbars(tabId) {
  const main = framesOf(tabId).find(({ frameId }) => frameId === 0);
  return main ? main.ask("viewport", {}, VIEWPORT_MS).catch(() => null) : null;
}
