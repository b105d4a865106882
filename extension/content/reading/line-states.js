/** What follows the role and the name on a line: attributes and states. */
tabhub.define("lines", () => {
  const { attr, has, isBare, matches } = tabhub.dom;
  const { clean, clip } = tabhub.names;
  const HREF_LENGTH = 100;
  const VALUE_LENGTH = 200;
  /** The level that ARIA gives a heading without `aria-level`. */
  const HEADING_LEVEL = 2;
  const NO_VALUE = new Set(["button", "checkbox", "file", "image", "radio", "reset", "submit"]);
  const FIELDS = new Set(["input", "select", "textarea"]);

  /** A line of text has no role: it begins with a quotation mark. */
  const TEXT = '"';

  /** @type {TabhubLines["quote"]} */
  const quote = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;

  /** @type {TabhubLines["value"]} */
  function value(text) {
    const lines = clip(text.trim().split("\n").map(clean).join("\n"), VALUE_LENGTH);
    return lines && ` value=${quote(lines).replaceAll("\n", "\\n")}`;
  }

  /**
   * @param {string} name
   * @param {string | null} value
   * @param {number} [length]
   */
  function attribute(name, value, length = VALUE_LENGTH) {
    const text = value ? clip(clean(value), length) : "";
    return text ? ` ${name}=${quote(text)}` : "";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function valueOf(element, tag) {
    if (element instanceof HTMLSelectElement) return selectedLabels(element);
    if (element instanceof HTMLTextAreaElement) {
      return concealed(element, tabhub.values.current(element));
    }
    if (element instanceof HTMLInputElement) return inputValue(element);
    if (tag === "progress" || tag === "meter") return attr(element, "value");
    return attr(element, "aria-valuetext") ?? attr(element, "aria-valuenow");
  }

  /** @param {HTMLSelectElement} select */
  function selectedLabels(select) {
    return [...select.selectedOptions].map((option) => option.label).join(", ");
  }

  /** @param {HTMLInputElement} input */
  function inputValue(input) {
    if (NO_VALUE.has(input.type)) return null;
    return concealed(input, input.value);
  }

  /**
   * @param {Element} field
   * @param {string} value
   */
  function concealed(field, value) {
    return tabhub.secrets.isSecret(field) ? tabhub.secrets.mask(value) : value;
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} name
   */
  function field(element, tag, name) {
    const type = tag === "input" ? (attr(element, "type") ?? "").toLowerCase() : "";
    const shownType = type === "text" || type === "checkbox" || type === "radio" ? "" : type;
    const placeholder = clean(attr(element, "placeholder") ?? "");
    return (
      attribute("type", shownType) +
      (placeholder === name ? "" : attribute("placeholder", placeholder)) +
      value(valueOf(element, tag) ?? "")
    );
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function states(element, tag) {
    if (!isControl(tag) && tag !== "summary" && isBare(element)) return dragStates(element);
    const isOn = (/** @type {string} */ name) => attr(element, `aria-${name}`) === "true";
    const input = element instanceof HTMLInputElement ? element : null;
    const expanded = expandedState(element, tag);
    const flags = [
      input?.checked || isOn("checked") ? "checked" : "",
      input?.indeterminate || attr(element, "aria-checked") === "mixed" ? "mixed" : "",
      isOn("disabled") || (isControl(tag) && matches(element, ":disabled")) ? "disabled" : "",
      expanded,
      isOn("pressed") ? "pressed" : "",
      isOn("selected") ? "selected" : "",
      tag === "textarea" || isOn("multiline") ? "multiline" : "",
      has(element, "required") || isOn("required") ? "required" : "",
      has(element, "readonly") || isOn("readonly") ? "readonly" : "",
    ];
    return flags.map((flag) => (flag ? ` ${flag}` : "")).join("") + dragStates(element);
  }

  /** @param {Element} element */
  function dragStates(element) {
    const known = tabhub.listening.of(element);
    return known ? (known.isDrag ? " draggable" : "") + (known.isDrop ? " droppable" : "") : "";
  }

  /** @param {string} tag */
  function isControl(tag) {
    return FIELDS.has(tag) || tag === "button" || tag === "fieldset" || tag === "option";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function expandedState(element, tag) {
    const details = tag === "summary" ? tabhub.dom.parent(element) : null;
    const value = details ? String(has(details, "open")) : attr(element, "aria-expanded");
    return value === "true" ? "expanded" : value === "false" ? "collapsed" : "";
  }

  /** @type {TabhubLines["headingLevel"]} */
  function headingLevel(element, tag) {
    const number = attr(element, "aria-level") ?? (/^h[1-6]$/.test(tag) ? tag[1] : "");
    return Number(number) || HEADING_LEVEL;
  }

  /** @param {Element} element */
  function address(element) {
    const href = attr(element, "href");
    // A fragment of the same page is not a link target worth showing, unless it looks like a path.
    return href && /^#(?![/!])/.test(href) ? "" : attribute("href", href, HREF_LENGTH);
  }

  return {
    TEXT,
    quote,
    value,
    headingLevel,
    details(element, tag, role, name) {
      const isField = FIELDS.has(tag) || role === "slider" || role === "progressbar";
      return (
        (tag === "a" || tag === "area" ? address(element) : "") +
        (isField || role === "meter" || role === "spinbutton" ? field(element, tag, name) : "") +
        states(element, tag)
      );
    },
  };
});
