/** Why the debugger is kept on which tabs; survives a restart of the worker. */

export class Holds {
  /** @type {Map<number, Set<string>>} */
  #reasons = new Map();
  #save;

  /** @param {(all: [number, string[]][]) => void} save */
  constructor(save) {
    this.#save = save;
  }

  /** @param {number} tabId */
  has(tabId) {
    return this.#reasons.has(tabId);
  }

  /** @param {string} why */
  tabsOf(why) {
    return [...this.#reasons].filter(([, reasons]) => reasons.has(why)).map(([tabId]) => tabId);
  }

  /**
   * @param {number} tabId
   * @param {string} why
   */
  add(tabId, why) {
    const reasons = this.#reasons.get(tabId) ?? new Set();
    if (reasons.has(why)) return;
    this.#reasons.set(tabId, reasons.add(why));
    this.#changed();
  }

  /**
   * @param {number} tabId
   * @param {string} why
   * @returns {boolean} whether nothing holds the tab any longer
   */
  remove(tabId, why) {
    const reasons = this.#reasons.get(tabId);
    if (!reasons?.delete(why)) return false;
    if (!reasons.size) this.#reasons.delete(tabId);
    this.#changed();
    return !reasons.size;
  }

  /** @param {number} tabId */
  forget(tabId) {
    if (this.#reasons.delete(tabId)) this.#changed();
  }

  /**
   * @param {unknown} stored
   * @param {number[]} attached tabs with the debugger still attached: the others are no longer held
   */
  load(stored, attached) {
    const entries = Array.isArray(stored) ? stored : [];
    for (const [tabId, reasons] of entries) {
      if (attached.includes(tabId)) this.#reasons.set(tabId, new Set(reasons));
    }
    if (this.#reasons.size !== entries.length) this.#changed();
  }

  /** @returns {[number, string[]][]} */
  get all() {
    return [...this.#reasons].map(([tabId, reasons]) => [tabId, [...reasons]]);
  }

  #changed() {
    this.#save(this.all);
  }
}
