/** The tab the person looks at. */

/**
 * If the panel itself is open in a tab, the tab used before it counts.
 * @param {{id?: number, url?: string, title?: string, active: boolean, windowId: number, lastAccessed?: number}[]} tabs
 * @param {number | undefined} windowId the panel's own window
 * @param {string} home what our own pages begin with
 */
export function lookedAt(tabs, windowId, home) {
  const others = tabs.filter(({ url }) => !url?.startsWith(home));
  const here = others.filter((tab) => tab.windowId === windowId);
  const recent = (here.length ? here : others).toSorted(
    (a, b) => Number(b.active) - Number(a.active) || (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0),
  );
  return recent[0];
}

/** @returns {Promise<LookedAt | null>} */
export async function findLookedAt() {
  const [tabs, { id: windowId }] = await Promise.all([
    chrome.tabs.query({}),
    chrome.windows.getCurrent(),
  ]);
  const found = lookedAt(tabs, windowId, chrome.runtime.getURL(""));
  return found?.id === undefined
    ? null
    : { id: found.id, title: found.title ?? "", url: found.url ?? "" };
}

/** @param {() => void} changed */
export function watchTabs(changed) {
  chrome.tabs.onActivated.addListener(changed);
  chrome.tabs.onRemoved.addListener(changed);
  chrome.tabs.onUpdated.addListener((_, { url, title }) => {
    if (url !== undefined || title !== undefined) changed();
  });
  chrome.windows.onFocusChanged.addListener(changed);
}
