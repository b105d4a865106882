/** What a press at a point would land on. */
tabhub.define("hit", () => {
  const { attr, closest, holds, shadowRoot, tag } = tabhub.dom;
  const { clean, clip, textOf } = tabhub.names;
  const fromDocument = Document.prototype.elementFromPoint;
  const DESCRIBED_TEXT = 40;
  const CLASSES_LENGTH = 200;

  /** @type {TabhubHit["at"]} */
  function at({ x, y }) {
    let hit = fromDocument.call(document, x, y);
    for (let inner = hit; inner;) {
      hit = inner;
      const found = shadowRoot(hit)?.elementFromPoint(x, y) ?? null;
      inner = found === hit ? null : found;
    }
    return hit;
  }

  /**
   * @param {Element} hit
   * @returns {Element | null}
   */
  function labelledControl(hit) {
    const label = closest(hit, "label");
    return label instanceof HTMLLabelElement ? label.control : null;
  }

  /** @param {string | null} text */
  function shortly(text) {
    return clip(clean((text ?? "").slice(0, CLASSES_LENGTH)), DESCRIBED_TEXT);
  }

  return {
    at,
    reaches(element, hit) {
      if (!hit) return false;
      return holds(element, hit) || labelledControl(hit) === element;
    },
    describe(element) {
      const [id, role] = [shortly(attr(element, "id")), shortly(attr(element, "role"))];
      const classes = clean((attr(element, "class") ?? "").slice(0, CLASSES_LENGTH))
        .split(" ", 2)
        .filter(Boolean);
      const text = textOf(element, DESCRIBED_TEXT);
      const marks = (id ? `#${id}` : "") + classes.map((name) => `.${shortly(name)}`).join("");
      const name = shortly(tag(element));
      return `<${name}${role ? ` role=${role}` : ""}>${marks}${text ? ` "${text}"` : ""}`;
    },
  };
});
