/** An agent has left a tab, or a person has taken it back: what was put upon it ends. */

/** @type {Set<(tabId: number) => Promise<unknown>>} */
const listeners = new Set();

/** @param {(tabId: number) => Promise<unknown>} listener */
export function onLetGo(listener) {
  listeners.add(listener);
}

/** @param {number} tabId */
export async function letGo(tabId) {
  await Promise.allSettled([...listeners].map((listener) => listener(tabId)));
}

/** @param {import("./navigation.js").Context} context */
export async function releaseTab({ tabId }) {
  await letGo(tabId);
  return {};
}
