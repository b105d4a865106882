/**
 * Pages that the browser forgot to load: when it starts, an extension that may watch requests can
 * make it lose the first navigation of a tab, which then stays blank with the address it was for.
 */

const LOOKS_MS = [100, 500, 1500, 4000];

export function findLostLoads() {
  for (const delay of LOOKS_MS) setTimeout(() => void loadLost(), delay);
}

async function loadLost() {
  const tabs = await chrome.tabs.query({ status: "complete" });
  await Promise.allSettled(tabs.filter(isLost).map(load));
}

/**
 * A navigation that is under way would show the tab as loading.
 * @param {chrome.tabs.Tab} tab
 */
export function isLost({ url, pendingUrl }) {
  return !url && /^(https?|file):/i.test(pendingUrl ?? "");
}

/** @param {chrome.tabs.Tab} tab */
function load({ id, pendingUrl }) {
  return chrome.tabs.update(/** @type {number} */ (id), { url: pendingUrl });
}
