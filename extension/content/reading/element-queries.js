/** Describing single elements: those that a selector matches, and an element's styles. */
tabhub.define("elements", () => {
  const { attr, attributeNames, isVisible, queryDeep, rawText, rect, tag } = tabhub.dom;
  const { clean, clip, textOf } = tabhub.names;
  const TEXT_LENGTH = 200;
  const VALUE_LENGTH = 500;
  const MOST_RAW = 20_000;
  const USUAL = new Set(
    (
      "id class name type value href src alt title role placeholder for action method " +
      "aria-label aria-expanded aria-checked aria-selected data-testid disabled checked"
    ).split(" "),
  );
  const PROPERTIES = (
    "display visibility opacity position top right bottom left z-index float box-sizing width " +
    "height margin padding border border-radius overflow color background-color background-image " +
    "font-family font-size font-weight font-style line-height text-align text-decoration-line " +
    "text-transform white-space letter-spacing cursor pointer-events user-select transform filter " +
    "box-shadow flex-direction flex-wrap justify-content align-items gap " +
    "grid-template-columns grid-template-rows transition animation-name"
  ).split(" ");

  /** @param {Element} element */
  function textIn(element) {
    if (isVisible(element)) return textOf(element, TEXT_LENGTH);
    return clip(clean(rawText(element, MOST_RAW)), TEXT_LENGTH);
  }

  /**
   * @param {Element} element
   * @param {string[] | undefined} wanted
   */
  function attributes(element, wanted) {
    const names = attributeNames(element).filter((name) =>
      wanted ? wanted.includes(name) : USUAL.has(name),
    );
    return Object.fromEntries(names.map((name) => [name, attributeOf(element, name)]));
  }

  /**
   * @param {Element} element
   * @param {string} name
   */
  function attributeOf(element, name) {
    const value = attr(element, name) ?? "";
    const isHidden = name === "value" && tabhub.secrets.isSecret(element);
    return isHidden ? tabhub.secrets.mask(value) : clip(value, VALUE_LENGTH);
  }

  /** @type {TabhubElements["describe"]} */
  function describe(element, wanted) {
    const ref = `ref_${tabhub.refs.mint(element)}`;
    return {
      ref,
      tag: tag(element),
      text: textIn(element),
      attributes: attributes(element, wanted),
    };
  }

  return {
    describe,
    query({ selector, ref, limit, attributes: wanted }) {
      const within = ref === undefined ? undefined : tabhub.refs.resolve(ref);
      if (within && selector === undefined)
        return { elements: [describe(within, wanted)], total: 1 };
      tabhub.target.requireSelector(selector ?? "");
      const elements = [];
      let total = 0;
      for (const element of queryDeep(selector ?? "", within)) {
        if (++total <= limit) elements.push(describe(element, wanted));
      }
      return { elements, total };
    },
    styles(element, wanted) {
      const computed = getComputedStyle(element);
      const { x, y, width, height } = rect(element);
      const pairs = (wanted ?? PROPERTIES).map((name) => [name, computed.getPropertyValue(name)]);
      const styles = Object.fromEntries(
        pairs.map(([name, value]) => [name, clip(value, VALUE_LENGTH)]),
      );
      return { ...describe(element), box: { x, y, width, height }, styles };
    },
  };
});

/** Waiting for an element by events that report changes; nothing is polled. */
tabhub.define("waiting", () => {
  const { isElement, isVisible, queryAll, rect, rootsIn } = tabhub.dom;
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  /** Events that may make an element visible without a change of the document. */
  const EVENTS = ["load", "transitionend", "animationstart", "animationend", "toggle", "resize"];
  /** Checks may take this share of the time; a page that changes constantly must stay usable. */
  const REST = 4;
  /** Stands for the element where nobody wants to know which. */
  const MET = /** @type {TabhubFound} */ ({});

  /** @type {Map<number | string, () => void>} */
  const stops = new Map();

  /** @param {Element} element */
  function isSeen(element) {
    const { width, height } = rect(element);
    return isVisible(element) && width > 0 && height > 0;
  }

  /**
   * @param {Iterable<Document | ShadowRoot>} roots
   * @param {TabhubWanted} wanted
   */
  function find(roots, { selector, ref, visible }) {
    const fits = (/** @type {Element} */ element) => !visible || isSeen(element);
    if (ref !== undefined) return [tabhub.refs.resolve(ref)].find(fits);
    for (const root of roots) {
      const found = queryAll(root, selector).find(fits);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * In the roots of now: one that has been removed still has its elements.
   * @param {TabhubWanted} wanted
   */
  function isAsWanted(wanted) {
    return Boolean(find(rootsIn(document), wanted)) !== wanted.gone;
  }

  /** @type {(roots: Iterable<Document | ShadowRoot>, wanted: TabhubWanted) => TabhubFound | null} */
  function look(roots, wanted) {
    if (wanted.gone !== undefined) return isAsWanted(wanted) ? MET : null;
    const found = find(roots, wanted);
    return found ? { ...tabhub.elements.describe(found), visible: isSeen(found) } : null;
  }

  class Watch {
    /** @type {PromiseWithResolvers<TabhubFound | null>} */
    #outcome = Promise.withResolvers();
    #observer = new MutationObserver((records) => this.#changed(records));
    /**
     * A custom element that is defined late gets its shadow root without a change of the document.
     */
    #sizes = new ResizeObserver(() => {
      this.#adopt(document);
      this.#check();
    });
    /** @type {Set<Document | ShadowRoot>} */
    #roots = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    #restUntil = 0;
    #wanted;

    /** @param {TabhubWanted} wanted */
    constructor(wanted) {
      this.#wanted = wanted;
    }

    /** @param {number} maxMs */
    start(maxMs) {
      for (const name of EVENTS) window.addEventListener(name, this.#check, true);
      this.#adopt(document);
      const timer = setTimeout(() => this.stop(), maxMs);
      return this.#outcome.promise.finally(() => clearTimeout(timer));
    }

    stop() {
      this.#end(null);
    }

    /** @param {TabhubFound | null | Promise<never>} found */
    #end(found) {
      this.#observer.disconnect();
      this.#sizes.disconnect();
      clearTimeout(this.#timer);
      for (const name of EVENTS) window.removeEventListener(name, this.#check, true);
      this.#outcome.resolve(found);
    }

    /** @param {Document | ShadowRoot | Element} node itself or inside it */
    #adopt(node) {
      for (const root of rootsIn(node)) {
        if (this.#roots.has(root)) continue;
        this.#roots.add(root);
        this.#observer.observe(root, WATCHED);
        for (const element of queryAll(root, ":not(:defined)")) this.#sizes.observe(element);
      }
    }

    /** @param {MutationRecord[]} records */
    #changed(records) {
      for (const { addedNodes } of records) {
        for (const node of addedNodes) if (isElement(node)) this.#adopt(node);
      }
      this.#check();
    }

    #check = () => {
      const started = performance.now();
      if (this.#timer !== undefined) return;
      if (started < this.#restUntil) return this.#checkLater(this.#restUntil - started);
      const found = this.#look();
      this.#restUntil = performance.now() + (performance.now() - started) * REST;
      if (found) this.#end(found);
    };

    /** An element that has gone does not come back: that is a result too. */
    #look() {
      try {
        return look(this.#roots, this.#wanted);
      } catch (error) {
        return Promise.reject(error);
      }
    }

    /** @param {number} ms */
    #checkLater(ms) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#check();
      }, ms);
    }
  }

  /** @type {TabhubWaiting["wait"]} */
  async function wait(id, wanted, maxMs) {
    if (wanted.ref === undefined) tabhub.target.requireSelector(wanted.selector);
    const now = look(rootsIn(document), wanted);
    if (now) return now;
    const watch = new Watch(wanted);
    stops.set(id, () => watch.stop());
    return watch.start(maxMs).finally(() => stops.delete(id));
  }

  return {
    look: (wanted) => look(rootsIn(document), wanted),
    wait,
    match: async (id, { selector, gone }, maxMs) =>
      Boolean(await wait(id, { selector, gone, visible: false }, maxMs)) !== gone,
    stop: (id) => stops.get(id)?.(),
  };
});
