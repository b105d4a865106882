/** The id of a tab. It is stored in sessionStorage, so it survives reload and navigation. */

const KEY = "tabhub.tabId";

/** The top window of this tab if it has our origin, otherwise this frame's own window. */
export function outermost() {
  try {
    return /** @type {any} */ (top).document.defaultView;
  } catch {
    return window;
  }
}

/**
 * An id that all documents and clients below this window share; a duplicated tab has another one.
 * @param {any} root
 * @returns {string}
 */
export function contextOf(root) {
  return (root[KEY] ??= newTabId());
}

/**
 * A frame in a page of another site does not use the stored id, which may belong to another frame.
 * @param {any} root
 */
export function loadTabId(root) {
  const stored = root === top && inStorage((storage) => storage.getItem(KEY));
  return stored || contextOf(root);
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

/** Pages that are not a secure context have no `crypto.randomUUID`. */
export function newTabId() {
  const uuid = globalThis.crypto?.randomUUID?.();
  return uuid ?? `fallback_${Date.now()}_${Math.random().toString(36).slice(2, 12)}`;
}

/**
 * The browser may block the storage; then the id lasts as long as the document.
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
