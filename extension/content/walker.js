/** The page as lines of text: one walk over everything that is rendered. */
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
  const { clean, clip, textOf, given, hint } = tabhub.names;
  const { quote, details, headingLevel } = tabhub.lines;
  const { isActive, isPointed, isEditable, hiddenControl } = tabhub.interactive;
  const { box, drawingOf, isDrawing, isPicture, isShape, isSimple, look } = tabhub.graphics;

  const NAME_LENGTH = 200;
  const LOOSE_NAME_LENGTH = 100;
  const NEAR_LENGTH = 40;
  const OPTIONS_SHOWN = 50;
  const SHAPES_SHOWN = 50;
  /** Between two looks at the clock. */
  const STEPS = 32;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that mean nothing without a name. */
  const NEED_NAME = words("img image group figure object embed");
  const WITH_REF = words("canvas video audio");
  /** Their text is the name of what is around or beside them. */
  const NAMING = words("legend caption figcaption");

  /**
   * How an element's inside is told.
   * @typedef {object} Manner
   * @property {number} depth
   * @property {boolean} quiet whether the text in here is told already
   * @property {boolean} pointed whether something around it takes its clicks
   * @property {boolean} inWidget whether it only adorns a control
   * @property {string} around the name that was told around it
   */

  /** @typedef {{line: number, role: string, name: string}} Structure a line that may be taken back */

  /**
   * An element whose inside is being walked. The walk keeps them in a list of its own: pages
   * nest deeper than functions may.
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
    #endAt;
    /** Of the heading before: the next one of the same level need not say it again. */
    #headingLevel = 0;
    /** @type {Map<Element | null, number>} by drawing */
    #shapes = new Map();

    /**
     * @param {TabhubWalkOptions} options
     * @param {TabhubOutline} outline
     */
    constructor({ filter, depth, maxMs }, outline) {
      this.onlyInteractive = filter === "interactive";
      this.maxDepth = depth;
      this.#outline = outline;
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

    /** What is open still, from the outside in, with its line if it has one. */
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
      // Hidden itself, but what is inside may choose to be visible.
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
      if (role === "iframe") this.#frame(element, tag, depth);
      else if (isTarget) this.#target(element, tag, role, inside, control);
      else if (!inWidget && !this.onlyInteractive && isGraphic(element, tag, role)) {
        this.#graphic(element, tag, role, inside);
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
     */
    #graphic(element, tag, role, { depth, quiet, around }) {
      const drawing = isShape(element, tag) ? drawingOf(element) : null;
      const count = this.#shapes.get(drawing) ?? 0;
      this.#shapes.set(drawing, count + 1);
      if (drawing && count >= SHAPES_SHOWN) {
        if (count === SHAPES_SHOWN) this.#more(element, " more shapes", depth);
        return;
      }
      const name = graphicName(element, tag, role);
      const rest = (name ? "" : hintOf(element) + nearOf(element, quiet, around)) + look(element);
      const item = { element, role: drawing ? tag : "img", name, rest, hasRef: true };
      this.#outline.add(item, depth);
    }

    /**
     * @param {Element} element
     * @param {string} rest
     * @param {number} depth
     */
    #more(element, rest, depth) {
      this.#outline.add(
        { element, role: "(and", name: "", rest: `${rest})`, hasRef: false },
        depth,
      );
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {number} depth
     */
    #frame(element, tag, depth) {
      const name = given(element, tag, "iframe") || titleOf(element);
      const item = { element, role: "iframe", name, rest: "", hasRef: true };
      this.#outline.hole(this.#outline.add(item, depth), depth, element);
      // The frame's own headings come between.
      this.#headingLevel = 0;
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {Manner} manner
     * @param {Element | null} control
     */
    #target(element, tag, role, { depth, pointed, inWidget }, control) {
      const { name, told } = targetName(element, tag, role, control);
      const shown = control ?? element;
      const more = lookOf(element, tag, name);
      const value = isEditable(element) ? editedText(element) : "";
      const level = this.#level(element, tag, role, name);
      const rest = details(shown, tagOf(shown), role, name) + level + value + more;
      this.#outline.add({ element, role, name, rest, hasRef: true }, depth);
      const inside = { depth: depth + 1, quiet: told, pointed, inWidget, around: name };
      if (element instanceof HTMLSelectElement) this.#options(element, depth + 1);
      else if (tag !== "textarea") this.#descend(element, tag, inside, null);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {Manner} manner
     */
    #structure(element, tag, role, { depth, pointed, inWidget, around }) {
      const { name, told } = structureName(element, tag, role);
      const isDrawn = tag === "canvas" || (tag === "svg" && !inWidget && isDrawing(element));
      if (!name && NEED_NAME.has(role) && !isDrawn) {
        this.#descend(element, tag, { depth, quiet: false, pointed, inWidget, around }, null);
        return;
      }
      const level = this.#level(element, tag, role, name);
      const rest = details(element, tag, role, name) + level + (isDrawn ? box(element) : "");
      const hasRef = isDrawn || roles.isLandmark(role) || WITH_REF.has(role);
      const line = this.#outline.open({ element, role, name, rest, hasRef }, depth);
      const inside = { depth: depth + 1, quiet: told, pointed, inWidget, around: name };
      this.#descend(element, tag, inside, { line, role, name });
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
      // The line of a nameless heading may be taken back, and its level with it.
      this.#headingLevel = name ? level : 0;
      return isKnown ? "" : ` level=${level}`;
    }

    /**
     * @param {HTMLSelectElement} select
     * @param {number} depth
     */
    #options(select, depth) {
      if (this.onlyInteractive || depth > this.maxDepth) return;
      for (const option of [...select.options].slice(0, OPTIONS_SHOWN)) {
        const rest = (option.selected ? " selected" : "") + (option.disabled ? " disabled" : "");
        const name = clip(clean(option.label), NAME_LENGTH);
        this.#outline.add({ element: option, role: "option", name, rest, hasRef: false }, depth);
      }
      const more = select.options.length - OPTIONS_SHOWN;
      const rest = ` (${more} more)`;
      const item = { element: select, role: "option", name: "", rest, hasRef: false };
      if (more > 0) this.#outline.add(item, depth);
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
  function isGraphic(element, tag, role) {
    if (!isShape(element, tag)) return role === "generic" && isPicture(element, tag);
    const drawing = drawingOf(element);
    return isSimple(tag) && drawing !== null && isDrawing(drawing);
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
   * What an element without a name is known by; its place, when nothing else is.
   * @param {Element} element
   * @param {string} tag
   * @param {string} name
   */
  function lookOf(element, tag, name) {
    const hint = name ? "" : hintOf(element);
    if (isShape(element, tag) || tag === "canvas") return hint + look(element);
    if (name) return "";
    return hint + (isPicture(element, tag) ? look(element) : hint ? "" : box(element));
  }

  /**
   * @param {Element} element
   * @param {boolean} quiet otherwise the text beside it has a line of its own
   * @param {string} known the name of what it is in
   */
  function nearOf(element, quiet, known) {
    const around = quiet ? tabhub.dom.parent(element) : null;
    const text = around ? textOf(around, NEAR_LENGTH) : "";
    return text && text !== known ? ` near=${quote(text)}` : "";
  }

  /** @param {Element} element */
  function editedText(element) {
    const text = textOf(element, NAME_LENGTH);
    return text ? ` value=${quote(text)}` : "";
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
   * @returns {{name: string, told: boolean}} `told`: the name says all the text inside
   */
  function targetName(element, tag, role, control) {
    const name = control ? "" : given(element, tag, role);
    if (isEditable(element)) return { name: name || titleOf(element), told: isShort(element) };
    if (name) return { name, told: roles.isNamedByContent(role) };
    if (role === "textbox" || role === "combobox" || roles.isComposite(role)) {
      return { name: titleOf(element), told: false };
    }
    const limit = roles.isNamedByContent(role) ? NAME_LENGTH : LOOSE_NAME_LENGTH;
    const text = textOf(element, limit);
    const isWhole = !text.endsWith("…");
    if (isWhole || roles.isNamedByContent(role)) {
      return { name: text || titleOf(element), told: isWhole };
    }
    return { name: titleOf(element), told: false };
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
      told: byContent,
    };
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
