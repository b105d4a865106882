/** Writes the lines of a walk: one for each element, or none. */
tabhub.define("writer", () => {
  const { tag: tagOf } = tabhub.dom;
  const roles = tabhub.roles;
  const { given } = tabhub.names;
  const { details, headingLevel } = tabhub.lines;
  const { isEditable } = tabhub.interactive;
  const { box, drawingOf, isDrawing, isShape, look } = tabhub.graphics;
  const { titleOf, hintOf, nearOf, lookOf, editedText } = tabhub.labels;
  const { graphicName, optionName, structureName, targetName } = tabhub.labels;

  const OPTIONS_SHOWN = 50;
  const SHAPES_SHOWN = 50;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that mean nothing without a name. */
  const NEED_NAME = words("img image group figure object embed");
  const WITH_REF = words("canvas video audio");

  /** @implements {TabhubLineWriter} */
  class LineWriter {
    #outline;
    /** The level of the previous heading: the next one of the same level need not repeat it. */
    #headingLevel = 0;
    /** @type {Map<Element | null, number>} by drawing */
    #shapes = new Map();

    /** @param {TabhubOutline} outline */
    constructor(outline) {
      this.#outline = outline;
    }

    /** @type {TabhubLineWriter["frame"]} */
    frame(element, tag, depth) {
      const name = given(element, tag, "iframe") || titleOf(element);
      const item = { element, role: "iframe", name, rest: "", hasRef: true };
      this.#outline.addFrame(this.#outline.add(item, depth), depth, element);
      // The frame's own headings come in between.
      this.#headingLevel = 0;
    }

    /** @type {TabhubLineWriter["graphic"]} */
    graphic(element, tag, role, { depth, quiet, around }) {
      const drawing = isShape(element, tag) ? drawingOf(element) : null;
      const count = this.#shapes.get(drawing) ?? 0;
      this.#shapes.set(drawing, count + 1);
      if (drawing && count >= SHAPES_SHOWN) {
        if (count === SHAPES_SHOWN) this.#moreShapes(element, depth);
        return;
      }
      const name = graphicName(element, tag, role);
      const rest = (name ? "" : hintOf(element) + nearOf(element, quiet, around)) + look(element);
      const item = { element, role: drawing ? tag : "img", name, rest, hasRef: true };
      this.#outline.add(item, depth);
    }

    /**
     * @param {Element} element
     * @param {number} depth
     */
    #moreShapes(element, depth) {
      const item = { element, role: "(and", name: "", rest: " more shapes)", hasRef: false };
      this.#outline.add(item, depth);
    }

    /** @type {TabhubLineWriter["target"]} */
    target(element, tag, role, control, depth) {
      const { name, isWhole } = targetName(element, tag, role, control);
      const shown = control ?? element;
      const more = lookOf(element, tag, name);
      const value = isEditable(element) ? editedText(element) : "";
      const level = this.#level(element, tag, role, name);
      const rest = details(shown, tagOf(shown), role, name) + level + value + more;
      this.#outline.add({ element, role, name, rest, hasRef: true }, depth);
      return { name, isWhole };
    }

    /** @type {TabhubLineWriter["structure"]} */
    structure(element, tag, role, { depth, inWidget }) {
      const { name, isWhole } = structureName(element, tag, role);
      const isDrawn = tag === "canvas" || (tag === "svg" && !inWidget && isDrawing(element));
      if (!name && NEED_NAME.has(role) && !isDrawn) return null;
      const level = this.#level(element, tag, role, name);
      const rest = details(element, tag, role, name) + level + (isDrawn ? box(element) : "");
      const hasRef = isDrawn || roles.isLandmark(role) || WITH_REF.has(role);
      const line = this.#outline.open({ element, role, name, rest, hasRef }, depth);
      return { line, role, name, isWhole };
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {string} name
     */
    #level(element, tag, role, name) {
      if (role !== "heading") return "";
      const level = headingLevel(element, tag);
      const isKnown = level === this.#headingLevel;
      // The line of a heading without a name may be removed, and its level with it.
      this.#headingLevel = name ? level : 0;
      return isKnown ? "" : ` level=${level}`;
    }

    /** @type {TabhubLineWriter["options"]} */
    options(select, depth) {
      for (const option of [...select.options].slice(0, OPTIONS_SHOWN)) {
        const rest = (option.selected ? " selected" : "") + (option.disabled ? " disabled" : "");
        const name = optionName(option);
        this.#outline.add({ element: option, role: "option", name, rest, hasRef: false }, depth);
      }
      const more = select.options.length - OPTIONS_SHOWN;
      const rest = ` (${more} more)`;
      const item = { element: select, role: "option", name: "", rest, hasRef: false };
      if (more > 0) this.#outline.add(item, depth);
    }
  }

  return { begin: (outline) => new LineWriter(outline) };
});
