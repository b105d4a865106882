/** Which elements a person could act on. */
tabhub.define("interactive", () => {
  const { attr, firstChild, has, holdsAny, isBare } = tabhub.dom;
  const { isWidget } = tabhub.roles;
  const HANDLERS = ["onclick", "onmousedown", "onpointerdown", "ontouchstart"];
  const EDITABLE = new Set(["", "true", "plaintext-only"]);
  const NEVER_POINTED = new Set(["html", "body", "iframe", "option", "optgroup"]);

  /** What has the cursor of a list of these is not one thing: each of them is. */
  const ITEMS = "li, tr";

  /** @type {TabhubInteractive["isEditable"]} */
  function isEditable(element) {
    const value = attr(element, "contenteditable");
    return value !== null && EDITABLE.has(value.toLowerCase());
  }

  /** @param {Element} element in lists of suggestions a script moves the focus */
  function isItem(element) {
    const around = tabhub.dom.parent(element);
    return tabhub.dom.tag(element) === "li" || (around && tabhub.dom.tag(around) === "li");
  }

  /** @param {Element} element */
  function isFocusable(element) {
    const given = attr(element, "tabindex");
    if (given === null) return false;
    const index = Number.parseInt(given, 10);
    return index >= 0 || (index < 0 && isItem(element));
  }

  /** @type {TabhubInteractive["isActive"]} */
  function isActive(element, tag, role) {
    if (isWidget(role)) return true;
    if (isBare(element)) return false;
    if (isFocusable(element) || isEditable(element)) return true;
    // Without an address only a script can make a link of it; an anchor to jump to is empty.
    if (tag === "a" && firstChild(element)) return true;
    if ((tag === "video" || tag === "audio") && has(element, "controls")) return true;
    return HANDLERS.some((name) => has(element, name));
  }

  return {
    isEditable,
    isActive,
    isPointed: (element, tag) =>
      !NEVER_POINTED.has(tag) &&
      getComputedStyle(element).cursor === "pointer" &&
      !holdsAny(element, ITEMS),
    /** A label stands for its control when only the label can be seen. */
    hiddenControl(element, tag) {
      const control = tag === "label" ? /** @type {HTMLLabelElement} */ (element).control : null;
      return control && !tabhub.dom.isVisible(control) ? control : null;
    },
  };
});
