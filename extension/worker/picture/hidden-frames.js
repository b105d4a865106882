/**
 * For commands that show the whole page: a picture contains every frame, so there must be none,
 * even for a moment, that the caller may not see.
 */

import { framesOf } from "../frames/frames.js";
import { isFromServer } from "../frames/frame-origins.js";
import { siteOf } from "../shared/known-tabs.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{tabId: number, frameId: number, url: string}} Commit */

/**
 * @template T
 * @param {Context} context
 * @param {() => Promise<T>} draw
 * @returns {Promise<T>}
 */
export async function whileAllShown(context, draw) {
  const { tabId, reach } = context;
  if (reach.isEverywhere) return draw();
  /** @type {Set<string>} URLs of frames that are or were there */
  const shown = new Set();
  const note = (/** @type {Commit} */ commit) => {
    if (commit.tabId === tabId && commit.frameId !== 0) shown.add(commit.url);
  };
  chrome.webNavigation.onCommitted.addListener(note);
  try {
    await requireAll(context, shown);
    const drawn = await draw();
    await requireAll(context, shown);
    return drawn;
  } finally {
    chrome.webNavigation.onCommitted.removeListener(note);
  }
}

/**
 * @param {Context} context
 * @param {Set<string>} shown
 */
async function requireAll({ tabId, site, reach }, shown) {
  // The browser lists a frame before its content script connects.
  const listed = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  for (const { frameId, url, errorOccurred } of listed) {
    if (frameId !== 0 && !errorOccurred) shown.add(url);
  }
  const frames = framesOf(tabId).filter(({ frameId }) => frameId !== 0);
  const places = [...shown].filter(isFromServer).map(siteOf);
  const sites = new Set([...frames.map((frame) => frame.site), ...places]);
  await reach.learn(sites, site);
  sites.forEach((one) => reach.requireSite(one));
}
