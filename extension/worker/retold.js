/**
 * A page that comes back from the back/forward cache has all its messages told again by the
 * browser. They are known by their time, which is exact to the microsecond.
 */

export class Retold {
  /** @type {Set<number>} the times of the latest messages, in the order of their coming */
  #times = new Set();
  #most;
  #latest = 0;
  #left = 0;

  /** @param {number} most */
  constructor(most) {
    this.#most = most;
  }

  /** A document has gone: what was told until now may be told again. */
  left() {
    this.#left = this.#latest;
  }

  /**
   * Whether a message of this time was told before; if not, it is known from now on.
   * @param {number} time
   */
  knows(time) {
    if (time <= this.#left && this.#times.has(time)) return true;
    this.#latest = Math.max(this.#latest, time);
    this.#times.add(time);
    if (this.#times.size > this.#most)
      this.#times.delete(Number(this.#times.values().next().value));
    return false;
  }
}
