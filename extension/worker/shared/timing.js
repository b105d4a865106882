/** Ending what was cancelled. */

/**
 * Calls at once when it is too late to listen.
 * @param {AbortSignal} signal
 * @param {(reason: unknown) => void} listener
 * @returns {() => void} stops listening
 */
export function onAbort(signal, listener) {
  const tell = () => listener(signal.reason);
  if (signal.aborted) tell();
  else signal.addEventListener("abort", tell);
  return () => signal.removeEventListener("abort", tell);
}

/**
 * Does not begin after an abort, and does not wait for what goes on after one.
 * @template T
 * @param {AbortSignal} signal
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function unlessAborted(signal, work) {
  signal.throwIfAborted();
  /** @type {PromiseWithResolvers<never>} */
  const { promise: aborted, reject } = Promise.withResolvers();
  const stop = onAbort(signal, reject);
  try {
    const working = work(signal);
    working.catch(() => {});
    return await Promise.race([working, aborted]);
  } finally {
    stop();
  }
}
