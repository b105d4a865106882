/** Finding elements by a description in words, among everything that is rendered. */
tabhub.define("find", () => {
  const { children, closest, isElement, matches } = tabhub.dom;
  const { clean, clip, textOf } = tabhub.names;
  const NAME_LENGTH = 100;
  const STATE_LENGTH = 150;
  const ROW_LENGTH = 200;
  const CELL_LENGTH = 50;
  const MOST_CELLS = 20;
  const TEXT_LENGTH = 20_000;
  const STEPS = 32;
  const NEAREST = 5;
  const PART_LENGTH = 500;
  const MOST_AROUND = 10;
  const MOST_SHUT = 50;
  const TABLE_ROWS = "tr, [role=row]";
  const ROWS = `${TABLE_ROWS}, li, [role=listitem]`;
  /** It is returned by itself. */
  const TYPE = / type="[^"]*"/;

  /** Collects items from a walk instead of lines. */
  class Collection {
    /** @type {TabhubItem[]} */
    items = [];
    /** @type {Element[]} shown, but shut off by the page */
    shut = [];
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

    /** @type {TabhubOutline["closeTarget"]} */
    closeTarget(number) {
      const [wrapper, inner, ...more] = this.items.slice(number - 1, number + 2);
      const isTwice = inner && !more.length && tabhub.outlines.repeats(wrapper, inner);
      if (isTwice) this.items.splice(number - 1, 1);
    }

    addFrame() {}

    /** @type {TabhubOutline["shutOff"]} */
    shutOff(element) {
      if (this.shut.length < MOST_SHUT) this.shut.push(element);
    }
  }

  /** @typedef {{item: TabhubItem, score: number, reason: string, isNear: boolean}} Match */

  /** What the rows of a page say, each read once for one search. */
  class Rows {
    /** @type {Map<Element, string>} */
    #texts = new Map();

    /** @param {Element} element */
    around(element) {
      const inner = tabhub.dom.parent(element);
      const row = inner && closest(inner, ROWS);
      if (!row) return null;
      const known = this.#texts.get(row) ?? rowText(row);
      this.#texts.set(row, known);
      return { text: known, isOfTable: matches(row, TABLE_ROWS) };
    }
  }

  /** @param {Element} row */
  function rowText(row) {
    const cells = children(row).filter(isElement).slice(0, MOST_CELLS);
    const isOfTable = matches(row, TABLE_ROWS);
    if (!isOfTable) return textOf(row, ROW_LENGTH);
    const texts = cells.map((cell) => textOf(cell, CELL_LENGTH)).filter(Boolean);
    return clip(texts.join(" | "), ROW_LENGTH);
  }

  /**
   * @param {TabhubItem[]} items
   * @param {TabhubQuery} query
   * @param {Rows} rows
   * @param {number} endAt
   */
  function matchesAmong(items, query, rows, endAt) {
    /** @type {Match[]} */
    const found = [];
    for (let i = 0; i < items.length; i++) {
      if (i % STEPS === 0 && performance.now() > endAt) return { found, whole: false };
      const { element } = items[i];
      const match = query.match(items[i], () => rows.around(element)?.text ?? "");
      if (match) found.push({ item: items[i], ...match });
    }
    return { found, whole: true };
  }

  /**
   * @param {Match[]} found
   * @param {number} share
   */
  function best(found, share) {
    const good = found.filter(({ isNear }) => !isNear);
    const top = good.reduce((most, { score }) => Math.max(most, score), 0);
    return good.filter(({ score }) => score >= top * share).sort((a, b) => b.score - a.score);
  }

  /** @param {Match[]} found those that have only something in common with the description */
  function nearest(found) {
    const near = found.filter(({ isNear }) => isNear);
    return near.sort((a, b) => b.score - a.score).slice(0, NEAREST);
  }

  /**
   * @param {Match} match
   * @param {Rows} rows
   */
  function describe({ item: { element, role, name, rest }, score, reason }, rows) {
    const type = element instanceof HTMLInputElement ? { type: element.type } : {};
    const ref = `ref_${tabhub.refs.mint(element)}`;
    const state = clip(rest.replace(TYPE, "").trim(), STATE_LENGTH);
    const row = rows.around(element);
    const isKnown = !row?.isOfTable || row.text === name;
    return {
      ref,
      role,
      name: clip(name, NAME_LENGTH),
      ...type,
      ...(state && { state }),
      ...(isKnown ? {} : { row: row.text }),
      reason,
      score,
    };
  }

  /**
   * @param {number} maxMs
   * @param {{root?: Element | null, isShutToo?: boolean}} [where]
   */
  function collect(maxMs, { root = tabhub.dom.documentElement(), isShutToo = false } = {}) {
    const collection = new Collection();
    const options = { filter: "all", depth: Infinity, maxMs, isShutToo };
    const isRead = root ? tabhub.walker.walk(root, options, collection) : true;
    return { items: collection.items, shut: collection.shut, isRead };
  }

  /**
   * Matches in parts of the page that are shown, but shut off: usually by a dialog.
   * @param {Element[]} shut
   * @param {TabhubQuery} query
   * @param {TabhubFindOptions} options
   * @param {number} endAt
   */
  function behind(shut, query, { limit, share }, endAt) {
    const rows = new Rows();
    const items = shut.flatMap((root) => {
      const left = endAt - performance.now();
      return left > 0 ? collect(left, { root, isShutToo: true }).items : [];
    });
    const good = best(matchesAmong(items, query, rows, endAt).found, share);
    const front = good.length ? tabhub.dialogs.inFront() : null;
    const by = front ? { behind: tabhub.dialogs.describe(front) } : { shutOff: true };
    return good.slice(0, limit).map((match) => ({ ...describe(match, rows), ...by }));
  }

  /**
   * @param {Match[]} good
   * @param {Rows} rows
   */
  function inFront(good, rows) {
    const modal = good.length ? tabhub.dialogs.modal() : null;
    const front = modal && tabhub.dialogs.describe(modal);
    return good.map((match) => {
      const isBehind = modal && !tabhub.dom.holds(modal, match.item.element);
      return { ...describe(match, rows), ...(isBehind && { behind: front }) };
    });
  }

  /** @type {TabhubFind["partAround"]} */
  function partAround(element) {
    const text = textOf(element, PART_LENGTH);
    let part = element;
    for (let level = 0; level < MOST_AROUND; level++) {
      const role = tabhub.roles.of(part, tabhub.dom.tag(part));
      const isMore = textOf(part, PART_LENGTH) !== text;
      const around = tabhub.dom.parent(part);
      if (isMore || tabhub.roles.isLandmark(role) || !around) break;
      part = around;
    }
    return part;
  }

  return {
    partAround,
    items: (maxMs) => collect(maxMs),
    rows: () => new Rows(),
    find(options) {
      const { limit, share, maxMs } = options;
      const endAt = tabhub.dom.deadline(maxMs);
      const query = tabhub.matching.query(options.query);
      const rows = new Rows();
      const { items, shut, isRead } = collect(maxMs / 2);
      const { found, whole } = matchesAmong(items, query, rows, endAt);
      const good = best(found, share);
      return {
        matches: inFront(good.slice(0, limit), rows),
        total: good.length,
        hidden: good.length ? [] : behind(shut, query, options, endAt),
        nearest: good.length ? [] : nearest(found).map((match) => describe(match, rows)),
        whole: isRead && whole,
        isLoading: !tabhub.dom.isComplete(),
      };
    },
  };
});
