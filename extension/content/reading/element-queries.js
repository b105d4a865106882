/** Elements told one by one: what a selector matches, and how an element looks. */
tabhub.define("elements", () => {
  const { attr, attributeNames, isVisible, queryDeep, rawText, rect, tag } = tabhub.dom;
  const { clean, clip, textOf } = tabhub.names;
  const TEXT_LENGTH = 200;
  const VALUE_LENGTH = 500;
  const MOST_RAW = 20_000;
  const TOLD = new Set(
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
      wanted ? wanted.includes(name) : TOLD.has(name),
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
