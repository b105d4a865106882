/**
 * Putting a value into a field: text as an editor does it, so that the page gets the events. Fields
 * that cannot be typed into get their value directly.
 */
tabhub.define("fill", () => {
  const { attr, has, isConnected, isContentEditable, tag } = tabhub.dom;
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
  const FORMS = new Map([
    ["color", "#rrggbb"],
    ["date", "YYYY-MM-DD"],
    ["datetime-local", "YYYY-MM-DDTHH:MM"],
    ["month", "YYYY-MM"],
    ["time", "HH:MM"],
    ["week", "YYYY-Www"],
  ]);
  const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
  const { createElement } = Document.prototype;
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

  /** If it takes longer to prepare a field, its page has shown a dialog or done something long. */
  const AT_ONCE_MS = 5;

  /**
   * @typedef {object} Filling
   * @property {Element} element
   * @property {string} before
   * @property {string} expected
   * @property {boolean} typed
   * @property {string} text
   * @property {boolean} clear
   * @property {TabhubEditor | null} editor
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
    const isFit = text === "" || (SET_TYPES.get(input.type)?.test(text) && exists(input, text));
    if (!isFit) refuseForm(input, text);
    tabhub.writing.set(input, text);
  }

  /** There is no 30 February: a field is empty then. @param {HTMLInputElement} input @param {string} text */
  function exists({ type }, text) {
    const probe = /** @type {HTMLInputElement} */ (createElement.call(document, "input"));
    probe.type = type;
    probe.value = text;
    return probe.value !== "";
  }

  /**
   * @param {HTMLInputElement} input
   * @param {string} text
   * @returns {never}
   */
  function refuseForm(input, text) {
    const form = FORMS.get(input.type) ?? "a number";
    return refuse(
      `A field of type ${input.type} does not take "${shown(input, text)}": give ${form}.`,
    );
  }

  /**
   * Such a field would drop what it does not take, and what it holds now too.
   * @param {HTMLElement} element
   * @param {string} text
   */
  function refuseNoNumber(element, text) {
    const isNumber = element instanceof HTMLInputElement && element.type === "number";
    if (isNumber && text !== "" && !NUMBER.test(text.trim())) refuseForm(element, text);
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
   * @param {() => void} begin
   * @returns {boolean} whether the text has to be typed
   */
  function put(element, text, clear, begin) {
    if (element instanceof HTMLSelectElement) {
      begin();
      tabhub.choose.either(element, text);
    } else if (element instanceof HTMLInputElement && SET_TYPES.has(element.type)) {
      begin();
      set(element, text);
    } else if (tabhub.editors.isInput(element) && tabhub.editors.around(element)?.line) return true;
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
   * @param {HTMLElement} named
   * @param {string} text
   * @param {boolean} clear
   * @param {() => void} begin
   * @returns {boolean} whether the text has to be typed
   */
  function start(named, text, clear, begin) {
    const editor = tabhub.editors.of(named);
    const element = /** @type {HTMLElement} */ (editor?.input ?? named);
    refuseUnfit(element);
    showPart(tabhub.editors.surface(element));
    const before = current(element);
    const expected = clear ? text : before + text;
    refuseNoNumber(element, expected);
    const typed = put(element, text, clear, begin);
    filling = { element, before, expected, typed, text, clear, editor };
    return typed;
  }

  /**
   * Pages that look at keys get those of the last one, or of the one that deletes.
   * @param {Filling} filling
   * @param {TabhubKeyEvent[]} events
   * @param {() => void} begin
   */
  function type({ element, before, text, clear, editor }, events, begin) {
    begin();
    // In one task with the insertion: nothing else can take the focus in between.
    if (editor?.line) return tabhub.editorWriting.write(editor, text, clear);
    select(/** @type {HTMLElement} */ (element), clear);
    const isChange = text !== "" || before !== "";
    const [down, up] = isChange ? events : [];
    if (down) {
      tabhub.keyboard.announce(element, down);
      select(/** @type {HTMLElement} */ (element), clear);
    }
    tabhub.writing.write(text, clear);
    if (up && isConnected(element)) tabhub.keyboard.announce(element, up);
  }

  /**
   * The call's record must say so even if it failed.
   * @param {Element} element
   * @param {() => {typed: boolean, isLate?: boolean}} work
   */
  function guarded(element, work) {
    const sensitive = isSecret(element);
    try {
      const done = work();
      return { ...done, sensitive, ...(filling?.editor?.line && { byEvents: true }) };
    } catch (error) {
      const { data } = /** @type {any} */ (error);
      throw Object.assign(/** @type {object} */ (error), { data: { ...data, sensitive } });
    }
  }

  /** @type {TabhubFill["filled"]} */
  function filled(held) {
    if (!filling) return { value: "" };
    const { element, editor } = filling;
    const value = held ?? current(element);
    const isAsked = editor && held === undefined && !isSecret(element);
    if (isAsked) return { value: shown(element, value), editor: tabhub.refs.mint(editor.root) };
    if (wasRefused(filling, value)) {
      const words = tabhub.quoted(shown(element, value));
      refuse(`The field did not take the text; it holds ${words}.`);
    }
    return { value: shown(element, value) };
  }

  /**
   * Between preparing a field and putting the text in, only a dialog of the page or something long
   * that it does can take time. Then the call may have ended, and the worker says whether the text
   * is still to be put in.
   * @param {HTMLElement} element
   * @param {string} text
   * @param {boolean} clear
   * @param {TabhubKeyEvent[]} events
   * @param {() => void} begin
   */
  function fill(element, text, clear, events, begin) {
    const began = performance.now();
    const typed = start(element, text, clear, begin);
    const isLate = performance.now() - began > AT_ONCE_MS;
    if (typed && filling && !isLate) type(filling, events, begin);
    return { typed, isLate: typed && isLate };
  }

  return {
    fill: (element, text, clear, events, begin) =>
      guarded(element, () =>
        fill(/** @type {HTMLElement} */ (element), text, clear, events, begin),
      ),
    choose: (element, work) =>
      guarded(element, () => {
        work();
        const value = current(element);
        const none = { typed: false, text: "", clear: false, editor: null };
        filling = { element, before: value, expected: value, ...none };
        return { typed: false };
      }),
    insert(events, begin) {
      const prepared = filling;
      if (!prepared) return tabhub.fail("internal", "No field is prepared for a text.");
      return guarded(prepared.element, () => {
        type(prepared, events, begin);
        return { typed: true };
      });
    },
    filled,
    holds() {
      try {
        const { value, editor } = filled();
        return editor === undefined ? { value } : undefined;
      } catch {
        return undefined;
      }
    },
  };
});
