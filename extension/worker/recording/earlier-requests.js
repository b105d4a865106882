/** Requests from before recording began, as far as the pages themselves still know them. */

import { siteOfDocument } from "../shared/known-tabs.js";
import { clip, URL_LENGTH } from "../shared/clip.js";
import { within } from "../shared/timing.js";

const ANSWER_MS = 1000;

/** @typedef {Omit<import("./network-log.js").Request, "requestId">} Earlier */

/**
 * @param {number} tabId
 * @param {number} before
 * @returns {Promise<Earlier[]>} the earliest first
 */
export async function earlierRequests(tabId, before) {
  try {
    const injected = chrome.scripting.executeScript({
      target: { tabId, allFrames: true },
      func: timingsOfPage,
      injectImmediately: true,
    });
    const results = (await within(ANSWER_MS, injected)).flatMap(({ result }) => result ?? []);
    const all = results.map(requestOf).filter(({ started }) => started < before);
    return all.sort((a, b) => a.started - b.started);
  } catch {
    // A page that is busy, shows a dialog or is protected has nothing to report.
    return [];
  }
}

/** Runs in the page, in our isolated world. */
function timingsOfPage() {
  const { timeOrigin } = performance;
  const all = [
    ...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource"),
  ];
  return all.slice(-1000).map((entry) => ({
    ...entry.toJSON(),
    timeOrigin,
    page: location.href,
    origin: self.origin,
  }));
}

/**
 * @param {any} entry of the page's performance timeline
 * @returns {Earlier}
 */
function requestOf({
  name,
  initiatorType,
  timeOrigin,
  startTime,
  duration,
  page,
  origin,
  ...more
}) {
  const { responseStatus, transferSize, decodedBodySize, nextHopProtocol } = more;
  return {
    url: name,
    method: "",
    type: initiatorType === "navigation" ? "document" : initiatorType || "other",
    started: Math.round(timeOrigin + startTime),
    duration: Math.round(duration),
    ...(responseStatus && { status: responseStatus }),
    ...(nextHopProtocol && { protocol: nextHopProtocol }),
    size: transferSize,
    bodySize: decodedBodySize,
    fromTiming: true,
    page: clip(page, URL_LENGTH),
    site: siteOfDocument(origin, page),
  };
}
