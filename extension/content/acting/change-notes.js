/** Tasks of the page's own queue. */
tabhub.define("tasks", () => {
  const TIMERS_MS = 4;
  const FRAME_MS = 100;

  /** Unlike timers, messages are not throttled in hidden tabs. */
  function next() {
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve(undefined);
      };
      port2.postMessage(0);
    });
  }

  return {
    next,
    frame() {
      return new Promise((resolve) => {
        requestAnimationFrame(resolve);
        // Where nothing is drawn, there are no frames.
        setTimeout(resolve, FRAME_MS);
      });
    },
    async afterTimers() {
      let isPast = false;
      setTimeout(() => (isPast = true));
      for (const end = performance.now() + TIMERS_MS; !isPast && performance.now() < end;)
        await next();
    },
  };
});

/**
 * Notes about what an action changes in the document, from before the action until it is asked
 * for: nodes that came, went or changed, what was hidden, and what fields held. All of it is
 * bounded, however much a page changes.
 */
tabhub.define("changeNotes", () => {
  const { isBefore, isElement, isText, parent, queryAll, root } = tabhub.dom;
  const MOST_NODES = 1000;
  /** At each end of the page, and in each direction from the target. */
  const MOST_FIELDS = 150;
  const FIELDS = "input, select, textarea";
  /** Attributes that the line of an element may show. */
  const SHOWN = new Set(
    (
      "aria-checked aria-current aria-disabled aria-expanded aria-invalid aria-label aria-pressed " +
      "aria-readonly aria-required aria-selected aria-valuenow aria-valuetext alt disabled href " +
      "open placeholder readonly required value"
    ).split(" "),
  );

  class ChangeNotes {
    /** @type {Set<Node>} */
    added = new Set();
    /** @type {Set<Element>} */
    removed = new Set();
    /** @type {Map<Element, Set<string>>} whose state is another one, by attributes */
    changed = new Map();
    /** @type {Set<Element>} whose text is another one */
    retold = new Set();
    /** @type {Set<Text>} that came right into the body, whose first words are others' */
    loose = new Set();
    /** @type {Set<HTMLElement>} fields that the browser finds invalid */
    invalid = new Set();
    /** @type {Set<Element>} what was not rendered, without what is inside it */
    hidden = new Set();
    /** @type {Element[]} */
    overlays = [];
    /** @type {Map<Element, string>} what fields held */
    fields = new Map();
    isFull = false;
    #isLooked = false;
    #foundRoot;

    /**
     * @param {Element} target of the action
     * @param {(root: ShadowRoot) => void} foundRoot
     */
    constructor(target, foundRoot) {
      this.target = target;
      this.#foundRoot = foundRoot;
      this.focused = tabhub.focus.deepest();
      const place = root(target);
      this.#noteFields(document, outermost(target));
      // An element that is not in the document has no such root.
      if (place instanceof ShadowRoot) this.#noteFields(place, target);
    }

    /**
     * @param {Document | ShadowRoot} place
     * @param {Element} target
     */
    #noteFields(place, target) {
      const all = queryAll(place, FIELDS);
      const at = firstBehind(all, target);
      const near = all.slice(Math.max(at - MOST_FIELDS, 0), at + MOST_FIELDS);
      for (const field of [...all.slice(0, MOST_FIELDS), ...near, ...all.slice(-MOST_FIELDS)])
        if (!this.fields.has(field)) this.fields.set(field, stateOf(field));
    }

    lookForHidden() {
      if (this.#isLooked) return;
      this.#isLooked = true;
      const { hidden, overlays, roots } = tabhub.hiddenElements.find(this.target);
      this.hidden = new Set(hidden);
      this.overlays = overlays;
      for (const root of roots) {
        this.#foundRoot(root);
        this.#noteFields(root, this.target);
      }
    }

    /** @param {MutationRecord[]} records */
    note(records) {
      for (const record of records) {
        if (this.isFull) return;
        this.#noteRecord(record);
        const { added, removed, changed, retold, loose } = this;
        const sizes = [added, removed, changed, retold, loose].map(({ size }) => size);
        if (sizes.reduce((sum, size) => sum + size) > MOST_NODES) this.isFull = true;
      }
    }

    /** @param {MutationRecord} record */
    #noteRecord({ type, target, attributeName, addedNodes, removedNodes }) {
      if (type === "attributes") {
        if (SHOWN.has(attributeName ?? "")) this.#noteState(target, String(attributeName));
      } else if (type === "characterData") this.#noteText(target);
      else {
        for (const node of firstOf(removedNodes)) this.#noteRemoved(node, target);
        for (const node of firstOf(addedNodes)) this.#noteAdded(node);
      }
    }

    /**
     * @param {Node} target
     * @param {string} attribute
     */
    #noteState(target, attribute) {
      const element = /** @type {Element} */ (target);
      const known = this.changed.get(element);
      if (known) known.add(attribute);
      else this.changed.set(element, new Set([attribute]));
    }

    /** @param {Node} text */
    #noteText(text) {
      const around = parent(text);
      if (around && around === tabhub.dom.body() && isText(text)) this.loose.add(text);
      else if (around) this.retold.add(around);
    }

    /**
     * @param {Node} node
     * @param {Node} target
     */
    #noteRemoved(node, target) {
      // A node that was only moved, or came and went.
      if (this.added.delete(node)) return;
      // Nobody has seen what was in something hidden.
      if (isElement(node)) this.isUnseen(target) || this.removed.add(node);
      else if (isElement(target)) this.retold.add(target);
    }

    /** Whether it was not rendered before. @param {Node | null} node */
    isUnseen(node) {
      for (let at = node; at; at = parent(at))
        if (this.hidden.has(/** @type {Element} */ (at))) return true;
      return false;
    }

    /** @param {Node} node */
    #noteAdded(node) {
      if (!isElement(node)) this.#noteText(node);
      else if (!this.removed.delete(node)) this.added.add(node);
    }

    /** @param {Event} event */
    noteInvalid({ target }) {
      if (target instanceof HTMLElement && this.invalid.size < MOST_NODES) this.invalid.add(target);
    }

    /** @returns {Element[]} fields that hold something else than before */
    otherFields() {
      return [...this.fields].flatMap(([field, before]) =>
        stateOf(field) === before ? [] : [field],
      );
    }

    /** Whether a box was checked before and is not now. @param {Element} field */
    wasUnchecked(field) {
      return this.fields.get(field) === "true" && stateOf(field) === "false";
    }
  }

  /** @param {NodeList} nodes */
  function firstOf(nodes) {
    return nodes.length > MOST_NODES
      ? Array.from({ length: MOST_NODES + 1 }, (_, i) => nodes[i])
      : nodes;
  }

  /**
   * @param {Element} element
   * @returns {Element} the one of the document itself that it is in
   */
  function outermost(element) {
    const place = root(element);
    return place instanceof ShadowRoot ? outermost(place.host) : element;
  }

  /**
   * @param {Element[]} all in the order of the document
   * @param {Element} target
   * @returns {number} which of them is the first that is not before the target
   */
  function firstBehind(all, target) {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(all[middle], target)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param {Element} field */
  function stateOf(field) {
    const isBox = field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type);
    if (!isBox) return tabhub.values.current(field);
    return field.indeterminate ? "mixed" : String(field.checked);
  }

  /** @type {ChangeNotes | null} */
  let notes = null;
  let isWanted = false;
  const noteInvalid = (/** @type {Event} */ event) => notes?.noteInvalid(event);

  return {
    expect() {
      isWanted = true;
    },
    begin(target, foundRoot) {
      notes = isWanted ? new ChangeNotes(target, foundRoot) : null;
      if (!notes) return;
      window.addEventListener("invalid", noteInvalid, true);
      // While the worker gets the answer to its question, and before the input comes.
      void tabhub.tasks.next().then(() => notes?.lookForHidden());
    },
    lookForHidden: () => notes?.lookForHidden(),
    note: (records) => notes?.note(records),
    now: () => notes,
    take() {
      const taken = notes;
      notes = null;
      isWanted = false;
      window.removeEventListener("invalid", noteInvalid, true);
      return taken;
    },
  };
});
