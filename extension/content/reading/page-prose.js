/** The visible text, in layout order, through shadow roots and slots. */
tabhub.define("prose", () => {
  const { children, has, isElement, isRendered, isText, isVisible, tag: tagOf } = tabhub.dom;
  const { isSkipped } = tabhub.roles;
  /** A text may be very long, so it is processed in pieces. */
  const PIECE = 65_536;
  /** Steps between two checks of the time. */
  const STEPS = 32;
  const PARAGRAPH = /^(?:p|h[1-6]|pre|blockquote)$/;
  const FRAME = /^i?frame$/;
  const INLINE = /^(?:inline$|contents|ruby)/;
  const KEPT = /^(?:pre|break-spaces)/;
  const BLANKS = /[\s\u200b\ufeff]+/g;
  // Characters that would break lines or terminals, or change the direction of the text.
  const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

  const GAPS = ["", " ", "\t", "\n", "\n\n"];

  /** @typedef {"" | " " | "\t" | "\n" | "\n\n"} Gap */

  /**
   * An element whose content is being read.
   * @typedef {object} Level
   * @property {Node[]} nodes
   * @property {number} next
   * @property {Gap} gap what follows it
   * @property {boolean} isKept whether its white space is kept
   * @property {boolean} isMute whether its own text is hidden
   */

  class Prose {
    #text = "";
    #maxChars = 0;
    /** @type {Gap} */
    #gap = "";
    /** @type {Level[]} */
    #levels = [];
    /** @type {TabhubFrameMark[]} */
    #frames = [];

    /**
     * @param {Element} root
     * @param {TabhubSizes} sizes
     * @returns {TabhubPiece}
     */
    read(root, { maxChars, maxMs }) {
      this.#maxChars = maxChars;
      const endAt = tabhub.dom.deadline(maxMs);
      if (isField(root)) this.#put(tabhub.values.shown(root, tabhub.values.current(root)));
      else this.#visit(root);
      for (let steps = 1; this.#levels.length && this.#text.length <= maxChars; steps++) {
        this.#step(this.#levels[this.#levels.length - 1]);
        if (steps % STEPS === 0 && performance.now() > endAt) break;
      }
      // A single text may be longer than the limit.
      const text = this.#text.slice(0, maxChars + 1);
      const frames = this.#frames.filter(({ at }) => at <= maxChars);
      return { text, frames, whole: !this.#levels.length && text === this.#text };
    }

    /** @param {Level} level */
    #step(level) {
      if (level.next === level.nodes.length) {
        this.#levels.pop();
        return this.#part(level.gap);
      }
      const node = level.nodes[level.next++];
      if (isElement(node)) this.#visit(node);
      else if (isText(node) && !level.isMute) this.#write(node.data, level.isKept);
    }

    /** @param {Element} element */
    #visit(element) {
      const tag = tagOf(element);
      if (isSkipped(tag) || tag === "textarea") return;
      if (tag === "br") return this.#part(this.#gap.startsWith("\n") ? "\n\n" : "\n");
      if (!isRendered(element)) return;
      if (FRAME.test(tag)) return this.#frame(element);
      if (element instanceof HTMLSelectElement) return this.#select(element);
      this.#enter(element, tag);
    }

    /**
     * @param {Element} element
     * @param {string} tag
     */
    #enter(element, tag) {
      const { display, visibility, whiteSpace } = getComputedStyle(element);
      const gap = gapAround(display, tag);
      this.#part(gap);
      const isMute = visibility !== "visible";
      const nodes = children(element, tag).filter((node) => !isShutIn(element, tag, node));
      const isKept = KEPT.test(whiteSpace);
      this.#levels.push({ nodes, next: 0, gap: gap === "\t" ? "" : gap, isKept, isMute });
    }

    /** @param {Element} element */
    #frame(element) {
      this.#part("\n");
      const index = tabhub.childFrames.indexOf(element);
      this.#frames.push({ at: this.#text.length, ref: tabhub.refs.mint(element), index });
    }

    /** @param {HTMLSelectElement} select */
    #select(select) {
      if (!isVisible(select)) return;
      this.#part(" ");
      this.#write([...select.selectedOptions].map((option) => option.label).join(", "), false);
    }

    /** @param {Gap} gap of several in one place, the widest counts */
    #part(gap) {
      if (GAPS.indexOf(gap) > GAPS.indexOf(this.#gap)) this.#gap = gap;
    }

    /**
     * @param {string} data
     * @param {boolean} isKept
     */
    #write(data, isKept) {
      for (let at = 0; at < data.length && this.#text.length <= this.#maxChars; at += PIECE) {
        this.#writePiece(data.slice(at, at + PIECE), isKept);
      }
    }

    /**
     * @param {string} data
     * @param {boolean} isKept
     */
    #writePiece(data, isKept) {
      const text = data.replace(CONTROLS, "");
      if (isKept) return this.#put(text);
      const words = text.replace(BLANKS, " ");
      if (words.startsWith(" ")) this.#part(" ");
      this.#put(words.trim());
      if (words.endsWith(" ")) this.#part(" ");
    }

    /** @param {string} text */
    #put(text) {
      if (!text) return;
      this.#text += (this.#text && this.#gap) + text;
      this.#gap = "";
    }
  }

  /** @param {Element} element */
  function isField(element) {
    return element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement;
  }

  /**
   * @param {string} display
   * @param {string} tag
   * @returns {Gap}
   */
  function gapAround(display, tag) {
    if (INLINE.test(display)) return "";
    if (display.startsWith("inline-")) return " ";
    if (display === "table-cell") return "\t";
    return PARAGRAPH.test(tag) ? "\n\n" : "\n";
  }

  /**
   * The content that a closed details element hides.
   * @param {Element} element
   * @param {string} tag
   * @param {Node} node
   */
  function isShutIn(element, tag, node) {
    if (tag !== "details" || has(element, "open")) return false;
    return !isElement(node) || tagOf(node) !== "summary";
  }

  return { read: (root, sizes) => new Prose().read(root, sizes) };
});

/** Which element holds a page's main content. */
tabhub.define("mainContent", () => {
  const { isVisible, queryAll, rawText } = tabhub.dom;
  const MOST_CHARS = 20_000;
  /** A single article counts only if it has this share of the text: it may be a mere card. */
  const PART_OF_MAIN = 1 / 2;
  const PART_OF_BODY = 1 / 5;

  /** @param {Element | null} element */
  function size(element) {
    return element ? tabhub.names.clean(rawText(element, MOST_CHARS)).length : 0;
  }

  /** @param {string} selector */
  function shown(selector) {
    return queryAll(document, selector).filter((element) => isVisible(element) && size(element));
  }

  return {
    find() {
      const body = tabhub.dom.body() ?? tabhub.dom.documentElement();
      const main = shown("main, [role=main]")[0] ?? null;
      const articles = shown("article, [role=article]");
      const article = articles.length === 1 ? articles[0] : null;
      const least = main ? size(main) * PART_OF_MAIN : size(body) * PART_OF_BODY;
      return article && size(article) >= least ? article : (main ?? body);
    },
  };
});
