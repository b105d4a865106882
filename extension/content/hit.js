/** What a press at a point would land on. */
tabhub.define("hit", () => {
  const { attr, closest, holds, shadowRoot, tag } = tabhub.dom;
  const { clean, textOf } = tabhub.names;
  const fromDocument = Document.prototype.elementFromPoint;
  const DESCRIBED_TEXT = 40;

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

  return {
    at,
    reaches(element, hit) {
      if (!hit) return false;
      return holds(element, hit) || labelledControl(hit) === element;
    },
    describe(element) {
      const id = attr(element, "id");
      const role = attr(element, "role");
      const classes = clean(attr(element, "class") ?? "")
        .split(" ")
        .filter(Boolean)
        .slice(0, 2);
      const text = textOf(element, DESCRIBED_TEXT);
      const marks = (id ? `#${clean(id)}` : "") + classes.map((name) => `.${name}`).join("");
      return `<${tag(element)}${role ? ` role=${clean(role)}` : ""}>${marks}${text ? ` "${text}"` : ""}`;
    },
  };
});
