/** Notices when something comes faster than anyone could want it. */

const WINDOW_MS = 1000;

export class Flood {
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
