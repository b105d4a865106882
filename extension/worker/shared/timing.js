/** Ending what was cancelled. */

import { CommandError } from "./command-errors.js";

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

// Waiting for an answer, but not for ever.

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

// One after the other, on each tab.

export class Turns {
  /** @type {Map<number, Promise<unknown>>} the last of each tab */
  #last = new Map();

  /**
   * What is cancelled before its turn comes is not begun.
   * @template T
   * @param {number} tabId
   * @param {AbortSignal} signal
   * @param {() => Promise<T>} work
   */
  async take(tabId, signal, work) {
    const before = this.#last.get(tabId);
    const turn = (async () => {
      await before?.catch(() => {});
      signal.throwIfAborted();
      return work();
    })();
    this.#last.set(tabId, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(tabId) === turn) this.#last.delete(tabId);
    }
  }
}

// What has been seen to happen, for those who look back and those who wait.

/** @template {string} Name */
export class Observations {
  /** @type {Map<Name, unknown>} */
  #seen = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * The first one counts.
   * @param {Name} name
   * @param {unknown} [what]
   */
  note(name, what) {
    if (!this.#seen.has(name)) this.#seen.set(name, what);
    this.#waiting.forEach((check) => check());
  }

  /** @param {Name[]} names */
  has(...names) {
    return names.some((name) => this.#seen.has(name));
  }

  /**
   * @param {Name} name
   * @returns {any}
   */
  get(name) {
    return this.#seen.get(name);
  }

  /**
   * @param {number} ms
   * @param {Name[]} names any of them ends the waiting
   */
  async until(ms, ...names) {
    if (this.has(...names)) return;
    /** @type {PromiseWithResolvers<void>} */
    const { promise, resolve } = Promise.withResolvers();
    const check = () => this.has(...names) && resolve();
    const timer = setTimeout(resolve, ms);
    this.#waiting.add(check);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(check);
  }
}

// Notices when something comes faster than anyone could want it.

const WINDOW_MS = 1000;

export class RateLimit {
  #most;
  #since = 0;
  #count = 0;

  /** @param {number} most in a second */
  constructor(most) {
    this.#most = most;
  }

  /**
   * @param {number} now in milliseconds
   * @returns {boolean} whether this is one too many
   */
  note(now) {
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count > this.#most;
  }
}
