/** What has been seen to happen, for those who look back and those who wait. */

/** @template {string} Name */
export class Sightings {
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
