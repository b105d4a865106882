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

/**
 * Putting a value into a field: text as an editor does it, so that the page gets the events. Fields
 * that cannot be typed into get their value directly.
 */
tabhub.define("fill", () => {
  const { attr, has, isContentEditable, tag } = tabhub.dom;
  const { isSecret } = tabhub.secrets;
  const { current, shown } = tabhub.values;
  const { refuseDisabled, showPart } = tabhub.target;
  /** Checked before they are set, because otherwise the browser warns in the page's console. */
  const SET_TYPES = new Map([
    ["color", /^#[0-9a-f]{6}$/i],
    ["date", /^\d{4,6}-\d\d-\d\d$/],
    ["datetime-local", /^\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/],
    ["month", /^\d{4,6}-\d\d$/],
    ["range", /^-?\d+(\.\d+)?$/],
    ["time", /^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/],
    ["week", /^\d{4,6}-W\d\d$/],
  ]);
  const REFUSED = new Map([
    ["checkbox", "Click it instead."],
    ["radio", "Click it instead."],
    ["button", "Click it instead."],
    ["submit", "Click it instead."],
    ["reset", "Click it instead."],
    ["image", "Click it instead."],
    ["file", "Files have to be uploaded, not typed."],
    ["hidden", "It is not shown to anyone."],
  ]);

  /**
   * @typedef {object} Filling
   * @property {Element} element
   * @property {string} before
   * @property {string} expected
   * @property {boolean} typed
   * @property {string} text
   * @property {boolean} clear
   */
  /** @type {Filling | null} */
  let filling = null;

  /** @param {Element} element */
  function refuseUnfit(element) {
    refuseDisabled(element);
    if (has(element, "readonly") || attr(element, "aria-readonly") === "true") {
      tabhub.fail("readonly", "The field is read-only.");
    }
    const advice = element instanceof HTMLInputElement ? REFUSED.get(element.type) : undefined;
    if (advice) refuse(`This input (${attr(element, "type")}) takes no text. ${advice}`);
  }

  /**
   * @param {string} message
   * @returns {never}
   */
  function refuse(message) {
    return tabhub.fail("invalid_arguments", message);
  }

  /**
   * @param {HTMLInputElement} input
   * @param {string} text
   */
  function set(input, text) {
    const isFit = text === "" || SET_TYPES.get(input.type)?.test(text);
    if (!isFit) refuse(`A field of type ${input.type} does not take "${shown(input, text)}".`);
    tabhub.writing.set(input, text);
  }

  /**
   * @param {HTMLElement} element
   * @param {boolean} clear
   */
  function select(element, clear) {
    if (!tabhub.focus.take(element)) {
      tabhub.fail("not_visible", "The field does not take the focus.");
    }
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      if (clear) element.select();
      else moveToEnd(element);
    } else selectContent(element, clear);
  }

  /** @param {HTMLInputElement | HTMLTextAreaElement} field */
  function moveToEnd(field) {
    try {
      field.setSelectionRange(field.value.length, field.value.length);
    } catch {
      // Some types (number, email) have no selection; typing goes to the end there.
    }
  }

  /**
   * @param {HTMLElement} element
   * @param {boolean} clear
   */
  function selectContent(element, clear) {
    const selection = getSelection();
    selection?.selectAllChildren(element);
    if (!clear) selection?.collapseToEnd();
  }

  /** @param {Element} element */
  function isTextField(element) {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return true;
    return element instanceof HTMLElement && isContentEditable(element);
  }

  /**
   * @param {HTMLElement} element
   * @param {string} text
   * @param {boolean} clear
   * @returns {boolean} whether the text still has to be typed
   */
  function put(element, text, clear) {
    if (element instanceof HTMLSelectElement) tabhub.choose.either(element, text);
    else if (element instanceof HTMLInputElement && SET_TYPES.has(element.type)) set(element, text);
    else if (!isTextField(element))
      refuse(`A ${tabhub.quoted(`<${tag(element)}>`)} takes no text.`);
    else {
      select(element, clear);
      return true;
    }
    return false;
  }

  const flat = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();

  /**
   * A page may reformat the text (cut it, group digits); then that is its value.
   * @param {Filling} filling
   * @param {string} value
   */
  function wasRefused({ before, expected, typed }, value) {
    if (!typed || flat(value) === flat(expected)) return false;
    return flat(value) === "" || flat(value) === flat(before);
  }

  /**
   * @param {HTMLElement} element
   * @param {string} text
   * @param {boolean} clear
   * @returns {boolean} whether the text still has to be typed
   */
  function start(element, text, clear) {
    refuseUnfit(element);
    showPart(element);
    const before = current(element);
    const typed = put(element, text, clear);
    filling = { element, before, expected: clear ? text : before + text, typed, text, clear };
    return typed;
  }

  /**
   * The call's record must say so even if it failed.
   * @param {Element} element
   * @param {() => boolean} work returns whether text is still to be typed
   */
  function guarded(element, work) {
    const sensitive = isSecret(element);
    try {
      return { typed: work(), sensitive };
    } catch (error) {
      const { data } = /** @type {any} */ (error);
      throw Object.assign(/** @type {object} */ (error), { data: { ...data, sensitive } });
    }
  }

  return {
    fill: (element, text, clear) =>
      guarded(element, () => start(/** @type {HTMLElement} */ (element), text, clear)),
    choose: (element, work) =>
      guarded(element, () => {
        work();
        const value = current(element);
        filling = { element, before: value, expected: value, typed: false, text: "", clear: false };
        return false;
      }),
    insert() {
      if (!filling) return;
      const { element, text, clear } = filling;
      // In one task with the insertion: nothing else can take the focus in between.
      select(/** @type {HTMLElement} */ (element), clear);
      tabhub.writing.write(text, clear);
    },
    filled() {
      if (!filling) return "";
      const value = current(filling.element);
      if (wasRefused(filling, value)) {
        const held = tabhub.quoted(shown(filling.element, value));
        refuse(`The field did not take the text; it holds ${held}.`);
      }
      return shown(filling.element, value);
    },
  };
});
