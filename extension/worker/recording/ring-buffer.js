/** The latest entries, limited in number and size. */

/** @template T */
export class Ring {
  /** @type {Map<T, number>} entries with their sizes, the oldest first */
  #sizes = new Map();
  #size = 0;
  #most;
  #mostBytes;
  /** How many entries were dropped. */
  dropped = 0;
  /** @type {(entry: T) => void} */
  onDropped = () => {};

  /**
   * @param {number} most
   * @param {number} mostBytes
   */
  constructor(most, mostBytes) {
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  get entries() {
    return [...this.#sizes.keys()];
  }

  get length() {
    return this.#sizes.size;
  }

  /**
   * Adds an entry, or notes that one has grown; a dropped entry stays dropped.
   * @param {T} entry
   * @param {number} size
   * @param {boolean} [isNew]
   */
  put(entry, size, isNew = true) {
    const before = this.#sizes.get(entry);
    if (before === undefined && !isNew) return;
    this.#sizes.set(entry, size);
    this.#size += size - (before ?? 0);
    while (this.#sizes.size > this.#most || this.#size > this.#mostBytes) this.#dropOldest();
  }

  clear() {
    this.#sizes.clear();
    this.#size = 0;
    this.dropped = 0;
  }

  #dropOldest() {
    const [[entry, size]] = this.#sizes;
    this.#sizes.delete(entry);
    this.#size -= size;
    this.dropped++;
    this.onDropped(entry);
  }
}
