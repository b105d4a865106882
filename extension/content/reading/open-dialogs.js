/** The dialog or menu that is open in front of the page, and what it shuts off behind it. */
tabhub.define("dialogs", () => {
  const { attr, has, holds, isVisible, parent, queryDeep, tag } = tabhub.dom;
  /** Browsers make everything outside such a dialog inert, without an attribute. */
  const MODAL = "dialog:modal";
  const IN_FRONT =
    "dialog[open], [aria-modal=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]";
  const MOST_LEVELS = 1000;

  /** @type {TabhubDialogs["isShutOff"]} */
  function isShutOff(element) {
    return attr(element, "aria-hidden") === "true" || has(element, "inert");
  }

  /** @param {Element} element */
  function isOpen(element) {
    let around = /** @type {Element | null} */ (element);
    for (let level = 0; around && level < MOST_LEVELS; level++) {
      if (isShutOff(around)) return false;
      around = parent(around);
    }
    return isVisible(element);
  }

  /** @returns {Element | null} the last one in the document, which is usually drawn on top */
  function inFront() {
    let front = null;
    for (const element of queryDeep(IN_FRONT)) {
      const isPart = front !== null && holds(front, element);
      if (!isPart && isOpen(element)) front = element;
    }
    return front;
  }

  function modal() {
    const found = Document.prototype.querySelectorAll.call(document, MODAL);
    return found.length ? found[found.length - 1] : null;
  }

  return {
    isShutOff,
    inFront,
    modal,
    describe(element) {
      const kind = tag(element);
      const role = tabhub.roles.of(element, kind);
      const { name } = tabhub.labels.structureName(element, kind, role);
      return { ref: `ref_${tabhub.refs.mint(element)}`, role, name };
    },
  };
});
