/** The page as lines of text, in one walk over everything that is rendered. */
tabhub.define("walker", () => {
  const { children, firstChild, has, isBare, isElement, isRendered, isText, isVisible } =
    tabhub.dom;
  const { rect, tag: tagOf } = tabhub.dom;
  const roles = tabhub.roles;
  const { isActive, isListening, isPointed, isEditable, hiddenControl } = tabhub.interactive;
  const { isGraphic, isPicture, isShape } = tabhub.graphics;
  const { isShutOff } = tabhub.dialogs;

  /** Steps between two checks of the time. */
  const STEPS = 32;
  const FIRST_CHARS = 80;
  /** Elements whose text is the name of another element. */
  const NAMING = new Set(["legend", "caption", "figcaption"]);

  /** @typedef {TabhubManner} Manner */
  /** @typedef {TabhubStructure} Structure */

  /**
   * An element whose content is being walked. The walk keeps a stack of its own, because pages nest
   * deeper than functions may.
   * @typedef {object} Level
   * @property {Node[]} nodes
   * @property {number} next
   * @property {Manner} manner
   * @property {boolean} isBlock
   * @property {boolean} isShut whether only a summary is shown
   * @property {Structure | null} structure
   * @property {Element | null} drawing whose shapes are in it
   */

  class Walk {
    /** @type {Level[]} */
    #levels = [];
    #outline;
    #writer;
    #endAt;

    /**
     * @param {TabhubWalkOptions} options
     * @param {TabhubOutline} outline
     */
    constructor({ filter, depth, maxMs, isShutToo = false, hasRows = false }, outline) {
      this.isShutToo = isShutToo;
      this.onlyInteractive = filter === "interactive";
      this.maxDepth = depth;
      this.#outline = outline;
      this.#writer = tabhub.writer.begin(outline, hasRows && !this.onlyInteractive);
      this.#endAt = tabhub.dom.deadline(maxMs);
    }

    /**
     * @param {Element} root
     * @returns {boolean} whether it came to the end
     */
    walk(root) {
      this.#visit(root, { depth: 0, quiet: false, pointed: false, inWidget: false, around: "" });
      for (let steps = 1; this.#levels.length && !this.#outline.isFull; steps++) {
        this.#step(this.#levels[this.#levels.length - 1]);
        if (steps % STEPS === 0 && performance.now() > this.#endAt) break;
      }
      this.#outline.flush();
      return !this.#levels.length && !this.#outline.isFull;
    }

    /** The elements that are still open, from the outside in, with their line if they have one. */
    get unfinished() {
      return this.#levels.map(({ structure }) => structure);
    }

    /** @param {Level} level */
    #step(level) {
      const { nodes, manner, isShut } = level;
      if (level.next === nodes.length) return this.#leave(level);
      const node = nodes[level.next++];
      if (isShut && !isSummary(node)) return;
      if (isElement(node)) this.#visit(node, manner);
      else if (!manner.quiet && isText(node)) this.#text(node, manner.depth);
    }

    /** @param {Level} level */
    #leave({ manner, isBlock, structure, drawing }) {
      this.#levels.pop();
      if (isBlock) this.#outline.flush();
      if (drawing) this.#writer.drawn(drawing, manner.depth);
      if (structure?.isTarget) this.#outline.closeTarget(structure.line);
      else if (structure) this.#outline.close(structure.line, structure.role, structure.name);
    }

    /**
     * @param {Element} element
     * @param {Manner} manner
     */
    #visit(element, manner) {
      const tag = tagOf(element);
      if (manner.depth > this.maxDepth || roles.isSkipped(tag)) return;
      if (!this.isShutToo && !isBare(element) && isShutOff(element)) {
        return this.#outline.shutOff(element);
      }
      if (isVisible(element) || isShownArea(element, tag)) this.#show(element, tag, manner);
      else if (isRendered(element)) this.#showPartly(element, tag, manner);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {Manner} manner
     */
    #showPartly(element, tag, manner) {
      const { display, visibility } = getComputedStyle(element);
      if (display === "contents" && visibility === "visible") {
        this.#show(element, tag, manner);
        return;
      }
      // Hidden itself, but its content may be visible.
      const nodes = children(element).filter(isElement);
      const level = { isBlock: false, isShut: false, structure: null, drawing: null };
      this.#levels.push({ nodes, next: 0, manner, ...level });
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {Manner} manner
     */
    #show(element, tag, { depth, quiet, pointed, inWidget, around }) {
      const control = hiddenControl(element, tag);
      const role = control ? roles.of(control, tagOf(control)) : this.#roleOf(element, tag);
      const takesClicks = isActive(element, tag, role) || Boolean(control);
      const isClickable = takesClicks || (!pointed && isPointed(element, tag));
      const isTarget = isClickable || isListening(element, tag);
      if (isTarget && isFocusCatch(element, role)) return;
      const isWidget = inWidget || roles.isWidget(role);
      // What only listens may do so for what is in it.
      const isPointedAt = pointed || isClickable;
      const inside = { depth, quiet, pointed: isPointedAt, inWidget: isWidget, around };
      if (role === "iframe") this.#writer.frame(element, tag, depth);
      else if (isTarget) this.#target(element, tag, role, inside, control);
      else if (!inWidget && !this.onlyInteractive && isGraphic(element, tag, role)) {
        this.#writer.graphic(element, tag, role, inside);
      } else if (quiet || this.onlyInteractive || roles.isPlain(role) || isShape(element, tag)) {
        this.#descend(element, tag, inside, null);
      } else this.#structure(element, tag, role, inside);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     */
    #roleOf(element, tag) {
      const role = roles.of(element, tag);
      if (role !== "generic" || isBare(element)) return role;
      if (isShape(element, tag)) return tag;
      return isEditable(element) ? "textbox" : role;
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} given
     * @param {Manner} manner
     * @param {Element | null} control
     */
    #target(element, tag, given, manner, control) {
      // Whether a picture takes presses is not always known: it looks the same either way.
      const role = given === "generic" && isPicture(element, tag) ? "img" : given;
      const { name, isWhole, line } = this.#writer.target(element, tag, role, control, manner);
      const { depth, pointed, inWidget } = manner;
      const inside = { depth: depth + 1, quiet: isWhole, pointed, inWidget, around: name };
      if (element instanceof HTMLSelectElement) this.#options(element, depth + 1);
      else if (tag !== "textarea") {
        this.#descend(element, tag, inside, { line, role, name, isTarget: true });
      }
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {Manner} manner
     */
    #structure(element, tag, role, manner) {
      const structure = this.#writer.structure(element, tag, role, manner);
      if (!structure) return this.#descend(element, tag, manner, null);
      const { depth, pointed, inWidget } = manner;
      const { name, isWhole } = structure;
      const inside = { depth: depth + 1, quiet: isWhole, pointed, inWidget, around: name };
      this.#descend(element, tag, inside, structure);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {Manner} manner
     * @param {Structure | null} structure
     */
    #descend(element, tag, manner, structure) {
      const isBlock = !roles.isInline(tag);
      if (isBlock) this.#outline.flush();
      else if (tag === "br") this.#outline.gap();
      const isShut = tag === "details" && !has(element, "open");
      const isSame = manner.quiet || !namesAnother(element, tag);
      const inside = isSame ? manner : { ...manner, quiet: true };
      const drawing = tag === "svg" ? element : null;
      const nodes = children(element, tag);
      this.#levels.push({ nodes, next: 0, manner: inside, isBlock, isShut, structure, drawing });
    }

    /**
     * @param {HTMLSelectElement} select
     * @param {number} depth
     */
    #options(select, depth) {
      if (this.onlyInteractive || depth > this.maxDepth) return;
      this.#writer.options(select, depth);
    }

    /**
     * @param {Text} node
     * @param {number} depth
     */
    #text(node, depth) {
      if (this.onlyInteractive || depth > this.maxDepth) return;
      this.#outline.text(node, depth);
    }
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function isShownArea(element, tag) {
    return tabhub.areas.isArea(element, tag) && tabhub.areas.picture(element) !== null;
  }

  /**
   * Dialogs have elements at both ends that only keep the focus inside; nobody sees them.
   * @param {Element} element
   * @param {string} role
   */
  function isFocusCatch(element, role) {
    if (role !== "generic" || firstChild(element)) return false;
    const { width, height } = rect(element);
    return width === 0 || height === 0;
  }

  /** @param {Node} node */
  function isSummary(node) {
    return isElement(node) && tagOf(node) === "summary";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function namesAnother(element, tag) {
    if (tag === "label") return Boolean(/** @type {HTMLLabelElement} */ (element).control);
    return NAMING.has(tag);
  }

  /**
   * Takes the first item of a walk, and the text before it.
   * @implements {TabhubOutline}
   */
  class First {
    /** @type {TabhubItem | null} */
    item = null;
    words = "";
    isFull = false;

    /** @type {TabhubOutline["text"]} */
    text({ data }) {
      this.words += data.slice(0, FIRST_CHARS);
    }
    gap() {
      this.words += " ";
    }
    /** @type {TabhubOutline["add"]} */
    add(item) {
      this.item ??= item;
      this.isFull = true;
      return 0;
    }
    /** @type {TabhubOutline["open"]} */
    open(item) {
      return this.add(item, 0);
    }
    flush() {}
    close() {}
    closeTarget() {}
    addFrame() {}
    shutOff() {}
  }

  return {
    first(root, options) {
      const first = new First();
      new Walk(options, first).walk(root);
      return { item: first.item, text: first.words };
    },
    read(root, { maxChars, ...options }) {
      const outline = tabhub.outlines.begin(maxChars);
      const walk = new Walk({ ...options, hasRows: true }, outline);
      walk.walk(root);
      return outline.page(walk.unfinished);
    },
    walk: (root, options, outline) => new Walk(options, outline).walk(root),
  };
});
