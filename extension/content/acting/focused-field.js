/** Which element the keys go to. */
tabhub.define("focus", () => {
  const { activeElement, body, documentElement, holds, isConnected, isContentEditable } =
    tabhub.dom;
  const { parent, root, shadowRoot, tag } = tabhub.dom;
  const { blur, focus } = HTMLElement.prototype;
  const FRAMES = new Set(["iframe", "frame", "object", "embed"]);
  const UNTYPED = new Set(
    "checkbox radio button submit reset image file range color hidden".split(" "),
  );
  /** @type {Element | null} */
  let before = null;
  /** What it held. */
  let valueBefore = "";
  /** @type {Element | null} the element of this document that had the focus last */
  let last = null;
  tabhub.windowEvents.on(["focusin"], ({ isTrusted }) => {
    if (isTrusted && !isInFrame()) last = deepest();
  });

  /** @returns {Element | null} */
  function deepest() {
    let active = activeElement();
    for (let inner = active; inner; inner = shadowRoot(inner)?.activeElement ?? null)
      active = inner;
    return active;
  }

  /** @type {TabhubFocus["take"]} */
  function take(element) {
    focus.call(element, { preventScroll: true });
    const place = root(element);
    const active = place instanceof ShadowRoot ? place.activeElement : activeElement();
    if (active === element) return true;
    return active instanceof HTMLElement && isContentEditable(active) && holds(active, element);
  }

  /** @param {Element} element */
  function isField(element) {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return true;
    if (element instanceof HTMLSelectElement) return true;
    if (element instanceof HTMLElement && isContentEditable(element)) return true;
    return tabhub.editors.isInput(element);
  }

  /** @param {Element | null} element */
  function isNothing(element) {
    return element === null || element === body() || element === documentElement();
  }

  /** @param {Element} element */
  function isText(element) {
    if (element instanceof HTMLInputElement) return !UNTYPED.has(element.type);
    return !(element instanceof HTMLSelectElement) && isField(element);
  }

  /** @type {TabhubFocus["tells"]} */
  function tells(element) {
    return element instanceof HTMLSelectElement || isText(element);
  }

  /** @param {Element} element */
  function refuseReadonly(element) {
    const isLocked = tabhub.dom.has(element, "readonly");
    if (isLocked || tabhub.dom.attr(element, "aria-readonly") === "true") {
      tabhub.fail("readonly", "The field that has the focus is read-only.");
    }
  }

  function isInFrame() {
    return FRAMES.has(tag(deepest() ?? document.documentElement));
  }

  function isHere() {
    return document.hasFocus() && !isInFrame();
  }

  /** @type {TabhubFocus["regain"]} */
  function regain({ field = false } = {}) {
    if (field && !(last && isText(last))) return false;
    if (isHere()) return true;
    return last instanceof HTMLElement && isConnected(last) && take(last) && isHere();
  }

  function start() {
    before = deepest();
    valueBefore = before && isField(before) ? tabhub.values.current(before) : "";
    return before;
  }

  /** @param {KeyboardEvent} event */
  function writes({ key, altKey, ctrlKey, metaKey }) {
    return key.length === 1 && !altKey && !ctrlKey && !metaKey;
  }

  /** @param {string} value what the field holds now */
  function prevented(value) {
    if (value !== valueBefore || deepest() !== before) return undefined;
    const kept = tabhub.guard.arrivals().filter(({ event }) => event.defaultPrevented);
    return kept.filter(({ event }) => writes(event)).length || undefined;
  }

  /** @type {TabhubFocus["where"]} */
  function where({ isNow = false } = {}) {
    const target = isNow ? null : tabhub.guard.arrivals().at(-1)?.target;
    const element = target instanceof Element ? target : deepest();
    return !element || isNothing(element) ? "" : named(element);
  }

  /** @param {Element} element */
  function named(element) {
    const name = tabhub.hit.describe(element);
    return isConnected(element) ? `${name} [ref_${tabhub.refs.mint(element)}]` : name;
  }

  /** @param {Element} element */
  function pressed(element) {
    for (let at = /** @type {Element | null} */ (element); at; at = parent(at))
      if (at instanceof HTMLElement && take(at)) return;
    const before = deepest();
    if (before instanceof HTMLElement) blur.call(before);
  }

  return {
    take,
    deepest,
    isText,
    press: pressed,
    isInFrame,
    frame() {
      const element = deepest();
      if (!element || !isInFrame()) return null;
      return { ref: tabhub.refs.mint(element), index: tabhub.childFrames.indexOf(element) };
    },
    typing() {
      if (isInFrame()) regain();
      const element = start();
      if (!element || (isNothing(element) && !isField(element))) {
        const message =
          "Nothing on the page has the focus, so nothing was typed. Click a field first.";
        return tabhub.fail("element_not_found", message);
      }
      refuseReadonly(element);
      return { element, isText: isText(element) };
    },
    isHere,
    where,
    regain,
    receiver() {
      const active = deepest();
      if (active && !isInFrame()) return active;
      return last && isConnected(last) ? last : (active ?? body() ?? documentElement());
    },
    hasField: () => last !== null && isConnected(last) && isText(last),
    wasSecret: () => last !== null && isConnected(last) && tabhub.secrets.isSecret(last),
    begin() {
      if (isInFrame()) regain();
      return start() ?? body() ?? documentElement();
    },
    tells,
    after({ held, isKey = false }) {
      const now = deepest();
      const { current, shown } = tabhub.values;
      const isLeft = isKey && before && isConnected(before) && tells(before);
      const told = isLeft ? before : now;
      const drawn = told && tells(told) ? current(told) : undefined;
      const value = told && drawn !== undefined ? shown(told, held ?? drawn) : undefined;
      const focused =
        now !== before && now && !isNothing(now) ? tabhub.hit.describe(now) : undefined;
      // Repeated keys go on where the focus has moved to.
      const sensitive = [told, now].some((one) => one !== null && tabhub.secrets.isSecret(one));
      const editor = told && !sensitive ? tabhub.editors.around(told) : null;
      const asked = editor ? tabhub.refs.mint(editor.root) : undefined;
      const isElsewhere = value === undefined && focused === undefined;
      return {
        value,
        focused,
        sensitive,
        editor: asked,
        receivedBy: isElsewhere ? where() : undefined,
        prevented: drawn === undefined ? undefined : prevented(drawn),
      };
    },
  };
});

/** What kind of field an element is, and what it holds. */
tabhub.define("field", () => {
  const { attr, isVisible, tag } = tabhub.dom;
  /** @type {Map<string, "switch" | "radio">} by the type of an input, or by role */
  const KINDS = new Map([
    ["checkbox", "switch"],
    ["switch", "switch"],
    ["menuitemcheckbox", "switch"],
    ["radio", "radio"],
    ["menuitemradio", "radio"],
  ]);

  /** @param {Element} element */
  function controlOf(element) {
    return element instanceof HTMLLabelElement ? (element.control ?? element) : element;
  }

  /** @param {Element} element */
  function kindOf(element) {
    const isInput = element instanceof HTMLInputElement;
    return KINDS.get(isInput ? element.type : tabhub.roles.of(element, tag(element))) ?? "value";
  }

  /** @param {Element} element */
  function isOn(element) {
    if (element instanceof HTMLInputElement) return element.checked;
    return attr(element, "aria-checked") === "true";
  }

  /** @param {Element} control where a page draws its own box, only its label is visible */
  function pressable(control) {
    if (isVisible(control) || !(control instanceof HTMLInputElement)) return control;
    return [...(control.labels ?? [])].find(isVisible) ?? control;
  }

  return {
    look(element) {
      const control = tabhub.editors.of(element)?.input ?? controlOf(element);
      const kind = kindOf(control);
      const { values, refs, secrets } = tabhub;
      const isValue = kind === "value";
      return {
        kind,
        before: isValue ? values.shown(control, values.current(control)) : String(isOn(control)),
        sensitive: secrets.isSecret(control),
        ref: refs.mint(isValue ? control : pressable(control)),
      };
    },
  };
});
