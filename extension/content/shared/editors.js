/**
 * Editors that pages bring themselves. Some draw their text outside the field that takes the keys,
 * or draw only the part of it that is in view.
 */
tabhub.define("editors", () => {
  const { closest, firstChild, holds, isContentEditable, isElement, isRendered } = tabhub.dom;
  const { isText, matches, nextSibling, queryDeep, rawText, rect, tag } = tabhub.dom;
  const MOST_NODES = 20_000;
  const MOST_LEVELS = 100;
  const NO_BREAK_SPACES = /\u00a0/g;

  /**
   * @typedef {object} Kind
   * @property {string} root
   * @property {string} input what takes the keys
   * @property {string} [line] what shows a line, if the input does not hold the text
   */
  /** @type {Kind[]} */
  const KINDS = [
    { root: ".cm-editor", input: ".cm-content" },
    {
      root: ".CodeMirror",
      input: "textarea, [contenteditable=true]",
      line: ".CodeMirror-line",
    },
    {
      root: ".monaco-editor",
      input: ".native-edit-context, textarea.inputarea",
      line: ".view-line",
    },
    { root: ".ql-container", input: ".ql-editor" },
    { root: ".ProseMirror", input: ".ProseMirror" },
  ];
  const ROOTS = KINDS.map(({ root }) => root).join();
  const INLINE = /^(?:inline|contents|ruby|table-cell)/;
  const ASIDE = ".cm-placeholder, .cm-panels, .cm-widgetBuffer, .ql-ui";

  /**
   * @param {Element} root
   * @returns {TabhubEditor | null} null for an editor that only shows text
   */
  function editorAt(root) {
    const kind = KINDS.find((one) => matches(root, one.root));
    if (!kind) return null;
    const input = matches(root, kind.input) ? root : queryDeep(kind.input, root).next().value;
    return input ? { root, input, line: kind.line } : null;
  }

  /** @type {TabhubEditors["around"]} */
  function around(element) {
    const root = closest(element, ROOTS);
    const editor = root && editorAt(root);
    if (!editor) return null;
    // A search field or a button in it is not the editor.
    const isOwn = element !== editor.input && !holds(editor.input, element);
    return isOwn && isField(element) ? null : editor;
  }

  /** @param {Element} element */
  function isField(element) {
    return /^(?:input|select|textarea|button)$/.test(tag(element));
  }

  /** @type {TabhubEditors["of"]} */
  function of(element) {
    const editor = around(element);
    if (editor || isField(element)) return editor;
    if (element instanceof HTMLElement && isContentEditable(element)) return null;
    const roots = queryDeep(ROOTS, element);
    const [only, other] = [roots.next().value, roots.next().value];
    return only && (!other || holds(only, other)) ? editorAt(only) : null;
  }

  /**
   * Lines that are drawn, in the order in which they stand. Where they end at the editor's edge,
   * there may be more.
   * @param {Element} root
   * @param {string} line
   */
  function drawnLines(root, line) {
    const drawn = [...queryDeep(line, root)].filter(isRendered);
    const placed = drawn.map((element) => ({ element, box: rect(element) }));
    placed.sort((one, other) => one.box.top - other.box.top);
    const [first, last] = [placed[0], placed.at(-1)];
    if (!first || !last) return "";
    const edge = rect(root);
    const isFromTop = (offset(first.element) ?? edge.top - first.box.top) < 1;
    const texts = placed.map(({ element }) => drawnText(rawText(element, MOST_NODES)));
    if (!isFromTop) texts.unshift("…");
    if (last.box.bottom > edge.bottom) texts.push("…");
    return texts.join("\n");
  }

  /**
   * How far from the top of the text an editor has placed a line, if it places lines so.
   * @param {Element} line
   */
  function offset(line) {
    const top = line instanceof HTMLElement ? parseFloat(line.style.top) : NaN;
    return Number.isNaN(top) ? null : top;
  }

  /** Editors draw spaces so that they do not collapse, and something in empty lines. @param {string} text */
  function drawnText(text) {
    return text.replace(NO_BREAK_SPACES, " ").replace(/[\u200b\u200c]/g, "");
  }

  /** Collects the lines of an editable element as its person sees them. */
  class LineText {
    /** @type {string[]} */
    #lines = [];
    /** @type {string | null} null between two blocks */
    #line = null;
    #isBroken = false;
    #isKept = true;

    /**
     * @param {string} text
     * @param {boolean} isKept whether its white space is drawn
     */
    add(text, isKept) {
      const drawn = isKept ? text : text.replace(/[ \t\n\r\f]+/g, " ");
      const isBlank = !isKept && drawn === " " && (this.#isBroken || !this.#line);
      if (!drawn || isBlank) return;
      this.#break();
      this.#line += isKept || this.#line ? drawn : drawn.replace(/^ /, "");
      this.#isKept = isKept;
    }

    /** A line break at the end of a block only gives it a height. */
    lineBreak() {
      this.#break();
      this.#isBroken = true;
    }

    #break() {
      if (this.#isBroken) this.block();
      this.#line ??= "";
    }

    /** The beginning or the end of a block. */
    block() {
      const line = this.#isKept ? this.#line : (this.#line?.replace(/ $/, "") ?? null);
      if (line !== null) this.#lines.push(line);
      this.#line = null;
      this.#isBroken = false;
    }

    get text() {
      this.block();
      return this.#lines.join("\n");
    }
  }

  /**
   * @param {Element} element
   * @param {number} mostNodes
   */
  function linesOf(element, mostNodes) {
    const lines = new LineText();
    let left = mostNodes;
    /**
     * @param {Element} within
     * @param {number} depth
     */
    const walk = (within, depth) => {
      const style = getComputedStyle(within);
      const isBlock = !INLINE.test(style.display);
      if (isBlock) lines.block();
      if (depth > MOST_LEVELS) left = 0;
      for (let node = firstChild(within); node && left > 0; node = nextSibling(node), left--) {
        if (isText(node)) addText(lines, node.data, keeps(style));
        else if (isElement(node)) visit(node, depth + 1);
      }
      if (isBlock) lines.block();
    };
    /**
     * @param {Element} node
     * @param {number} depth
     */
    const visit = (node, depth) => {
      if (tag(node) === "br") lines.lineBreak();
      else if (isRendered(node) && !matches(node, ASIDE)) walk(node, depth);
    };
    walk(element, 0);
    return left > 0 ? lines.text : `${lines.text}…`;
  }

  /**
   * @param {LineText} lines
   * @param {string} text
   * @param {boolean} isKept
   */
  function addText(lines, text, isKept) {
    for (const [i, part] of (isKept ? text.split("\n") : [text]).entries()) {
      if (i) lines.lineBreak();
      lines.add(part, isKept);
    }
  }

  /** @param {CSSStyleDeclaration} style */
  function keeps({ whiteSpace }) {
    return /pre|break-spaces/.test(whiteSpace);
  }

  /** @type {TabhubEditors["text"]} */
  function text(element, mostNodes = MOST_NODES) {
    const editor = around(element);
    if (editor?.line) return drawnLines(editor.root, editor.line);
    return linesOf(editor?.input ?? element, mostNodes);
  }

  return {
    around,
    of,
    text,
    isInput: (element) => around(element)?.input === element,
    surface(element) {
      const editor = around(element);
      return editor?.line && editor.input === element ? editor.root : element;
    },
  };
});
