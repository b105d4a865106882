/** history.*: the pages that were visited in this browser. */

import { clip, TITLE_LENGTH, URL_LENGTH } from "../shared/clip.js";

/** @import { Context } from "../shared/command-context.d.ts" */

/** @param {Context<Wire.SearchHistory>} context */
export async function searchHistory({ input }) {
  // By default the browser would search the last day only.
  const { query, maxResults, startTime = 0, endTime } = input;
  const items = await chrome.history.search({
    text: query,
    maxResults,
    startTime,
    ...(endTime !== undefined && { endTime }),
  });
  return { pages: items.map(describe) };
}

/** @param {chrome.history.HistoryItem} item */
function describe({ url = "", title = "", lastVisitTime = 0, visitCount = 0, typedCount = 0 }) {
  const page = { url: clip(url, URL_LENGTH), title: clip(title, TITLE_LENGTH) };
  return { ...page, lastVisitTime, visitCount, typedCount };
}

/** @param {Context<Wire.ListVisits>} context */
export async function getVisits({ input }) {
  const visits = await chrome.history.getVisits({ url: input.url });
  return {
    visits: visits.reverse().map(({ visitId, visitTime = 0, transition, referringVisitId }) => ({
      visitId,
      visitTime,
      transition,
      ...(referringVisitId !== "0" && { referringVisitId }),
    })),
  };
}
