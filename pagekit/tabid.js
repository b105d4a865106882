/** The id of a tab: kept in sessionStorage, so that it lives through reloads and navigation. */

const KEY = "tabhub.tabId";

export function loadTabId() {
  const kept = inStorage((storage) => storage.getItem(KEY));
  return kept || newTabId();
}

/** @param {string} id */
export function keepTabId(id) {
  inStorage((storage) => storage.setItem(KEY, id));
}

export function clearTabId() {
  inStorage((storage) => storage.removeItem(KEY));
}

/** Pages without a secure context have no `crypto.randomUUID`. */
export function newTabId() {
  const uuid = globalThis.crypto?.randomUUID?.();
  return uuid ?? `fallback_${Date.now()}_${Math.random().toString(36).slice(2, 12)}`;
}

/**
 * A browser may refuse a page its storage; then the id lasts as long as the document.
 * @template T
 * @param {(storage: Storage) => T} use
 */
function inStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
