/** Tells the server of the tabs: all of them first, then what happens to them. */

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("../tabnews.js").News} News */
/** @typedef {{browser: object, tabs: import("../shared/known-tabs.js").Tab[]}} Introduction */

export class Herald {
  /** @type {Line | null} */
  #line = null;
  /** @type {News[] | null} what happens while the tabs are being listed */
  #held = null;
  #introduction;

  /** @param {(brief?: boolean) => Promise<Introduction>} introduction */
  constructor(introduction) {
    this.#introduction = introduction;
  }

  /** @param {Line} line */
  async opened(line) {
    /** @type {News[]} */
    const held = [];
    this.#held = held;
    this.#line = line;
    try {
      await this.#introduce(line);
    } catch {
      // The server knows nothing of us yet: the next line may fare better.
      line.close();
    } finally {
      // A newer line holds news of its own.
      if (this.#held === held) this.#held = null;
      held.forEach((item) => tell(line, item));
    }
  }

  /** @param {Line} line */
  async #introduce(line) {
    const fits = line.notify("tab.syncAll", await this.#introduction());
    if (!fits) line.notify("tab.syncAll", await this.#introduction(true));
  }

  /**
   * What the introduction tells as well: before it there is no need.
   * @param {string} method
   * @param {object} params
   * @returns {boolean | undefined} false when it is larger than the link carries
   */
  notify(method, params) {
    return this.#held ? undefined : this.#line?.notify(method, params);
  }

  /** @param {News} item */
  tell(item) {
    if (this.#held) this.#held.push(item);
    else if (this.#line) tell(this.#line, item);
  }
}

/**
 * @param {Line} line
 * @param {News} item
 */
function tell(line, item) {
  line.tell("tab.stateChanged", item);
}
