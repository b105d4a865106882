/**
 * What an action has changed, as lines of a reading: a new dialog first, then states and values,
 * then what else is new, what is gone, and where the focus is.
 */
tabhub.define("changeLines", () => {
  const { attr, closest, has, holds, isConnected, isElement, isVisible, parent } = tabhub.dom;
  const { queryDeep, rawText, tag } = tabhub.dom;
  const { clean, clip } = tabhub.names;
  const { current } = tabhub.values;
  const { quote } = tabhub.lines;
  const { isDialog, isLeaf, lineOf, quoted, rank, roleOf } = tabhub.changeList;
  const ABOVE = 5;
  const MOST_GONE = 10;
  const MOST_MARKUP_NODES = 300;
  const NAME_LENGTH = 80;
  const FIELDS = "input, select, textarea";
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  /** What lies over the page, with a curtain behind it and what keeps the focus inside. */
  const WRAPPING = /^(?:fixed|absolute)$/;
  /** What is worth a word when it is gone. */
  const NAMED_GONE = words(
    "alert alertdialog article button cell checkbox dialog heading img link listbox listitem menu " +
      "menuitem option radio row status tab table textbox tooltip treeitem",
  );

  /** Pages draw these again with the same words to say them once more. */
  const LIVE = words("alert alertdialog dialog status");
  /** Longer ones are not read for one word that changed in them. */
  const SHORT = 200;
  /** What a state is called that is not so any more, and of which the line says nothing. */
  const OFF = new Map(
    Object.entries({
      "aria-checked": "unchecked",
      "aria-current": "not current",
      "aria-disabled": "enabled",
      "aria-invalid": "valid",
      "aria-pressed": "not pressed",
      "aria-selected": "not selected",
      disabled: "enabled",
    }),
  );

  /** @typedef {ReturnType<typeof tabhub.changeNotes.take>} Notes */

  /** @param {Element} element the control around a text, if that is its name */
  function ownerOf(element) {
    let at = /** @type {Element | null} */ (element);
    for (let i = 0; at && i < ABOVE; i++, at = parent(at)) {
      if (tabhub.interactive.isActive(at, tag(at), roleOf(at))) return at;
      if (NAMED_GONE.has(roleOf(at))) return at;
    }
    return element;
  }

  /** By which an element that was drawn again is known. @param {Element} element */
  function markupOf(element) {
    const inside = tabhub.dom.treeWalker(element, NodeFilter.SHOW_ALL);
    for (let i = 0; inside.nextNode(); i++) if (i > MOST_MARKUP_NODES) return "";
    const fields = tabhub.dom.queryIn(element, FIELDS);
    if (tabhub.dom.matches(element, FIELDS)) fields.push(element);
    const held = fields.map((field) =>
      field instanceof HTMLInputElement ? `${field.checked} ${field.value}` : current(field),
    );
    return `${tabhub.dom.markup(element)} ${held.join(" ")}`;
  }

  /** @param {Set<Element>} removed */
  function counted(removed) {
    /** @type {Map<string, Element[]>} */
    const by = new Map();
    for (const element of removed) {
      const markup = markupOf(element);
      if (markup) by.set(markup, [...(by.get(markup) ?? []), element]);
    }
    return by;
  }

  /**
   * Leaves out what a page has only drawn again, which is not gone either.
   * @param {NonNullable<Notes>} notes
   * @param {Set<Element>} gone
   */
  function fresh(notes, gone) {
    const roots = [...notes.added].filter(
      (node) => isConnected(node) && isElement(node) && !holdsAnother(notes.added, node),
    );
    const before = gone.size ? counted(gone) : null;
    return /** @type {Element[]} */ (roots).filter((element) => {
      if (!isVisible(element)) return tabhub.dom.isRendered(element);
      const same = before?.get(markupOf(element))?.pop();
      if (same) gone.delete(same);
      return !same || LIVE.has(roleOf(element));
    });
  }

  /**
   * @param {Set<Node>} nodes
   * @param {Node} node
   */
  function holdsAnother(nodes, node) {
    for (let at = parent(node); at; at = parent(at)) if (nodes.has(at)) return true;
    return false;
  }

  /** Its words, with room between those of different elements. @param {Element} element */
  function textOf(element) {
    const all = tabhub.dom.treeWalker(element, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let i = 0; i < MOST_MARKUP_NODES && text.length < NAME_LENGTH * 2; i++) {
      const node = /** @type {Text | null} */ (all.nextNode());
      if (!node) break;
      text += ` ${node.data.slice(0, NAME_LENGTH * 2)}`;
    }
    return clean(text);
  }

  /** @param {Element} element that is not on the page any more */
  function goneLine(element) {
    const role = roleOf(element);
    if (tabhub.secrets.isSecret(element)) return "";
    const name = attr(element, "aria-label") || textOf(element);
    if (!name) return "";
    return `-${NAMED_GONE.has(role) ? `${role} ` : ""}${quote(clip(name, NAME_LENGTH))}`;
  }

  /**
   * @param {NonNullable<Notes>} notes
   * @param {Set<Element>} gone
   * @param {TabhubChangedLines} lines
   */
  function writeShown(notes, gone, lines) {
    const shown = [...notes.hidden].filter((element) => isConnected(element) && isVisible(element));
    shown.sort(byPlace);
    const news = [...shown, ...fresh(notes, gone)].filter((element) => !isShutOff(element));
    const ranked = news.map((element) => ({ element, at: rank(element) }));
    for (const { element } of ranked.filter(({ at }) => at < 2).sort((a, b) => a.at - b.at))
      lines.tree(opened(element));
    return () => ranked.forEach(({ element, at }) => at === 2 && lines.tree(element));
  }

  /** As they come in the document. @param {Element} a @param {Element} b */
  function byPlace(a, b) {
    return tabhub.dom.isBefore(a, b) ? -1 : 1;
  }

  /** The dialog, or the list, that a wrapper around it was added for. @param {Element} element */
  function opened(element) {
    if (!WRAPPING.test(getComputedStyle(element).position)) return element;
    for (const kind of tabhub.changeList.kinds) {
      const inside = tabhub.dom.matches(element, kind) ? [element] : queryDeep(kind, element);
      for (const found of inside) if (isVisible(found)) return found;
    }
    return element;
  }

  /** @param {Element} element */
  function isShutOff(element) {
    return closest(element, "[aria-hidden=true], [inert]") !== null;
  }

  /**
   * @param {NonNullable<Notes>} notes
   * @param {TabhubChangedLines} lines
   * @param {boolean} isValueKnown whether the result says what the target holds
   */
  function writeStates(notes, lines, isValueKnown) {
    for (const field of notes.otherFields()) {
      const isKnown = isValueKnown && holds(notes.target, field);
      if (isKnown || !isConnected(field) || !isLegible(field)) continue;
      lines.line(visibleOf(field), notes.wasUnchecked(field) ? " unchecked" : "");
    }
    for (const field of notes.invalid) {
      const message = "validationMessage" in field ? String(field.validationMessage) : "";
      lines.line(field, message && ` invalid=${quote(clip(clean(message), NAME_LENGTH))}`);
    }
  }

  /** @param {Element} field */
  function isLegible(field) {
    return isVisible(field) || isVisible(visibleOf(field));
  }

  /** A box that a page draws itself is hidden: its label stands for it. @param {Element} field */
  function visibleOf(field) {
    if (isVisible(field) || !(field instanceof HTMLInputElement)) return field;
    return [...(field.labels ?? [])].find(isVisible) ?? field;
  }

  /**
   * @param {NonNullable<Notes>} notes
   * @param {TabhubChangedLines} lines
   * @param {boolean} isValueKnown
   */
  function writeChanged(notes, lines, isValueKnown) {
    for (const [element, attributes] of notes.changed)
      if (isNews(element, notes, isValueKnown))
        lines.line(ownerOf(element), offWord(element, attributes));
    for (const element of notes.retold)
      if (isNews(element, notes, isValueKnown)) writeText(element, lines);
    for (const text of notes.loose) {
      const words = isConnected(text) ? quoted(text.data) : "";
      if (words) lines.add(`+${words}`);
    }
  }

  /**
   * @param {Element} element
   * @param {NonNullable<Notes>} notes
   * @param {boolean} isValueKnown
   */
  function isNews(element, { target }, isValueKnown) {
    if (!isConnected(element) || !isVisible(element) || isShutOff(element)) return false;
    if (element === tabhub.dom.body() || element === tabhub.dom.documentElement()) return false;
    const isEditor = element instanceof HTMLElement && tabhub.dom.isContentEditable(element);
    return !isValueKnown || !(holds(target, element) || (isEditor && holds(element, target)));
  }

  /**
   * @param {Element} element
   * @param {Set<string>} attributes that have changed
   */
  function offWord(element, attributes) {
    const off = [...attributes].find(
      (name) => OFF.has(name) && (!has(element, name) || attr(element, name) === "false"),
    );
    return off ? ` ${OFF.get(off)}` : "";
  }

  /**
   * Its owner with the new words; of a large one only the words.
   * @param {Element} element
   * @param {TabhubChangedLines} lines
   */
  function writeText(element, lines) {
    const owner = ownerOf(element);
    if (isLeaf(owner)) return lines.line(owner);
    const row = closest(element, "tr, [role=row]");
    for (const whole of [row, isDialog(owner) ? null : owner]) {
      if (whole && rawText(whole, SHORT + 1).length <= SHORT) {
        if (!textOf(whole)) lines.line(whole, " empty");
        return lines.tree(whole);
      }
    }
    lines.tree(element);
  }

  /**
   * @param {NonNullable<Notes>} notes
   * @param {Set<Element>} removed
   * @param {TabhubChangedLines} lines
   */
  function writeGone(notes, removed, lines) {
    const gone = [...removed].filter((element) => !isConnected(element));
    const changed = [...notes.changed.keys(), ...notes.retold, ...notes.overlays];
    const hidden = changed.filter((el) => isConnected(el) && !isVisible(el));
    const seen = [...gone, ...hidden].filter(
      (element) =>
        !notes.isUnseen(element) &&
        !tabhub.roles.isSkipped(tag(element)) &&
        !closest(element, "head"),
    );
    const named = new Set(seen.map(goneLine).filter(Boolean));
    [...named].slice(0, MOST_GONE).forEach((line) => lines.add(line));
    if (named.size > MOST_GONE) lines.isCut = true;
  }

  /**
   * @param {NonNullable<Notes>} notes
   * @param {TabhubChangedLines} lines
   */
  function writeFocus({ focused, target }, lines) {
    const now = tabhub.focus.deepest();
    const isNone = !now || now === tabhub.dom.body() || now === tabhub.dom.documentElement();
    if (isNone || now === focused || holds(target, now) || holds(now, target)) return;
    const line = lineOf(now);
    if (line) lines.add(`focus: ${line}`);
  }

  return {
    write({ maxChars, isValueKnown: saysValue, mayAskAgain }) {
      const { changeNotes } = tabhub;
      const notes = mayAskAgain ? changeNotes.now() : changeNotes.take();
      if (!notes) return null;
      const isValueKnown = saysValue && tabhub.focus.tells(notes.target);
      const lines = tabhub.changeList.begin(maxChars);
      const gone = new Set(notes.removed);
      const writeRest = writeShown(notes, gone, lines);
      writeStates(notes, lines, isValueKnown);
      writeChanged(notes, lines, isValueKnown);
      writeFocus(notes, lines);
      writeRest();
      writeGone(notes, gone, lines);
      return { lines: lines.text, whole: !lines.isCut && !notes.isFull };
    },
  };
});
