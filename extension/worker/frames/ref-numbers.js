/**
 * Which numbers the frames of a tab use for their refs. The main frame uses 1 to 99,999 and
 * continues where the previous document stopped, so that a ref of an earlier page never means
 * something on a later one. Every other document has a slot of its own: slot × 100,000 and up.
 */

const SLOT_SIZE = 100_000;
const REF = /^ref_([1-9]\d{0,11})$/;

/** @typedef {{slot: number, next: number}} Range */
/** @typedef {{nextMain: number, nextSlot: number}} TabNumbers */

/**
 * @param {unknown} ref
 * @returns {number | null}
 */
export function parseRef(ref) {
  const match = typeof ref === "string" ? REF.exec(ref) : null;
  return match ? Number(match[1]) : null;
}

/** @param {number} number */
export function slotOf(number) {
  return Math.floor(number / SLOT_SIZE);
}

export class RefNumbers {
  /** @type {Map<number, TabNumbers>} */
  #tabs = new Map();

  /** @param {number} tabId */
  #numbersOf(tabId) {
    const numbers = this.#tabs.get(tabId) ?? { nextMain: 1, nextSlot: 1 };
    this.#tabs.set(tabId, numbers);
    return numbers;
  }

  /**
   * @param {number} tabId
   * @param {boolean} isMain
   * @returns {Range}
   */
  assign(tabId, isMain) {
    const numbers = this.#numbersOf(tabId);
    if (isMain) return { slot: 0, next: numbers.nextMain };
    const slot = numbers.nextSlot++;
    return { slot, next: slot * SLOT_SIZE };
  }

  /**
   * A frame reports how many numbers it has used, or, to a new worker, which slot it has.
   * @param {number} tabId
   * @param {Range} range
   * @returns {boolean} whether that was new
   */
  note(tabId, { slot, next }) {
    const numbers = this.#numbersOf(tabId);
    const { nextMain, nextSlot } = numbers;
    if (slot === 0) numbers.nextMain = next < SLOT_SIZE ? Math.max(nextMain, next) : 1;
    else numbers.nextSlot = Math.max(nextSlot, slot + 1);
    return numbers.nextMain !== nextMain || numbers.nextSlot !== nextSlot;
  }

  /** @param {number} tabId */
  forget(tabId) {
    return this.#tabs.delete(tabId);
  }

  dump() {
    return [...this.#tabs];
  }

  /**
   * Frames may have connected before this; the larger numbers count.
   * @param {unknown} dumped
   */
  load(dumped) {
    for (const [tabId, { nextMain, nextSlot }] of Array.isArray(dumped) ? dumped : []) {
      const numbers = this.#numbersOf(tabId);
      numbers.nextMain = Math.max(numbers.nextMain, nextMain);
      numbers.nextSlot = Math.max(numbers.nextSlot, nextSlot);
    }
  }
}
