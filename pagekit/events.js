/** A short form of `addEventListener`, which keeps the build small. */

/**
 * @param {EventTarget} target
 * @param {string} type
 * @param {(event: any) => void} listener
 * @param {AbortSignal} [signal]
 */
export function on(target, type, listener, signal) {
  target.addEventListener(type, listener, { signal });
}
