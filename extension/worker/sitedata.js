/** site.clear: what a site has stored in this browser. */

import { CommandError, messageOf } from "./shared/command-errors.js";
import { requireKnownSite } from "./sites.js";

/** What the caller calls it, and the browser. */
const KINDS = /** @type {const} */ ({
  cookies: ["cookies"],
  localStorage: ["localStorage"],
  cache: ["cache", "cacheStorage"],
  indexedDB: ["indexedDB"],
  serviceWorkers: ["serviceWorkers"],
});

/** @param {import("./tabs/navigation.js").Context<Wire.ClearSiteData>} context */
export async function clearSiteData({ tabId, input, site, signal }) {
  const { origin, kinds } = input;
  const names = /** @type {(keyof typeof KINDS)[]} */ (kinds).flatMap((kind) => KINDS[kind]);
  const types = Object.fromEntries(names.map((name) => [name, true]));
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  await chrome.browsingData.remove({ origins: [origin] }, types).catch((error) => {
    throw new CommandError("invalid_arguments", `Nothing was removed: ${messageOf(error)}`);
  });
  return { cleared: kinds };
}
