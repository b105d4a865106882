/** Which elements a person could act on. */
tabhub.define("interactive", () => {
  const { attr, has, isBare } = tabhub.dom;
  const { isWidget } = tabhub.roles;
  const HANDLERS = ["onclick", "onmousedown", "onpointerdown", "ontouchstart"];
  const EDITABLE = new Set(["", "true", "plaintext-only"]);
  const NEVER_POINTED = new Set(["html", "body", "iframe", "option", "optgroup"]);

  /** @type {TabhubInteractive["isEditable"]} */
  function isEditable(element) {
    const value = attr(element, "contenteditable");
    return value !== null && EDITABLE.has(value.toLowerCase());
  }

  /** @param {Element} element */
  function isFocusable(element) {
    const index = attr(element, "tabindex");
    return index !== null && Number.parseInt(index, 10) >= 0;
  }

  /** @type {TabhubInteractive["isActive"]} */
  function isActive(element, tag, role) {
    if (isWidget(role)) return true;
    if (isBare(element)) return false;
    if (isFocusable(element) || isEditable(element)) return true;
    if ((tag === "video" || tag === "audio") && has(element, "controls")) return true;
    return HANDLERS.some((name) => has(element, name));
  }

  return {
    isEditable,
    isActive,
    isPointed: (element, tag) =>
      !NEVER_POINTED.has(tag) && getComputedStyle(element).cursor === "pointer",
    /** A label stands for its control when only the label can be seen. */
    hiddenControl(element, tag) {
      const control = tag === "label" ? /** @type {HTMLLabelElement} */ (element).control : null;
      return control && !tabhub.dom.isVisible(control) ? control : null;
    },
  };
});
