/** Waiting for an answer, but not for ever. */

import { CommandError } from "./shared/command-errors.js";

/**
 * What takes longer is not waited for; it goes on by itself.
 * @template T
 * @param {number} ms
 * @param {Promise<T>} promise
 */
export async function within(ms, promise) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new CommandError("timeout", "The page does not answer.")), ms);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}
