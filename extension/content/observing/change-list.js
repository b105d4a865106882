/** The list of what an action has changed: lines within a limit, each element at most once. */
tabhub.define("changeList", () => {
  const { attr, has, parent, tag } = tabhub.dom;
  const { clean, clip } = tabhub.names;
  const { quote } = tabhub.lines;
  const DEPTH = 12;
  const MAX_MS = 30;
  /** For all lines together. */
  const LINES_MS = 100;
  const LONGEST_NAME = 200;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  const DIALOGS = words("dialog alertdialog");
  const OVERLAYS = words("alert listbox menu status tooltip");
  const DIALOG = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]";
  const OVERLAY = [...OVERLAYS].map((role) => `[role=${role}]`).join();
  /** Their name is all of their text, so that their line says what is inside. */
  const LEAVES = words(
    "button checkbox combobox heading img link menuitem menuitemcheckbox menuitemradio option " +
      "progressbar radio searchbox slider spinbutton switch tab textbox",
  );
  /** @param {Element} element */
  const mint = (element) => tabhub.refs.mint(element);

  /** @param {string} text */
  function quoted(text) {
    const words = clean(text);
    return words && quote(words);
  }

  /** @param {Element} element */
  function lineOf(element) {
    const options = { filter: "all", depth: DEPTH, maxMs: MAX_MS };
    const { item, text } = tabhub.walker.first(element, options);
    if (!item) return quoted(text);
    const ref = item.hasRef || item.element === element ? ` [ref_${mint(item.element)}]` : "";
    return item.role + (item.name && ` ${quote(clip(item.name, LONGEST_NAME))}`) + ref + item.rest;
  }

  /** @param {Element} element */
  function roleOf(element) {
    return tabhub.roles.of(element, tag(element));
  }

  const isDialog = (/** @type {Element} */ element) => DIALOGS.has(roleOf(element));
  const isLeaf = (/** @type {Element} */ element) => LEAVES.has(roleOf(element));

  /** Something that lies over the page, and is more than a picture. */
  const CONTROL = "button, input, select, textarea";

  /** How important it is: a dialog, something that lies over the page, or anything else. @param {Element} element */
  function rank(element) {
    if (isDialog(element) || attr(element, "aria-modal") === "true") return 0;
    if (tabhub.dom.holdsAny(element, DIALOG)) return 0;
    if (OVERLAYS.has(roleOf(element)) || has(element, "popover")) return 1;
    const { position } = getComputedStyle(element);
    const isForm = position === "absolute" && tabhub.dom.holdsAny(element, CONTROL);
    return position === "fixed" || isForm ? 1 : 2;
  }

  /** Lines within a limit, each element at most once. */
  class Lines {
    /** @type {string[]} */
    #lines = [];
    /** @type {Set<Element>} with all that is inside */
    #written = new Set();
    /** @type {Set<Element>} of which only their own line is written */
    #own = new Set();
    #room;
    #endAt = tabhub.dom.deadline(LINES_MS);
    isCut = false;

    /** @param {number} maxChars */
    constructor(maxChars) {
      this.#room = maxChars;
    }

    /** Whether there is no room for another line, or no time; one line there always is. */
    #isFull() {
      const isLate = this.#lines.length > 0 && performance.now() > this.#endAt;
      if (this.#room <= 0 || isLate) this.isCut = true;
      return this.isCut;
    }

    get text() {
      return this.#lines.join("\n");
    }

    /** @param {Element} element */
    has(element) {
      if (this.#own.has(element)) return true;
      for (let at = /** @type {Element | null} */ (element); at; at = parent(at))
        if (this.#written.has(at)) return true;
      return false;
    }

    /** @param {string} line */
    add(line) {
      if (this.#isFull()) return;
      const shown = clip(line, Math.max(this.#room, 1));
      if (shown !== line) this.isCut = true;
      this.#room -= shown.length + 1;
      this.#lines.push(shown);
    }

    /**
     * @param {Element} element only its own line
     * @param {string} [more]
     */
    line(element, more = "") {
      if (this.#isFull() || this.has(element)) return;
      const line = lineOf(element);
      (isLeaf(element) ? this.#written : this.#own).add(element);
      if (line) this.add(`+${line}${more}`);
    }

    /** @param {Element} element with all that is inside it */
    tree(element) {
      if (this.#isFull() || this.has(element)) return;
      this.#written.add(element);
      const text = this.#read(element);
      for (const line of text ? text.split("\n") : []) this.add(`+${line}`);
    }

    /** What does not fit is left out, rather than what a person could act on. @param {Element} element */
    #read(element) {
      const options = { depth: DEPTH, maxMs: MAX_MS, maxChars: Math.max(this.#room, 1) };
      const all = tabhub.walker.read(element, { ...options, filter: "all" });
      if (all.whole && all.text.length <= this.#room) return all.text;
      this.isCut = true;
      if (rank(element) === 2) return all.text;
      const active = tabhub.walker.read(element, { ...options, filter: "interactive" }).text;
      const [head] = all.text.split("\n", 1);
      return active.startsWith(head) ? active : `${head}\n${active.replace(/^/gm, " ")}`;
    }
  }

  return {
    begin: (maxChars) => new Lines(maxChars),
    kinds: [DIALOG, OVERLAY],
    isDialog,
    isLeaf,
    lineOf,
    quoted,
    rank,
    roleOf,
  };
});
