/** The name of an element in its line, or a description when it has no name. */
tabhub.define("labels", () => {
  const { attr } = tabhub.dom;
  const roles = tabhub.roles;
  const { clean, clip, textOf, given, hint } = tabhub.names;
  const { quote } = tabhub.lines;
  const { isEditable } = tabhub.interactive;
  const { box, isDrawing, isPicture, isShape, look } = tabhub.graphics;

  const NAME_LENGTH = 200;
  const LOOSE_NAME_LENGTH = 100;
  const NEAR_LENGTH = 40;
  const CONTROLS = "a[href], button, input, textarea";
  /** A line shows only the beginning of a text. */
  const EDITED_NODES = 400;

  /** @param {Element} element */
  function titleOf(element) {
    return clip(clean(attr(element, "title") || attr(element, "placeholder") || ""), NAME_LENGTH);
  }

  /** @param {Element} element */
  function hintOf(element) {
    const text = hint(element);
    return text ? ` hint=${quote(text)}` : "";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   */
  function graphicName(element, tag, role) {
    if (tag === "text") return textOf(element, NAME_LENGTH);
    return given(element, tag, role) || titleOf(element);
  }

  /**
   * A description of an element without a name; its position, when there is nothing else.
   * @param {Element} element
   * @param {string} tag
   * @param {string} name
   */
  function lookOf(element, tag, name) {
    const hint = name ? "" : hintOf(element);
    if (isShape(element, tag) || tag === "canvas") return hint + look(element);
    if (tag === "svg" && isDrawing(element)) return hint + box(element);
    if (name) return "";
    return hint + (isPicture(element, tag) ? look(element) : hint ? "" : box(element));
  }

  /**
   * @param {Element} element
   * @param {boolean} quiet otherwise the text beside it has its own line
   * @param {string} known the name of what it is in
   */
  function nearOf(element, quiet, known) {
    const around = quiet ? tabhub.dom.parent(element) : null;
    const text = around ? textOf(around, NEAR_LENGTH) : "";
    return text && text !== known ? ` near=${quote(text)}` : "";
  }

  /** @param {Element} element */
  function editedText(element) {
    const text = tabhub.editors.text(element, EDITED_NODES);
    const isSecret = tabhub.secrets.isSecret(element);
    return tabhub.lines.value(isSecret ? tabhub.secrets.mask(text) : text);
  }

  /**
   * What a list box that a page has made itself shows as chosen.
   * @param {Element} element
   * @param {string} tag
   */
  function chosenText(element, tag) {
    if (/^(?:input|select|textarea)$/.test(tag) || tabhub.dom.holdsAny(element, CONTROLS))
      return "";
    return isShort(element) ? textOf(element, NAME_LENGTH) : "";
  }

  /** @param {Element} element whether a line can hold all its text */
  function isShort(element) {
    return !textOf(element, NAME_LENGTH).endsWith("…");
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   * @param {Element | null} control
   * @returns {{name: string, isWhole: boolean}} `isWhole`: the name contains all the text inside
   */
  function targetName(element, tag, role, control) {
    const name = control ? "" : given(element, tag, role);
    if (role === "combobox" && chosenText(element, tag))
      return { name: name || titleOf(element), isWhole: true };
    if (isEditable(element)) return { name: name || titleOf(element), isWhole: isShort(element) };
    // The texts in a drawing have lines of their own.
    if (tag === "svg" && isDrawing(element))
      return { name: name || titleOf(element), isWhole: false };
    if (name) return { name, isWhole: roles.isNamedByContent(role) };
    if (role === "textbox" || role === "combobox" || roles.isComposite(role)) {
      return { name: titleOf(element), isWhole: false };
    }
    const limit = roles.isNamedByContent(role) ? NAME_LENGTH : LOOSE_NAME_LENGTH;
    const text = textOf(element, limit);
    const isWhole = !text.endsWith("…");
    if (isWhole || roles.isNamedByContent(role)) {
      return { name: text || titleOf(element), isWhole };
    }
    return { name: titleOf(element), isWhole: false };
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   */
  function structureName(element, tag, role) {
    const byContent = roles.isNamedByContent(role);
    const name = given(element, tag, role) || (byContent ? textOf(element, NAME_LENGTH) : "");
    return {
      name: name || clip(clean(attr(element, "title") ?? ""), NAME_LENGTH),
      isWhole: byContent,
    };
  }

  return {
    titleOf,
    hintOf,
    nearOf,
    lookOf,
    editedText,
    chosenText,
    graphicName,
    targetName,
    structureName,
    optionName: (option) => clip(clean(option.label), NAME_LENGTH),
  };
});
