/** Cancelling, time limits, turns, waiting for observations, rate limits. */

import { CommandError } from "./command-errors.js";

/**
 * Calls the listener at once if the signal is already aborted.
 * @param {AbortSignal} signal
 * @param {(reason: unknown) => void} listener
 * @returns {() => void} stops listening
 */
export function onAbort(signal, listener) {
  const notify = () => listener(signal.reason);
  if (signal.aborted) notify();
  else signal.addEventListener("abort", notify);
  return () => signal.removeEventListener("abort", notify);
}

/**
 * Does not start the work after an abort, and stops waiting for it on one.
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

// Waiting with a time limit.

/**
 * Stops waiting after the time limit; the promise itself goes on.
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

// One piece of work at a time in each tab.

export class Turns {
  /** @type {Map<number, Promise<unknown>>} the last one in each tab */
  #last = new Map();

  /**
   * Work that is cancelled before its turn does not start.
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

// What has been observed, for code that looks back and code that waits.

/** @template {string} Name */
export class Observations {
  /** @type {Map<Name, unknown>} */
  #seen = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * The first observation of a name counts.
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
   * @param {Name[]} names any of them ends the wait
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

// Detects when something comes faster than allowed.

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
