/** Listening, in few words. */

/**
 * @param {EventTarget} target
 * @param {string} type
 * @param {(event: any) => void} act
 * @param {AbortSignal} [signal]
 */
export function on(target, type, act, signal) {
  target.addEventListener(type, act, { signal });
}
