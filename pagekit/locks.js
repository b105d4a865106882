/**
 * Who still lives, told by Web Locks: the browser frees a lock with whoever held it, even after a
 * crash, and no timer is needed, which a hidden tab would be late for. Pages that are no secure
 * context have no locks: there the closing of ports has to do.
 */

import { newTabId } from "./tabid.js";

/** @typedef {{name?: string, release?: () => void}} Hold */

/** @returns {Promise<Hold>} a lock held until it is released */
export function hold() {
  const name = `tabhub:${newTabId()}`;
  return new Promise((taken) => {
    const until = () => new Promise((done) => taken({ name, release: () => done(0) }));
    request(name, until).catch(() => taken({}));
  });
}

/**
 * @param {string | undefined} name a lock that somebody else holds
 * @param {() => void} gone called when they do no more
 */
export function whenReleased(name, gone) {
  if (name) request(name, gone).catch(() => {});
}

/**
 * @param {string} name
 * @param {() => unknown} held
 */
async function request(name, held) {
  await navigator.locks.request(name, held);
}
