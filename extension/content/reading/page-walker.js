/** The page as lines of text, in one walk over everything that is rendered. */
tabhub.define("walker", () => {
  const {
    attr,
    has,
    isBare,
    children,
    isElement,
    isText,
    isVisible,
    isRendered,
    tag: tagOf,
  } = tabhub.dom;
  const roles = tabhub.roles;
  const { isActive, isPointed, isEditable, hiddenControl } = tabhub.interactive;
  const { isGraphic, isShape } = tabhub.graphics;

  /** Steps between two checks of the time. */
  const STEPS = 32;
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
    constructor({ filter, depth, maxMs }, outline) {
      this.onlyInteractive = filter === "interactive";
      this.maxDepth = depth;
      this.#outline = outline;
      this.#writer = tabhub.writer.begin(outline);
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
    #leave({ isBlock, structure }) {
      this.#levels.pop();
      if (isBlock) this.#outline.flush();
      if (structure) this.#outline.close(structure.line, structure.role, structure.name);
    }

    /**
     * @param {Element} element
     * @param {Manner} manner
     */
    #visit(element, manner) {
      const tag = tagOf(element);
      if (manner.depth > this.maxDepth || roles.isSkipped(tag)) return;
      if (!isBare(element) && isShutOff(element)) return;
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
      this.#enter(nodes, manner, false, false, null);
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
      const isTarget = takesClicks || (!pointed && isPointed(element, tag));
      const isWidget = inWidget || roles.isWidget(role);
      const isPointedAt = pointed || isTarget;
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
     * @param {string} role
     * @param {Manner} manner
     * @param {Element | null} control
     */
    #target(element, tag, role, { depth, pointed, inWidget }, control) {
      const { name, isWhole } = this.#writer.target(element, tag, role, control, depth);
      const inside = { depth: depth + 1, quiet: isWhole, pointed, inWidget, around: name };
      if (element instanceof HTMLSelectElement) this.#options(element, depth + 1);
      else if (tag !== "textarea") this.#descend(element, tag, inside, null);
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
      this.#enter(children(element, tag), inside, isBlock, isShut, structure);
    }

    /**
     * @param {Node[]} nodes
     * @param {Manner} manner
     * @param {boolean} isBlock
     * @param {boolean} isShut
     * @param {Structure | null} structure
     */
    #enter(nodes, manner, isBlock, isShut, structure) {
      this.#levels.push({ nodes, next: 0, manner, isBlock, isShut, structure });
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

  /** @param {Element} element */
  function isShutOff(element) {
    return attr(element, "aria-hidden") === "true" || has(element, "inert");
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

  return {
    read(root, { maxChars, ...options }) {
      const outline = tabhub.outlines.begin(maxChars);
      const walk = new Walk(options, outline);
      walk.walk(root);
      return outline.page(walk.unfinished);
    },
    walk: (root, options, outline) => new Walk(options, outline).walk(root),
  };
});
