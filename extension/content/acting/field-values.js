/** Choosing options of a select. */
tabhub.define("choose", () => {
  const { matches, tag } = tabhub.dom;
  const { clip } = tabhub.names;
  const { shown } = tabhub.values;
  const { refuseDisabled, showPart } = tabhub.target;
  const { dispatchEvent } = EventTarget.prototype;
  const OPTIONS_NAMED = 30;
  const LABEL_LENGTH = 100;

  /** @param {HTMLOptionElement} option */
  const labelOf = ({ label }) => label.trim();
  /** @type {Record<"value" | "label", (option: HTMLOptionElement, wanted: string) => boolean>} */
  const FITS = {
    value: (option, wanted) => option.value === wanted,
    label: (option, wanted) => labelOf(option) === wanted.trim(),
  };

  /** @param {HTMLOptionElement} option */
  function named(option) {
    return `"${clip(labelOf(option), LABEL_LENGTH)}"`;
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {string} wanted
   * @returns {never}
   */
  function refuseUnknown(select, wanted) {
    const options = [...select.options];
    const names = options.slice(0, OPTIONS_NAMED).map(named).join(", ");
    const more = options.length > OPTIONS_NAMED ? ", …" : "";
    const list = `The options are: ${tabhub.quoted(names + more)}.`;
    const what = clip(shown(select, wanted), LABEL_LENGTH);
    return tabhub.fail("invalid_arguments", `There is no option "${what}". ${list}`);
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {string} wanted
   * @param {("value" | "label")[]} ways
   */
  function find(select, wanted, ways) {
    const options = [...select.options];
    const found = ways.flatMap((by) => options.find((option) => FITS[by](option, wanted)) ?? []);
    const option = found[0] ?? refuseUnknown(select, wanted);
    if (matches(option, ":disabled")) {
      tabhub.fail("disabled", `The option ${tabhub.quoted(named(option))} is disabled.`);
    }
    return option;
  }

  /**
   * Through the browser's own setter: page libraries may replace the element's.
   * @param {HTMLOptionElement} option
   * @param {boolean} selected
   */
  function mark(option, selected) {
    const { set } = /** @type {PropertyDescriptor} */ (
      Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "selected")
    );
    set?.call(option, selected);
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {Set<HTMLOptionElement>} chosen
   */
  function set(select, chosen) {
    const wrong = [...select.options].filter((option) => option.selected !== chosen.has(option));
    if (!wrong.length) return;
    // In a single select, choosing an option deselects the other.
    for (const option of wrong)
      if (select.multiple || chosen.has(option)) mark(option, chosen.has(option));
    dispatchEvent.call(select, new Event("input", { bubbles: true, composed: true }));
    dispatchEvent.call(select, new Event("change", { bubbles: true }));
  }

  /** @param {Element} element */
  function requireSelect(element) {
    if (element instanceof HTMLSelectElement) return element;
    const advice = "Click it, then click the option.";
    const what = tabhub.quoted(`<${tag(element)}>`);
    const message = `A ${what} is not a select. ${advice}`;
    return tabhub.fail("invalid_arguments", message);
  }

  return {
    either(select, wanted) {
      set(select, new Set([find(select, wanted, ["value", "label"])]));
    },
    options(element, by, wanted) {
      const select = requireSelect(element);
      refuseDisabled(select);
      showPart(select);
      if (wanted.length > 1 && !select.multiple) {
        tabhub.fail("invalid_arguments", "Only one option of this select can be chosen.");
      }
      set(select, new Set(wanted.map((one) => find(select, one, [by]))));
    },
  };
});

/** Writing into the field that has the focus, as an editor does it. */
tabhub.define("writing", () => {
  const { attr, body, documentElement, has, matches } = tabhub.dom;
  const { send } = tabhub.synthetic;
  const { execCommand } = Document.prototype;
  const { dispatchEvent } = EventTarget.prototype;

  /** @param {Element} element */
  function mayWrite(element) {
    const isLocked = has(element, "readonly") || attr(element, "aria-readonly") === "true";
    return tabhub.focus.isText(element) && !isLocked && !matches(element, ":disabled");
  }

  /**
   * The page gets the events, and can undo it.
   * @param {string} command
   * @param {string} [text]
   * @returns {boolean}
   */
  function edit(command, text) {
    return execCommand.call(document, command, false, text);
  }

  /**
   * The browser has no such event for what a script inserts, and editors rely on it. A page that
   * prevents it has inserted the text itself.
   * @param {Element} element
   * @param {string} text
   */
  function announce(element, text) {
    const inputType = text ? "insertText" : "deleteContentBackward";
    const how = { bubbles: true, cancelable: true, composed: true, view: window };
    const event = new InputEvent("beforeinput", {
      ...how,
      inputType,
      data: text || null,
      targetRanges: rangesIn(element),
    });
    return send(element, event);
  }

  /**
   * @param {Element} element
   * @returns {StaticRange[]} what is selected; fields for plain text have none
   */
  function rangesIn(element) {
    const isPlain = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
    const selection = isPlain ? null : getSelection();
    return selection?.rangeCount ? [new StaticRange(selection.getRangeAt(0))] : [];
  }

  /**
   * Page libraries replace the property on the element itself; the prototype's setter is the
   * browser's own.
   * @param {HTMLInputElement | HTMLTextAreaElement} element
   * @param {string} value
   */
  function setNatively(element, value) {
    const isArea = element instanceof HTMLTextAreaElement;
    const { prototype } = isArea ? HTMLTextAreaElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(element, value);
    dispatchEvent.call(element, new Event("input", { bubbles: true, composed: true }));
    dispatchEvent.call(element, new Event("change", { bubbles: true }));
  }

  return {
    mayWrite,
    edit,
    set: setNatively,
    write(text, isWhole = false) {
      if (tabhub.focus.isInFrame()) tabhub.focus.regain();
      const element = tabhub.focus.deepest() ?? body() ?? documentElement();
      if (!element || !mayWrite(element))
        return tabhub.fail("readonly", "The field takes no text now.");
      if (!announce(element, text)) return;
      const isDone = text ? edit("insertText", text) : edit("delete");
      const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
      if (!isDone && isWhole && isField) setNatively(element, text);
    },
  };
});
