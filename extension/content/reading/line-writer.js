/** Writes the lines of a walk: one for each element, or none. */
tabhub.define("writer", () => {
  const { tag: tagOf } = tabhub.dom;
  const roles = tabhub.roles;
  const { given } = tabhub.names;
  const { details, headingLevel } = tabhub.lines;
  const { isEditable } = tabhub.interactive;
  const { box, drawingOf, isDrawing, isShape, look } = tabhub.graphics;
  const { titleOf, hintOf, nearOf, lookOf, chosenText, editedText } = tabhub.labels;
  const { graphicName, optionName, structureName, targetName } = tabhub.labels;

  const OPTIONS_SHOWN = 50;
  const SHAPES_SHOWN = 50;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that mean nothing without a name. */
  const NEED_NAME = words("img image group figure object embed");
  const WITH_REF = words("canvas video audio");

  /**
   * Some editors draw their text outside the element that takes the keys.
   * @param {Element} element
   * @param {string} tag
   */
  function isCodeInput(element, tag) {
    return tag === "div" && tabhub.editors.isInput(element);
  }

  /** @typedef {{element: Element, tag: string, manner: TabhubManner}} Shape */

  /** @implements {TabhubLineWriter} */
  class LineWriter {
    #outline;
    /** The level of the previous heading: the next one of the same level need not repeat it. */
    #headingLevel = 0;
    /**
     * Shapes without a name, by drawing and tag, until the drawing ends: those with one come first.
     * @type {Map<Element, Map<string, {count: number, some: Shape[]}>>}
     */
    #shapes = new Map();

    #hasRows;

    /**
     * @param {TabhubOutline} outline
     * @param {boolean} hasRows
     */
    constructor(outline, hasRows) {
      this.#outline = outline;
      this.#hasRows = hasRows;
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
    graphic(element, tag, role, manner) {
      const drawing = isShape(element, tag) ? drawingOf(element) : null;
      const name = graphicName(element, tag, role);
      if (drawing && !name) return this.#keep(drawing, { element, tag, manner });
      this.#picture(element, drawing ? tag : "img", name, manner);
    }

    /**
     * @param {Element} element
     * @param {string} role
     * @param {string} name
     * @param {TabhubManner} manner
     */
    #picture(element, role, name, { depth, quiet, around }) {
      const rest = (name ? "" : hintOf(element) + nearOf(element, quiet, around)) + look(element);
      this.#outline.add({ element, role, name, rest, hasRef: true }, depth);
    }

    /**
     * @param {Element} drawing
     * @param {Shape} shape
     */
    #keep(drawing, shape) {
      const ofDrawing = this.#shapes.get(drawing) ?? new Map();
      const alike = ofDrawing.get(shape.tag) ?? { count: 0, some: [] };
      if (alike.some.length < SHAPES_SHOWN) alike.some.push(shape);
      alike.count++;
      this.#shapes.set(drawing, ofDrawing.set(shape.tag, alike));
    }

    /** @type {TabhubLineWriter["drawn"]} */
    drawn(drawing, depth) {
      const groups = [...(this.#shapes.get(drawing)?.values() ?? [])];
      this.#shapes.delete(drawing);
      let room = SHAPES_SHOWN;
      for (const { count, some } of groups.sort((a, b) => a.count - b.count)) {
        if (count > room) this.#many(count, some[0], depth);
        else this.#few(some, depth);
        room -= Math.min(count, room);
      }
    }

    /**
     * @param {Shape[]} shapes
     * @param {number} depth
     */
    #few(shapes, depth) {
      for (const { element, tag, manner } of shapes) {
        this.#picture(element, tag, "", { ...manner, depth });
      }
    }

    /**
     * @param {number} count
     * @param {Shape} first
     * @param {number} depth
     */
    #many(count, { element, tag }, depth) {
      const item = { element, role: `${count} × ${tag}`, name: "", rest: "", hasRef: false };
      this.#outline.add(item, depth);
    }

    /** @type {TabhubLineWriter["target"]} */
    target(element, tag, role, control, { depth, quiet, around }) {
      // What a row says is in its cells.
      const isRow = role === "row" && this.#hasRows;
      const label = isRow ? structureName(element, tag, role) : null;
      const { name, isWhole } = label ?? targetName(element, tag, role, control);
      const shown = control ?? element;
      const near = role === "img" && !name ? nearOf(element, quiet, around) : "";
      const more = isRow ? "" : near + lookOf(element, tag, name);
      const isOpen = isEditable(element) || (role === "textbox" && isCodeInput(element, tag));
      const chosen = role === "combobox" ? tabhub.lines.value(chosenText(element, tag)) : "";
      const value = isOpen ? editedText(element) : chosen;
      const level = this.#level(element, tag, role, name);
      const rest = details(shown, tagOf(shown), role, name) + level + value + more;
      const line = this.#outline.add({ element, role, name, rest, hasRef: true }, depth);
      return { name, isWhole, line };
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

  return { begin: (outline, hasRows) => new LineWriter(outline, hasRows) };
});
