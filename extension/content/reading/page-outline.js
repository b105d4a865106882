/**
 * The lines of a page while they are written: text is gathered, structure that turns out to hold
 * nothing is taken back, and nobody writes more than is wanted.
 */
tabhub.define("outlines", () => {
  const { clean } = tabhub.names;
  const { quote } = tabhub.lines;
  const { mint } = tabhub.refs;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that swallow the text inside, when there is nothing else inside. */
  const TAKE_TEXT = words(
    "alert blockquote caption cell code columnheader definition figure gridcell log note row " +
      "rowheader status term timer tooltip",
  );
  /** Shown even when empty. */
  const STAND_ALONE = words("separator img image canvas video audio iframe progressbar meter");
  /** A line of text has no role: it begins with its quotation mark. */
  const TEXT = '"';
  /** Blanks count before they are cleaned away, so a text may be longer than what is wanted. */
  const SPARE_CHARS = 1_000_000;

  /** @param {TabhubItem} item */
  function written({ element, role, name, rest, hasRef }) {
    return role + (name && ` ${quote(name)}`) + (hasRef ? ` [ref_${mint(element)}]` : "") + rest;
  }

  class Outline {
    /** @type {string[]} */
    #lines = [];
    /** @type {number[]} */
    #depths = [];
    /** @type {TabhubFrameLine[]} */
    #frames = [];
    #pending = "";
    #pendingDepth = 0;
    /** At least so many characters are there to stay. */
    #chars = 0;
    #maxChars;
    isFull = false;
    #isTextCut = false;

    /** @param {number} maxChars */
    constructor(maxChars) {
      this.#maxChars = maxChars;
    }

    /** @type {TabhubOutline["text"]} */
    text({ data }, depth) {
      if (!this.#pending) this.#pendingDepth = depth;
      const room = this.#maxChars + SPARE_CHARS - this.#pending.length;
      this.#pending += data.length > room ? data.slice(0, room) : data;
      if (data.length > room) this.isFull = this.#isTextCut = true;
    }

    gap() {
      this.#pending += " ";
    }

    flush() {
      if (!this.#pending) return;
      const text = clean(this.#pending);
      this.#pending = "";
      if (!text) return;
      const line = quote(text);
      // The end of a text that was cut is not its end.
      this.#push(this.#isTextCut ? line.slice(0, -1) : line, this.#pendingDepth, true);
    }

    /** @type {TabhubOutline["add"]} */
    add(item, depth) {
      this.flush();
      return this.#push(written(item), depth, true);
    }

    /** @type {TabhubOutline["open"]} */
    open(item, depth) {
      this.flush();
      return this.#push(written(item), depth, false);
    }

    /**
     * @param {string} line
     * @param {number} depth
     * @param {boolean} stays
     */
    #push(line, depth, stays) {
      // Full only with a line too many: the last one may still change.
      if (this.#chars > this.#maxChars) this.isFull = true;
      if (stays) this.#chars += line.length;
      this.#depths.push(depth);
      return this.#lines.push(line) - 1;
    }

    /** @type {TabhubOutline["close"]} */
    close(line, role, name) {
      const inside = this.#lines.length - line - 1;
      if (inside === 0 && !name && !STAND_ALONE.has(role)) this.#drop(line);
      if (inside !== 1 || name) return;
      const only = this.#lines[line + 1];
      if (role === "listitem") this.#drop(line);
      else if (only.startsWith(TEXT) && TAKE_TEXT.has(role)) this.#takeText(line, role, only);
    }

    /**
     * @param {number} line
     * @param {string} role
     * @param {string} only
     */
    #takeText(line, role, only) {
      const rest = this.#lines[line].slice(role.length);
      this.#lines[line] = `${role} ${only}${rest}`;
      this.#drop(line + 1);
    }

    /** @param {number} line the last line or the one before it */
    #drop(line) {
      this.#lines.splice(line, 1);
      const depth = this.#depths.splice(line, 1)[0];
      if (line < this.#depths.length) this.#depths[line] = depth;
      for (const frame of this.#frames) {
        if (frame.line > line) Object.assign(frame, { line: frame.line - 1, depth });
      }
    }

    /** @type {TabhubOutline["addFrame"]} */
    addFrame(line, depth, element) {
      const index = tabhub.childframes.indexOf(element);
      this.#frames.push({ line, depth, ref: mint(element), index });
    }

    /**
     * @param {({line: number, name: string} | null)[]} unfinished what is open still, from the
     * outside in, with its line if it has one
     * @returns {TabhubPage}
     */
    page(unfinished) {
      this.flush();
      // What more reading could change lies, in a full outline, beyond what is wanted.
      if (!this.isFull) unfinished.reverse().forEach((open) => open && this.#forgetUnsure(open));
      const lines = this.#lines.map((line, i) => " ".repeat(this.#depths[i]) + line);
      const frames = this.#frames.filter(({ line }) => line < lines.length);
      return { text: lines.join("\n"), frames, whole: !this.isFull && !unfinished.length };
    }

    /** @param {{line: number, name: string}} open */
    #forgetUnsure({ line, name }) {
      if (!name && this.#lines.length - line - 1 <= 1) this.#lines.length = line;
    }
  }

  return { begin: (maxChars) => new Outline(maxChars) };
});
