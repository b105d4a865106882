/** Finding elements by a description in words, among everything that is rendered. */
tabhub.define("find", () => {
  const { clean, clip } = tabhub.names;
  const NAME_LENGTH = 100;
  const TEXT_LENGTH = 20_000;
  const STEPS = 32;

  /** Collects items from a walk instead of lines. */
  class Collection {
    /** @type {TabhubItem[]} */
    items = [];
    isFull = false;
    #text = "";
    /** @type {Element | null} */
    #element = null;

    /** @type {TabhubOutline["text"]} */
    text(node) {
      if (!this.#text) this.#element = tabhub.dom.parent(node);
      const room = TEXT_LENGTH - this.#text.length;
      if (room > 0) this.#text += node.data.slice(0, room);
    }

    gap() {
      this.#text += " ";
    }

    flush() {
      const name = clean(this.#text);
      this.#text = "";
      if (!name || !this.#element) return;
      this.items.push({ element: this.#element, role: "text", name, rest: "", hasRef: false });
    }

    /** @type {TabhubOutline["add"]} */
    add(item) {
      this.flush();
      return this.items.push(item);
    }

    /** @type {TabhubOutline["open"]} */
    open(item, depth) {
      return this.add(item, depth);
    }

    close() {}

    addFrame() {}
  }

  /** @typedef {{item: TabhubItem, score: number, reason: string}} Match */

  /**
   * @param {TabhubItem[]} items
   * @param {string} text
   * @param {number} endAt
   */
  function matchesAmong(items, text, endAt) {
    const query = tabhub.matching.query(text);
    /** @type {Match[]} */
    const matches = [];
    for (let i = 0; i < items.length; i++) {
      if (i % STEPS === 0 && performance.now() > endAt) return { matches, whole: false };
      const found = query.match(items[i]);
      if (found) matches.push({ item: items[i], ...found });
    }
    return { matches, whole: true };
  }

  /**
   * @param {Match[]} matches
   * @param {number} share
   */
  function best(matches, share) {
    const top = matches.reduce((most, { score }) => Math.max(most, score), 0);
    return matches.filter(({ score }) => score >= top * share).sort((a, b) => b.score - a.score);
  }

  /** @param {Match} match */
  function describe({ item: { element, role, name }, score, reason }) {
    const type = element instanceof HTMLInputElement ? { type: element.type } : {};
    const ref = `ref_${tabhub.refs.mint(element)}`;
    return { ref, role, name: clip(name, NAME_LENGTH), ...type, reason, score };
  }

  /** @param {number} maxMs */
  function collect(maxMs) {
    const collection = new Collection();
    const root = tabhub.dom.documentElement();
    const options = { filter: "all", depth: Infinity, maxMs };
    const isRead = root ? tabhub.walker.walk(root, options, collection) : true;
    return { items: collection.items, isRead };
  }

  return {
    items: (maxMs) => collect(maxMs).items,
    find({ query, limit, share, maxMs }) {
      const endAt = tabhub.dom.deadline(maxMs);
      const { items, isRead } = collect(maxMs / 2);
      const { matches, whole } = matchesAmong(items, query, endAt);
      const good = best(matches, share);
      return {
        matches: good.slice(0, limit).map(describe),
        total: good.length,
        whole: isRead && whole,
      };
    },
  };
});
