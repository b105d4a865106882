/**
 * Web Locks show which pages and workers still run. The browser releases a lock when its holder
 * ends, even after a crash. This needs no timer, which would fire late in a hidden tab. A page that
 * is not a secure context has no locks: there only a closed port shows that the other side ended.
 */

import { newTabId } from "./tabid.js";

/** @typedef {{name?: string, release?: () => void}} HeldLock */

/** @returns {Promise<HeldLock>} a new lock; empty where there are no locks */
export function holdLock() {
  const name = `tabhub:${newTabId()}`;
  return new Promise((resolve) => {
    const hold = () => new Promise((done) => resolve({ name, release: () => done(0) }));
    request(name, hold).catch(() => resolve({}));
  });
}

/**
 * @param {string | undefined} name a lock that another page or worker holds
 * @param {() => void} released called when its holder has released it or ended
 */
export function whenReleased(name, released) {
  if (name) request(name, released).catch(() => {});
}

/**
 * @param {string} name
 * @param {() => unknown} granted
 */
async function request(name, granted) {
  await navigator.locks.request(name, granted);
}
