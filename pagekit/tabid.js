/** The id of a tab: kept in sessionStorage, so that it lives through reloads and navigation. */

const KEY = "tabhub.tabId";

/** The window of this tab, as far out as we may look: its page and our frames in it are one. */
export function outermost() {
  try {
    return /** @type {any} */ (top).document.defaultView;
  } catch {
    return window;
  }
}

/**
 * What all documents and clients in one window have in common, and its copy has not.
 * @param {any} root
 * @returns {string}
 */
export function contextOf(root) {
  return (root[KEY] ??= newTabId());
}

/**
 * Frames in pages of other sites share a storage, but no tab.
 * @param {any} root
 */
export function loadTabId(root) {
  const kept = root === top && inStorage((storage) => storage.getItem(KEY));
  return kept || contextOf(root);
}

/**
 * @param {any} root
 * @param {string} id
 */
export function keepTabId(root, id) {
  if (root === top) inStorage((storage) => storage.setItem(KEY, id));
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
