/**
 * The lines of a page while they are written: text is collected, structure that turns out to be
 * empty is removed, and nothing is written beyond the limit.
 */
tabhub.define("outlines", () => {
  const { clean } = tabhub.names;
  const { TEXT, quote } = tabhub.lines;
  const { mint } = tabhub.refs;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that take the text inside as their name, when there is nothing else inside. */
  const TAKE_TEXT = words(
    "alert blockquote caption cell code columnheader definition figure gridcell log note row " +
      "rowheader status term timer tooltip",
  );
  /** Shown even when empty. */
  const STAND_ALONE = words("separator img image canvas video audio iframe progressbar meter");
  /** Roles of elements that are only around a control, when nothing else is in them. */
  const WRAPPERS = words("generic listitem group");
  /** Spaces count before they are collapsed, so a text may be longer than the limit. */
  const SPARE_CHARS = 1_000_000;
  /** A row that is larger is not one line. */
  const ROW_LINES = 100;
  const ROW_CHARS = 4000;

  /** @param {TabhubItem} item */
  function written({ element, role, name, rest, hasRef }) {
    return role + (name && ` ${quote(name)}`) + (hasRef ? ` [ref_${mint(element)}]` : "") + rest;
  }

  /** @param {TabhubItem} item whether it may be only around the control that is meant */
  function isWrapper({ role, hasRef }) {
    return hasRef && WRAPPERS.has(role);
  }

  /** @type {TabhubOutlines["repeats"]} */
  function repeats(wrapper, inner) {
    return isWrapper(wrapper) && inner.hasRef && (!wrapper.name || wrapper.name === inner.name);
  }

  /**
   * A row that may become one line; how long that is, is known only at its end.
   * @typedef {object} OpenRow
   * @property {number} line
   * @property {number} chars of lines that stay if it does not
   * @property {boolean} isLine whether it may become one
   */

  class Outline {
    /** @type {TabhubLine[]} */
    #lines = [];
    /** @type {TabhubFrameLine[]} */
    #frames = [];
    /** @type {OpenRow[]} */
    #rows = [];
    #pending = "";
    #pendingDepth = 0;
    /** @type {Text | null} */
    #pendingNode = null;
    /** At least this many characters are final. */
    #chars = 0;
    #maxChars;
    isFull = false;
    #isTextCut = false;

    /** @param {number} maxChars */
    constructor(maxChars) {
      this.#maxChars = maxChars;
    }

    /** @type {TabhubOutline["text"]} */
    text(node, depth) {
      const { data } = node;
      if (!this.#pending) {
        this.#pendingDepth = depth;
        this.#pendingNode = node;
      }
      const room = this.#maxChars + SPARE_CHARS - this.#pending.length;
      this.#pending += data.length > room ? data.slice(0, room) : data;
      if (data.length > room) this.isFull = this.#isTextCut = true;
    }

    gap() {
      this.#pending += " ";
    }

    flush() {
      if (!this.#pending) return;
      const name = clean(this.#pending);
      this.#pending = "";
      if (!name) return;
      const text = quote(name);
      const element = /** @type {any} */ (this.#pendingNode);
      const item = { element, role: TEXT, name, rest: "", hasRef: false };
      // A text that was cut does not end here.
      this.#push(item, this.#isTextCut ? text.slice(0, -1) : text, this.#pendingDepth, true);
    }

    /** @type {TabhubOutline["add"]} */
    add(item, depth) {
      this.flush();
      return this.#begin(item, depth, !isWrapper(item));
    }

    /** @type {TabhubOutline["open"]} */
    open(item, depth) {
      this.flush();
      return this.#begin(item, depth, false);
    }

    /**
     * @param {TabhubItem} item
     * @param {number} depth
     * @param {boolean} stays
     */
    #begin(item, depth, stays) {
      const line = this.#push(item, written(item), depth, stays);
      if (item.role !== "row") return line;
      // A table in a table: only the inner rows are lines.
      this.#endRows();
      this.#rows.push({ line, chars: 0, isLine: true });
      return line;
    }

    /**
     * @param {TabhubItem} item
     * @param {string} text
     * @param {number} depth
     * @param {boolean} stays
     */
    #push(item, text, depth, stays) {
      // Full only with one line too many: the last one may still change.
      if (this.#chars > this.#maxChars) this.isFull = true;
      if (stays) this.#count(text.length);
      return this.#lines.push({ item, text, depth }) - 1;
    }

    /** @param {number} chars */
    #count(chars) {
      const row = this.#rows[this.#rows.length - 1];
      if (!row?.isLine) this.#chars += chars;
      else {
        row.chars += chars;
        const lines = this.#lines.length - row.line;
        if (row.chars > ROW_CHARS || lines > ROW_LINES) this.#endRows();
      }
    }

    /** The rows that are open do not become lines. */
    #endRows() {
      for (const row of this.#rows) {
        if (row.isLine) this.#chars += row.chars;
        row.isLine = false;
      }
    }

    /** @type {TabhubOutline["close"]} */
    close(line, role, name) {
      if (role === "row" && this.#closeRow()) return;
      const inside = this.#lines.length - line - 1;
      const isColumn = tabhub.tableRows.isCell(role) && this.#rows.at(-1)?.isLine;
      if (inside === 0 && !name && !STAND_ALONE.has(role) && !isColumn) this.#drop(line);
      if (inside !== 1 || name) return;
      const only = this.#lines[line + 1];
      if (role === "listitem") this.#drop(line);
      else if (only.item.role === TEXT && TAKE_TEXT.has(role)) this.#takeText(line, only);
    }

    /** @type {TabhubOutline["closeTarget"]} */
    closeTarget(line) {
      const { item, text } = this.#lines[line];
      if (item.role === "row") this.#closeRow();
      if (!isWrapper(item)) return;
      const inside = this.#lines.length - line - 1;
      if (inside === 1 && repeats(item, this.#lines[line + 1].item)) this.#drop(line);
      else this.#count(text.length);
    }

    /** @returns {boolean} whether the row has become a line, or was empty */
    #closeRow() {
      const { line, chars, isLine } = /** @type {OpenRow} */ (this.#rows.pop());
      if (!isLine) return false;
      const row = this.#lines[line];
      const text = tabhub.tableRows.line(row, this.#lines, line + 1);
      if (text === null) {
        this.#keepRow(line, chars);
        return false;
      }
      while (this.#lines.length > line) this.#lines.pop();
      if (text) this.#push(row.item, text, row.depth, true);
      return true;
    }

    /**
     * @param {number} line
     * @param {number} chars
     */
    #keepRow(line, chars) {
      const isEmpty = (/** @type {TabhubLine} */ { item, depth }, /** @type {number} */ i) =>
        tabhub.tableRows.isCell(item.role) &&
        !item.name &&
        !item.hasRef &&
        !((this.#lines[i + 1]?.depth ?? 0) > depth);
      this.#lines = this.#lines.filter((each, i) => i <= line || !isEmpty(each, i));
      this.#chars += chars;
    }

    /**
     * @param {number} line
     * @param {TabhubLine} only
     */
    #takeText(line, only) {
      const { item, text, depth } = this.#lines[line];
      const rest = text.slice(item.role.length);
      const taken = { ...item, name: only.item.name };
      this.#lines[line] = { item: taken, text: `${item.role} ${only.text}${rest}`, depth };
      this.#drop(line + 1);
    }

    /** @param {number} line the last line or the one before it */
    #drop(line) {
      const [{ depth }] = this.#lines.splice(line, 1);
      if (line < this.#lines.length) this.#lines[line].depth = depth;
      for (const frame of this.#frames) {
        if (frame.line > line) Object.assign(frame, { line: frame.line - 1, depth });
      }
    }

    /** What the page shuts off, usually behind a dialog, is not read. */
    shutOff() {}

    /** @type {TabhubOutline["addFrame"]} */
    addFrame(line, depth, element) {
      this.#endRows();
      const index = tabhub.childFrames.indexOf(element);
      this.#frames.push({ line, depth, ref: mint(element), index });
    }

    /** @type {TabhubWrittenOutline["page"]} */
    page(unfinished) {
      this.flush();
      // In a full outline, further reading could change only lines beyond the limit.
      if (!this.isFull) unfinished.reverse().forEach((open) => open && this.#forgetUnsure(open));
      const lines = this.#lines.map(({ text, depth }) => " ".repeat(depth) + text);
      const frames = this.#frames.filter(({ line }) => line < lines.length);
      return { text: lines.join("\n"), frames, whole: !this.isFull && !unfinished.length };
    }

    /** @param {TabhubStructure} open */
    #forgetUnsure({ line, name }) {
      if (line >= this.#lines.length) return;
      const isRow = this.#rows.some((row) => row.line === line && row.isLine);
      const isNamed = name && !isWrapper(this.#lines[line].item);
      const isFew = this.#lines.length - line - 1 <= 1;
      if (isRow || (!isNamed && isFew)) this.#lines.length = line;
    }
  }

  return { repeats, begin: (maxChars) => new Outline(maxChars) };
});
