/** Describes an element so that it can be found again on the same page later. */
tabhub.define("durable", () => {
  const { attr, matches, queryDeep, tag } = tabhub.dom;
  const { clip, textOf } = tabhub.names;
  const NAME_LENGTH = 100;
  const LONGEST = 200;
  const MOST_LEVELS = 12;
  const MOST_FOUND = 3;
  const MOST_SELECTORS = 2;
  const LABEL_MS = 50;
  /** Numbers this long are generated, and will differ next time. */
  const MADE_UP = /\d{3,}|^:/;
  const TELLING = "data-testid data-test data-test-id name aria-label placeholder href type".split(
    " ",
  );

  /**
   * A form's fields can have the names of the properties we read.
   * @param {object} prototype
   * @param {string} name
   */
  const getter = (prototype, name) =>
    /** @type {() => any} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get);
  const getParent = getter(Node.prototype, "parentElement");
  const getChildren = getter(Element.prototype, "children");

  /** @type {(element: Element) => Element | null} */
  const parent = (element) => getParent.call(element);

  /**
   * @param {Element} element
   * @returns {{role: string, name: string}} as a reading shows it
   */
  function label(element) {
    const { item } = tabhub.walker.first(element, { filter: "all", depth: 0, maxMs: LABEL_MS });
    const own = item?.element === element ? item : null;
    // A field's value is not a name: it will be different next time.
    const name = own?.name || (isField(element) ? "" : textOf(element, NAME_LENGTH));
    return { role: own?.role ?? "", name: clip(name, NAME_LENGTH) };
  }

  /** @param {Element} element */
  const isField = (element) =>
    matches(element, "input, textarea, select") ||
    (element instanceof HTMLElement && tabhub.dom.isContentEditable(element));

  /** @param {Element} element */
  function byId(element) {
    const id = attr(element, "id");
    return id && id.length <= LONGEST && !MADE_UP.test(id) ? `#${CSS.escape(id)}` : null;
  }

  /** @param {Element} element */
  function byAttributes(element) {
    const given = TELLING.map((name) => [name, attr(element, name)]).filter(
      ([, value]) => value && value.length <= LONGEST,
    );
    return given.map(([name, value]) => `${kind(element)}[${name}="${CSS.escape(value ?? "")}"]`);
  }

  /** @param {Element} element */
  const kind = (element) => CSS.escape(tag(element));

  /** @param {Element} element */
  function step(element) {
    const inside = parent(element);
    const siblings = inside
      ? [...getChildren.call(inside)].filter((el) => tag(el) === tag(element))
      : [];
    return siblings.length > 1
      ? `${kind(element)}:nth-of-type(${siblings.indexOf(element) + 1})`
      : kind(element);
  }

  /** @param {Element} element */
  function byPath(element) {
    const steps = [step(element)];
    for (let el = parent(element); el; el = parent(el)) {
      if (steps.length >= MOST_LEVELS) break;
      steps.unshift(byId(el) ?? step(el));
      if (steps[0].startsWith("#")) break;
    }
    return steps.join(" > ");
  }

  /**
   * @param {Element} element
   * @param {string} selector
   */
  function isOnly(element, selector) {
    for (const found of queryDeep(selector)) if (found !== element) return false;
    return matches(element, selector);
  }

  /**
   * @param {Element} element
   * @param {TabhubKnown} known
   */
  function isLike(element, { role, name }) {
    const now = label(element);
    return now.role === role && now.name === name;
  }

  /** @param {TabhubKnown} known */
  function bySelector(known) {
    if (!known.selector) return [];
    const found = [];
    for (const element of queryDeep(known.selector)) {
      if (isLike(element, known) && found.push(element) === MOST_FOUND) break;
    }
    return found;
  }

  /**
   * @param {TabhubKnown} known
   * @param {number} maxMs
   */
  function byLabel(known, maxMs) {
    if (!known.name) return [];
    const items = tabhub.find.items(maxMs).items.filter(({ role }) => role === known.role);
    const named = items.filter(({ name }) => clip(name, NAME_LENGTH) === known.name);
    return named.map(({ element }) => element).slice(0, MOST_FOUND);
  }

  return {
    label,
    describe(element) {
      const all = [byId(element), ...byAttributes(element), byPath(element)];
      /** @type {string[]} */
      const selectors = [];
      for (const each of all) {
        if (each !== null && isOnly(element, each)) selectors.push(each);
        if (selectors.length === MOST_SELECTORS) break;
      }
      return { selectors, ...label(element) };
    },
    locate(known, by, maxMs) {
      const found = by === "selector" ? bySelector(known) : byLabel(known, maxMs);
      return found.map((element) => `ref_${tabhub.refs.mint(element)}`);
    },
  };
});
