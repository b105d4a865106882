/**
 * Which elements listen to presses and drags, as far as the debugger, if it is attached, has told;
 * and which can be dragged, or dropped on.
 */
tabhub.define("listening", () => {
  const { attr, isBare, parent, tag } = tabhub.dom;
  /** Kinds, as bits. */
  const [PRESS, DRAG, DROP] = [1, 2, 4];
  const KINDS = [1, 2, 3, 4, 5, 6, 7];
  const MOST_ELEMENTS = 20_000;
  const MOST_FOUND = 500;
  const LISTEN_MS = 5000;
  /** For the handlers that listen for others. */
  const DELEGATED_MS = 50;
  const PARTIAL = "partial";
  /** Of jQuery UI, and of libraries for React. */
  const DRAG_CLASSES = /(?:^|\s)(?:ui-draggable|ui-sortable-handle)(?:\s|$)/;
  const DROP_CLASSES = /(?:^|\s)ui-droppable(?:\s|$)/;
  const DRAG_WORDS = /draggable|sortable/i;
  const LISTS = new Set(["ul", "ol", "tbody", "table"]);
  /** How far up the list or table of an item is. */
  const ITEM_DEPTHS = new Map([
    ["li", 1],
    ["tr", 2],
  ]);

  /** @type {WeakMap<Element, number>} */
  const kinds = new WeakMap();
  /** Most pages have none. */
  let hasSome = false;
  /** Whether more of them will be told. */
  let isPartial = false;

  /** @param {Element} element */
  const kindOf = (element) => (hasSome ? (kinds.get(element) ?? likely(element)) : 0);

  /**
   * Until all are told, an element counts as listening if the like element before it listens: rows
   * of a list do so together.
   * @param {Element} element
   */
  function likely(element) {
    const before = isPartial ? tabhub.dom.previousElement(element) : null;
    const kind = (before && kinds.get(before)) ?? 0;
    if (!kind || !before || !isLike(before, element)) return 0;
    kinds.set(element, kind);
    return kind;
  }

  /**
   * @param {Element} one
   * @param {Element} other
   */
  function isLike(one, other) {
    return (
      tabhub.dom.tag(one) === tabhub.dom.tag(other) && attr(one, "class") === attr(other, "class")
    );
  }

  /**
   * @param {Element} element
   * @param {number} kind
   */
  function note(element, kind) {
    hasSome = true;
    kinds.set(element, kindOf(element) | kind);
  }

  /**
   * @param {number} kind
   * @param {number} wanted
   */
  const has = (kind, wanted) => (kind & wanted) > 0;

  /** @param {Element} element by what its markup says */
  function dragKinds(element) {
    const isDragged =
      attr(element, "draggable") === "true" ||
      DRAG_WORDS.test(attr(element, "aria-roledescription") ?? "");
    const classes = attr(element, "class");
    if (!classes?.includes("ui-")) return isDragged ? DRAG : 0;
    return (
      (isDragged || DRAG_CLASSES.test(classes) ? DRAG : 0) | (DROP_CLASSES.test(classes) ? DROP : 0)
    );
  }

  /**
   * @param {Element} element
   * @returns {number} PRESS for an item of a list or table that listens: it does so for its items
   */
  function itemKind(element) {
    const depth = ITEM_DEPTHS.get(tag(element)) ?? 0;
    let around = /** @type {Element | null} */ (element);
    for (let i = 0; i < depth && around; i++) {
      around = parent(around);
      if (around && LISTS.has(tag(around)) && has(kindOf(around), PRESS)) return PRESS;
    }
    return 0;
  }

  /**
   * @param {Event} event its ranges start in the elements, its data has their kinds, and how many
   *   listen as they do if these are not among them
   */
  function receive(event) {
    if (!(event instanceof InputEvent)) return;
    isPartial = event.inputType === PARTIAL;
    const given = (event.data ?? "").split(",");
    const isClear = event.getTargetRanges().every(({ startContainer }, i) => {
      const [kind, count = 1] = given[i].split("*").map(Number);
      if (!isOwn(startContainer)) return true;
      const alike = count > 1 ? allLike(startContainer, count) : [startContainer];
      alike?.forEach((element) => note(element, kind));
      return alike !== null;
    });
    if (isClear) event.preventDefault();
  }

  /**
   * @param {Element} sample
   * @param {number} count
   * @returns {Element[] | null} null: it is not clear which are meant
   */
  function allLike(sample, count) {
    const like = tabhub.dom.queryAll(document, tag(sample)).filter((el) => isLike(sample, el));
    if (like.length === count) return like;
    const beside = like.filter((el) => parent(el) === parent(sample));
    return beside.length === count ? beside : null;
  }

  /**
   * @param {Event} event
   * @param {number} kind
   */
  function receiveOne(event, kind) {
    if (event instanceof SubmitEvent && event.submitter) note(event.submitter, kind);
  }

  /**
   * What the root of a page listens to is for what is in it.
   * @param {Node} node
   * @returns {node is Element}
   */
  function isOwn(node) {
    if (!tabhub.dom.isElement(node)) return false;
    return node !== tabhub.dom.body() && node !== tabhub.dom.documentElement();
  }

  /** @returns {Element[]} in the order in which the page's own scripts see them too */
  const everyElement = () => tabhub.dom.queryAll(document, "*");

  /**
   * @param {Element[]} all
   * @param {{root: number, selector: string, kind: number}} handler
   */
  function noteDelegated(all, { root, selector, kind }) {
    const within = all[root];
    for (const element of select(within, selector)) {
      if (isOwn(element)) note(element, kind);
    }
    // It listens only for them.
    if (within) kinds.set(within, kindOf(within) & ~kind);
  }

  /**
   * @param {Element | undefined} within
   * @param {string} selector jQuery knows some that browsers do not
   */
  function select(within, selector) {
    try {
      const found = tabhub.dom.queryAll(document, selector).slice(0, MOST_FOUND);
      return found.filter((el) => !within || tabhub.dom.holds(within, el));
    } catch {
      return [];
    }
  }

  const count = () => document.getElementsByTagName("*").length;

  return {
    count,
    expect(word) {
      const elements = count();
      if (elements > MOST_ELEMENTS) return null;
      const listening = new AbortController();
      const { signal } = listening;
      const { addEventListener } = EventTarget.prototype;
      addEventListener.call(document, word, receive, { signal });
      for (const kind of KINDS) {
        addEventListener.call(document, word + kind, (event) => receiveOne(event, kind), {
          signal,
        });
      }
      setTimeout(() => listening.abort(), LISTEN_MS);
      return elements;
    },
    learn({ total, handled, delegated }) {
      const all = everyElement();
      // The page has changed since.
      if (all.length !== total) return;
      for (const [index, kind] of handled) note(all[index], kind);
      const endAt = performance.now() + DELEGATED_MS;
      for (const handler of delegated) {
        if (performance.now() > endAt) return;
        noteDelegated(all, handler);
      }
    },
    of(element) {
      const heard = hasSome ? kindOf(element) | itemKind(element) : 0;
      const kind = isBare(element) ? heard : heard | dragKinds(element);
      return kind
        ? {
            isPress: has(kind, PRESS),
            isDrag: has(kind, DRAG),
            isDrop: has(kind, DROP),
          }
        : null;
    },
  };
});
