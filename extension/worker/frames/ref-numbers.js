/**
 * Which numbers the frames of a tab may use for their refs.
 * The main frame mints 1 to 99,999, going on where the document before it stopped, so that a
 * ref of an earlier page never means something on a later one. Every other document has a
 * slot of its own: slot × 100,000 and up.
 */

export const SLOT_SIZE = 100_000;
const REF = /^ref_([1-9]\d{0,11})$/;

/** @typedef {{slot: number, next: number}} Range */
/** @typedef {{nextMain: number, nextSlot: number}} Book */

/** @param {number} number */
export function formatRef(number) {
  return `ref_${number}`;
}

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

export class SlotBooks {
  /** @type {Map<number, Book>} */
  #books = new Map();

  /** @param {number} tabId */
  #book(tabId) {
    const book = this.#books.get(tabId) ?? { nextMain: 1, nextSlot: 1 };
    this.#books.set(tabId, book);
    return book;
  }

  /**
   * @param {number} tabId
   * @param {boolean} isMain
   * @returns {Range}
   */
  assign(tabId, isMain) {
    const book = this.#book(tabId);
    if (isMain) return { slot: 0, next: book.nextMain };
    const slot = book.nextSlot++;
    return { slot, next: slot * SLOT_SIZE };
  }

  /**
   * A frame tells how far it has come, or, to a worker that forgot, what it holds.
   * @param {number} tabId
   * @param {Range} range
   * @returns {boolean} whether that was news
   */
  note(tabId, { slot, next }) {
    const book = this.#book(tabId);
    const { nextMain, nextSlot } = book;
    if (slot === 0) book.nextMain = next < SLOT_SIZE ? Math.max(nextMain, next) : 1;
    else book.nextSlot = Math.max(nextSlot, slot + 1);
    return book.nextMain !== nextMain || book.nextSlot !== nextSlot;
  }

  /** @param {number} tabId */
  forget(tabId) {
    return this.#books.delete(tabId);
  }

  dump() {
    return [...this.#books];
  }

  /**
   * Frames may have said hello before: what they did not know counts as well.
   * @param {unknown} dumped
   */
  load(dumped) {
    for (const [tabId, { nextMain, nextSlot }] of Array.isArray(dumped) ? dumped : []) {
      const book = this.#book(tabId);
      book.nextMain = Math.max(book.nextMain, nextMain);
      book.nextSlot = Math.max(book.nextSlot, nextSlot);
    }
  }
}
