/** One after the other, on each tab. */

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
