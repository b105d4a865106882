/** Waits for scripts in pages, which may never settle while their page goes away. */

import { TabListeners } from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { afterwards } from "./plugin-answers.js";

/**
 * How long the result of a page that navigates away may still arrive. Usually its port closes first,
 * which ends the wait.
 */
const GRACE_MS = 5000;

const departures = new TabListeners();

/**
 * @template T
 * @param {number} tabId
 * @param {Promise<T>} working
 * @returns {Promise<T>}
 */
export async function unlessLeft(tabId, working) {
  /** @type {PromiseWithResolvers<never>} */
  const { promise: gone, reject } = Promise.withResolvers();
  working.catch(() => {});
  const stop = departures.add(tabId, () => void setTimeout(reject, GRACE_MS, afterwards()));
  try {
    return await Promise.race([working, gone]);
  } finally {
    stop();
    gone.catch(() => {});
  }
}

register({ name: "pages with scripts", committed: (tabId) => departures.call(tabId) });
