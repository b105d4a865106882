/**
 * Putting a value into a field. Text is only prepared here (focus, selection): the worker types
 * it as trusted input. Fields that cannot be typed into get their value set directly.
 */
tabhub.define("fill", () => {
  const { attr, has, innerText, isContentEditable, tag } = tabhub.dom;
  const { clip } = tabhub.names;
  const { isSecret, mask } = tabhub.secrets;
  const { refuseDisabled, showPart } = tabhub.target;
  const { focus } = HTMLElement.prototype;
  const { dispatchEvent } = EventTarget.prototype;
  /** Checked before they are set, for the browser complains in the page's console otherwise. */
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
  const OPTIONS_NAMED = 30;
  const LABEL_LENGTH = 100;
  const VALUE_LENGTH = 20_000;

  /**
   * @typedef {object} Filling
   * @property {HTMLElement} element
   * @property {string} before
   * @property {string} expected
   * @property {boolean} typed
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

  /** @param {Element} element */
  function currentValue(element) {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      return element.value;
    }
    if (element instanceof HTMLSelectElement) return element.value;
    return element instanceof HTMLElement ? innerText(element).replace(/\n$/, "") : "";
  }

  /**
   * Page libraries watch the property on the element itself; the prototype's setter is the
   * browser's own.
   * @param {HTMLInputElement | HTMLSelectElement} element
   * @param {string} value
   */
  function setNatively(element, value) {
    const prototype = element instanceof HTMLInputElement ? HTMLInputElement : HTMLSelectElement;
    Object.getOwnPropertyDescriptor(prototype.prototype, "value")?.set?.call(element, value);
    dispatchEvent.call(element, new Event("input", { bubbles: true, composed: true }));
    dispatchEvent.call(element, new Event("change", { bubbles: true }));
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {string} wanted
   */
  function choose(select, wanted) {
    const options = [...select.options];
    const option =
      options.find(({ value }) => value === wanted) ??
      options.find(({ label }) => label.trim() === wanted.trim());
    if (!option) {
      return refuse(`There is no option "${shown(select, wanted)}". ${optionList(options)}`);
    }
    if (option.disabled) tabhub.fail("disabled", `The option "${labelOf(option)}" is disabled.`);
    if (select.multiple) option.selected = true;
    setNatively(select, option.value);
  }

  /** @param {HTMLOptionElement} option */
  function labelOf({ label }) {
    return clip(label.trim(), LABEL_LENGTH);
  }

  /** @param {HTMLOptionElement[]} options */
  function optionList(options) {
    const named = options.slice(0, OPTIONS_NAMED).map((option) => `"${labelOf(option)}"`);
    return `The options are: ${named.join(", ")}${options.length > named.length ? ", …" : ""}.`;
  }

  /**
   * @param {HTMLInputElement} input
   * @param {string} text
   */
  function set(input, text) {
    const isFit = text === "" || SET_TYPES.get(input.type)?.test(text);
    if (!isFit) refuse(`A field of type ${input.type} does not take "${shown(input, text)}".`);
    setNatively(input, text);
  }

  /**
   * @param {HTMLElement} element
   * @param {boolean} clear
   */
  function select(element, clear) {
    focus.call(element, { preventScroll: true });
    if (!hasFocus(element)) tabhub.fail("not_visible", "The field does not take the focus.");
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      if (clear) element.select();
      else moveToEnd(element);
    } else selectContent(element, clear);
  }

  /** @param {HTMLElement} element */
  function hasFocus(element) {
    const root = tabhub.dom.root(element);
    const active = root instanceof ShadowRoot ? root.activeElement : tabhub.dom.activeElement();
    return active !== null && (active === element || tabhub.dom.holds(active, element));
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
    if (element instanceof HTMLSelectElement) choose(element, text);
    else if (element instanceof HTMLInputElement && SET_TYPES.has(element.type)) set(element, text);
    else if (!isTextField(element)) refuse(`A <${tag(element)}> takes no text.`);
    else {
      select(element, clear);
      return true;
    }
    return false;
  }

  const flat = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();

  /**
   * A page may put the text into another form (cut it, group digits); that is its value then.
   * @param {Filling} filling
   * @param {string} value
   */
  function wasRefused({ before, expected, typed }, value) {
    if (!typed || flat(value) === flat(expected)) return false;
    return flat(value) === "" || flat(value) === flat(before);
  }

  /**
   * @param {Element} element
   * @param {string} value
   */
  function shown(element, value) {
    return isSecret(element) ? mask(value) : clip(value, VALUE_LENGTH);
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
    const before = currentValue(element);
    const typed = put(element, text, clear);
    filling = { element, before, expected: clear ? text : before + text, typed };
    return typed;
  }

  return {
    fill(element, text, clear) {
      const sensitive = isSecret(element);
      try {
        return { typed: start(/** @type {HTMLElement} */ (element), text, clear), sensitive };
      } catch (error) {
        const { data } = /** @type {any} */ (error);
        throw Object.assign(/** @type {object} */ (error), { data: { ...data, sensitive } });
      }
    },
    filled() {
      if (!filling) return "";
      const value = currentValue(filling.element);
      if (wasRefused(filling, value)) {
        refuse(`The field did not take the text; it holds "${shown(filling.element, value)}".`);
      }
      return shown(filling.element, value);
    },
  };
});
