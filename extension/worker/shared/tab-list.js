/** The tabs of the browser, kept from its events: to ask for them takes longer than all the rest. */

/** @type {Map<number, chrome.tabs.Tab> | undefined} undefined: the browser has to be asked */
let kept;
/** Counts what could make an answer old that is on its way. */
let events = 0;
let isListening = false;

/** Which tabs there are, their order or which is in front is another now. */
function forget() {
  events++;
  kept = undefined;
}

/**
 * @param {number} tabId
 * @param {chrome.tabs.Tab} tab
 */
function update(tabId, tab) {
  events++;
  if (kept?.has(tabId)) kept.set(tabId, tab);
  else kept = undefined;
}

/** Must be called while the worker's script runs: listeners added later miss events. */
export function listenToTabs() {
  const { tabs } = chrome;
  isListening = true;
  tabs.onUpdated.addListener((tabId, _, tab) => update(tabId, tab));
  tabs.onCreated.addListener(forget);
  tabs.onRemoved.addListener(forget);
  tabs.onReplaced.addListener(forget);
  tabs.onActivated.addListener(forget);
  tabs.onMoved.addListener(forget);
  tabs.onAttached.addListener(forget);
  tabs.onDetached.addListener(forget);
}

/** @returns {Promise<chrome.tabs.Tab[]>} */
export async function allTabs() {
  if (kept) return [...kept.values()];
  const before = events;
  const tabs = await chrome.tabs.query({});
  if (isListening && events === before) kept = new Map(tabs.map((tab) => [tab.id ?? -1, tab]));
  return tabs;
}
