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

  /** @param {Element} control where pages draw a box of their own, its label is what is seen */
  function pressable(control) {
    if (isVisible(control) || !(control instanceof HTMLInputElement)) return control;
    return [...(control.labels ?? [])].find(isVisible) ?? control;
  }

  return {
    look(element) {
      const control = controlOf(element);
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
