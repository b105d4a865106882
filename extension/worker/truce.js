/**
 * Whoever replaced us on the server has the same profile: coming back at once would start a
 * fight. The worker may be stopped meanwhile, so the session remembers.
 */

const STORED = "replacedAt";
const TRUCE_MS = 5 * 60_000;

export async function beginTruce() {
  await chrome.storage.session.set({ [STORED]: Date.now() });
}

export async function endTruce() {
  await chrome.storage.session.remove(STORED);
}

export async function isTruce() {
  const replacedAt = Number((await chrome.storage.session.get(STORED))[STORED] ?? 0);
  return Date.now() - replacedAt < TRUCE_MS;
}
