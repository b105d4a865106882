/**
 * The lines of a page while they are written: text is collected, structure that turns out to be
 * empty is removed, and nothing is written beyond the limit.
 */
tabhub.define("outlines", () => {
  const { clean } = tabhub.names;
  const { quote } = tabhub.lines;
  const { mint } = tabhub.refs;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** Roles that take the text inside as their name, when there is nothing else inside. */
  const TAKE_TEXT = words(
    "alert blockquote caption cell code columnheader definition figure gridcell log note row " +
      "rowheader status term timer tooltip",
  );
  /** Shown even when empty. */
  const STAND_ALONE = words("separator img image canvas video audio iframe progressbar meter");
  /** A line of text has no role: it begins with a quotation mark. */
  const TEXT = '"';
  /** Spaces count before they are collapsed, so a text may be longer than the limit. */
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
      // A text that was cut does not end here.
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
      // Full only with one line too many: the last one may still change.
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
      const index = tabhub.childFrames.indexOf(element);
      this.#frames.push({ line, depth, ref: mint(element), index });
    }

    /**
     * @param {({line: number, name: string} | null)[]} unfinished the elements that are still open,
     *   from the outside in, with their line if they have one
     * @returns {TabhubPage}
     */
    page(unfinished) {
      this.flush();
      // In a full outline, further reading could change only lines beyond the limit.
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
