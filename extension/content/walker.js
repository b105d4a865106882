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
  const { mint } = tabhub.refs;
  const roles = tabhub.roles;
  const { clean, clip, textOf, given, hint } = tabhub.names;
  const { quote, details } = tabhub.lines;
  const { isActive, isPointed, isEditable, hiddenControl } = tabhub.interactive;

  const NAME_LENGTH = 200;
  const LOOSE_NAME_LENGTH = 100;
  const OPTIONS_SHOWN = 50;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that mean nothing without a name. */
  const NEED_NAME = words("img image group figure object embed");
  /** Roles that swallow the text inside, when there is nothing else inside. */
  const TAKE_TEXT = words(
    "alert blockquote caption cell code columnheader definition figure gridcell log note row " +
      "rowheader status term timer tooltip",
  );
  /** Shown even when empty. */
  const STAND_ALONE = words("separator img image canvas video audio iframe progressbar meter");
  const WITH_REF = words("canvas video audio");
  /** Their text is the name of what is around or beside them. */
  const NAMING = words("legend caption figcaption");
  const TEXT = "text ";

  class Walk {
    /** @type {string[]} */
    lines = [];
    /** @type {number[]} */
    depths = [];
    /** @type {TabhubHole[]} */
    frames = [];
    #pending = "";
    #pendingDepth = 0;

    /** @param {{filter: string, depth: number}} options */
    constructor({ filter, depth }) {
      this.onlyInteractive = filter === "interactive";
      this.maxDepth = depth;
    }

    /**
     * @param {Element} element
     * @param {number} depth
     * @param {boolean} quiet whether the text in here is told already
     * @param {boolean} pointed whether something around it takes its clicks
     */
    visit(element, depth, quiet, pointed) {
      const tag = tagOf(element);
      if (depth > this.maxDepth || roles.isSkipped(tag)) return;
      if (!isBare(element) && isShutOff(element)) return;
      if (isVisible(element)) this.#show(element, tag, depth, quiet, pointed);
      else if (isRendered(element)) this.#showPartly(element, tag, depth, quiet, pointed);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {number} depth
     * @param {boolean} quiet
     * @param {boolean} pointed
     */
    #showPartly(element, tag, depth, quiet, pointed) {
      const { display, visibility } = getComputedStyle(element);
      if (display === "contents" && visibility === "visible") {
        this.#show(element, tag, depth, quiet, pointed);
        return;
      }
      // Hidden itself, but what is inside may choose to be visible.
      for (const child of children(element)) {
        if (isElement(child)) this.visit(child, depth, quiet, pointed);
      }
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {number} depth
     * @param {boolean} quiet
     * @param {boolean} pointed
     */
    #show(element, tag, depth, quiet, pointed) {
      const control = hiddenControl(element, tag);
      const role = control ? roles.of(control, tagOf(control)) : this.#roleOf(element, tag);
      const takesClicks = isActive(element, tag, role) || Boolean(control);
      const isTarget = takesClicks || (!pointed && isPointed(element, tag));
      const inside = pointed || isTarget;
      if (role === "iframe") this.#frame(element, tag, depth);
      else if (isTarget) this.#target(element, tag, role, depth, inside, control);
      else if (quiet || this.onlyInteractive || roles.isPlain(role)) {
        this.#descend(element, tag, depth, quiet, inside);
      } else this.#structure(element, tag, role, depth, inside);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     */
    #roleOf(element, tag) {
      const role = roles.of(element, tag);
      return role === "generic" && !isBare(element) && isEditable(element) ? "textbox" : role;
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {number} depth
     */
    #frame(element, tag, depth) {
      const ref = mint(element);
      const name = given(element, tag, "iframe") || clean(attr(element, "title") ?? "");
      const line = this.#add(`iframe${named(name)} [ref_${ref}]`, depth);
      this.frames.push({ line, depth, ref, index: tabhub.childframes.indexOf(element) });
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {number} depth
     * @param {boolean} pointed
     * @param {Element | null} control
     */
    #target(element, tag, role, depth, pointed, control) {
      const { name, told } = targetName(element, tag, role, control);
      const shown = control ?? element;
      const more = name ? "" : hintOf(element);
      const value = isEditable(element) ? editedText(element) : "";
      const rest = details(shown, tagOf(shown), role, name) + value + more;
      this.#add(`${role}${named(name)} [ref_${mint(element)}]${rest}`, depth);
      if (element instanceof HTMLSelectElement) this.#options(element, depth + 1);
      else if (tag !== "textarea") this.#descend(element, tag, depth + 1, told, pointed);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {number} depth
     * @param {boolean} pointed
     */
    #structure(element, tag, role, depth, pointed) {
      const { name, told } = structureName(element, tag, role);
      if (!name && NEED_NAME.has(role)) return this.#descend(element, tag, depth, false, pointed);
      const ref = roles.isLandmark(role) || WITH_REF.has(role) ? ` [ref_${mint(element)}]` : "";
      const head = `${role}${named(name)}${ref}`;
      const line = this.#add(head + details(element, tag, role, name), depth);
      this.#descend(element, tag, depth + 1, told, pointed);
      this.#tidy(line, role, name);
    }

    /**
     * Structure that holds nothing, or nothing but one text, needs no lines of its own.
     * @param {number} line
     * @param {string} role
     * @param {string} name
     */
    #tidy(line, role, name) {
      const inside = this.lines.length - line - 1;
      if (inside === 0 && !name && !STAND_ALONE.has(role)) this.#drop(line);
      if (inside !== 1 || name) return;
      const only = this.lines[line + 1];
      const isOnlyText = only.startsWith(TEXT);
      if (role === "listitem") this.#drop(line);
      else if (isOnlyText && TAKE_TEXT.has(role)) {
        this.lines[line] = role + only.slice(TEXT.length - 1) + this.lines[line].slice(role.length);
        this.#drop(line + 1);
      }
    }

    /** @param {number} line the last line or the one before it */
    #drop(line) {
      this.lines.splice(line, 1);
      const depth = this.depths.splice(line, 1)[0];
      if (line < this.depths.length) this.depths[line] = depth;
      for (const hole of this.frames) {
        if (hole.line > line) Object.assign(hole, { line: hole.line - 1, depth });
      }
    }

    /**
     * @param {HTMLSelectElement} select
     * @param {number} depth
     */
    #options(select, depth) {
      if (this.onlyInteractive || depth > this.maxDepth) return;
      for (const option of [...select.options].slice(0, OPTIONS_SHOWN)) {
        const states = (option.selected ? " selected" : "") + (option.disabled ? " disabled" : "");
        this.#add(`option ${quote(clip(clean(option.label), NAME_LENGTH))}${states}`, depth);
      }
      const more = select.options.length - OPTIONS_SHOWN;
      if (more > 0) this.#add(`${TEXT}"${more} more options"`, depth);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {number} depth
     * @param {boolean} quiet
     * @param {boolean} pointed
     */
    #descend(element, tag, depth, quiet, pointed) {
      const isBlock = !roles.isInline(tag);
      const hush = quiet || namesAnother(element, tag);
      if (isBlock) this.flush();
      else if (tag === "br") this.#pending += " ";
      const isShut = tag === "details" && !has(element, "open");
      for (const child of children(element, tag)) {
        if (isShut && !isSummary(child)) continue;
        if (isElement(child)) this.visit(child, depth, hush, pointed);
        else if (!hush && isText(child)) this.#text(child.data, depth);
      }
      if (isBlock) this.flush();
    }

    /**
     * @param {string} data
     * @param {number} depth
     */
    #text(data, depth) {
      if (this.onlyInteractive || depth > this.maxDepth) return;
      if (!this.#pending) this.#pendingDepth = depth;
      this.#pending += data;
    }

    flush() {
      if (!this.#pending) return;
      const text = clean(this.#pending);
      this.#pending = "";
      if (text) this.#push(TEXT + quote(text), this.#pendingDepth);
    }

    /**
     * @param {string} line
     * @param {number} depth
     */
    #add(line, depth) {
      this.flush();
      return this.#push(line, depth);
    }

    /**
     * @param {string} line
     * @param {number} depth
     */
    #push(line, depth) {
      this.depths.push(depth);
      return this.lines.push(line) - 1;
    }

    text() {
      this.flush();
      return this.lines.map((line, i) => " ".repeat(this.depths[i]) + line).join("\n");
    }
  }

  /** @param {Element} element */
  function isShutOff(element) {
    return attr(element, "aria-hidden") === "true" || has(element, "inert");
  }

  /** @param {Node} node */
  function isSummary(node) {
    return isElement(node) && tagOf(node) === "summary";
  }

  /** @param {string} name */
  function named(name) {
    return name ? ` ${quote(name)}` : "";
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
    if (role === "textbox" || role === "combobox") return { name: titleOf(element), told: false };
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
    return { name: name || clean(attr(element, "title") ?? ""), told: byContent };
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
    read(root, options) {
      const walk = new Walk(options);
      walk.visit(root, 0, false, false);
      return { text: walk.text(), frames: walk.frames };
    },
  };
});
