/** Accessible names, computed the way ARIA does where it matters to a reader. */
tabhub.define("names", () => {
  const { attr, children, firstChild, isElement, isText, isVisible, root, tag: tagOf } = tabhub.dom;
  const { isInline, isSkipped } = tabhub.roles;
  const NAME_LENGTH = 200;
  // Control characters come from hostile or broken pages; they would break lines or terminals.
  const BLANKS = /[\s\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+/g;
  const LABELLED = new Set([
    "input",
    "select",
    "textarea",
    "button",
    "meter",
    "output",
    "progress",
  ]);
  const BUTTON_TYPES = new Set(["submit", "reset", "button"]);
  /** @type {Map<string, string>} */
  const NAMING_CHILD = new Map([
    ["fieldset", "legend"],
    ["figure", "figcaption"],
    ["svg", "title"],
    ["table", "caption"],
  ]);

  /** @type {TabhubNames["clean"]} */
  const clean = (text) => text.replace(BLANKS, " ").trim();

  /** @type {TabhubNames["clip"]} */
  const clip = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

  /**
   * @param {Element} element
   * @param {number} limit
   * @param {{text: string}} into
   */
  function gather(element, limit, into) {
    for (const child of children(element)) {
      if (into.text.length > limit) return;
      if (isText(child)) into.text += child.data;
      else if (isElement(child)) gatherElement(child, limit, into);
    }
  }

  /**
   * @param {Element} element
   * @param {number} limit
   * @param {{text: string}} into
   */
  function gatherElement(element, limit, into) {
    const tag = tagOf(element);
    if (isSkipped(tag) || attr(element, "aria-hidden") === "true") return;
    if (!tabhub.dom.isRendered(element)) return;
    const own = ownText(element, tag);
    const gap = isInline(tag) && tag !== "br" ? "" : " ";
    into.text += gap;
    if (own) into.text += ` ${own} `;
    else if (tag !== "select" && tag !== "textarea") gather(element, limit, into);
    into.text += gap;
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function ownText(element, tag) {
    const label = attr(element, "aria-label");
    if (label?.trim()) return label;
    if (tag === "img" || tag === "area") return attr(element, "alt") || attr(element, "title");
    if (tag === "svg") return childText(element, "title");
    return null;
  }

  /** @type {TabhubNames["textOf"]} */
  function textOf(element, limit) {
    const only = firstChild(element);
    if (only && isText(only) && !tabhub.dom.nextSibling(only) && !tabhub.dom.shadowRoot(element)) {
      return clip(clean(only.data), limit);
    }
    const into = { text: "" };
    gather(element, limit * 2, into);
    return clip(clean(into.text), limit);
  }

  /**
   * @param {Element} element
   * @param {string} childTag
   */
  function childText(element, childTag) {
    for (let n = firstChild(element); n; n = tabhub.dom.nextSibling(n)) {
      if (isElement(n) && tagOf(n) === childTag) return clean(n.textContent ?? "");
    }
    return "";
  }

  /**
   * @param {Element} element
   * @param {string} ids
   */
  function labelledBy(element, ids) {
    const scope = root(element);
    const find = (/** @type {string} */ id) =>
      DocumentFragment.prototype.isPrototypeOf(scope)
        ? scope.getElementById(id)
        : Document.prototype.getElementById.call(document, id);
    const named = ids.split(/\s+/).flatMap((id) => find(id) ?? []);
    return named.map((el) => attr(el, "aria-label") || hiddenTextOf(el)).join(" ");
  }

  /** @param {Element} element even a hidden element may name another */
  function hiddenTextOf(element) {
    return isVisible(element) ? textOf(element, NAME_LENGTH) : (element.textContent ?? "");
  }

  /** @param {Element} element */
  function labels(element) {
    const list = /** @type {HTMLInputElement} */ (element).labels;
    return list?.length ? [...list].map((label) => textOf(label, NAME_LENGTH)).join(" ") : "";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function nativeName(element, tag) {
    if (LABELLED.has(tag)) return labels(element) || inputName(element, tag);
    if (tag === "img" || tag === "area") return attr(element, "alt");
    const child = NAMING_CHILD.get(tag);
    return child ? childText(element, child) : "";
  }

  /**
   * @param {Element} element
   * @param {string} tag
   */
  function inputName(element, tag) {
    const type = tag === "input" ? (attr(element, "type") ?? "").toLowerCase() : "";
    if (type === "image") return attr(element, "alt");
    if (!BUTTON_TYPES.has(type)) return "";
    const fallback = type === "button" ? "" : type === "submit" ? "Submit" : "Reset";
    return attr(element, "value") ?? fallback;
  }

  /** @type {TabhubNames["given"]} */
  function given(element, tag) {
    const ids = attr(element, "aria-labelledby");
    const name =
      (ids && clean(labelledBy(element, ids))) ||
      clean(attr(element, "aria-label") ?? "") ||
      clean(nativeName(element, tag) ?? "");
    return clip(name, NAME_LENGTH);
  }

  /** @type {TabhubNames["hint"]} */
  function hint(element) {
    const id = attr(element, "name") || attr(element, "data-testid") || attr(element, "id");
    const inner = tabhub.dom.firstChild(element);
    const icon = inner && isElement(inner) ? attr(inner, "class") : null;
    return clip(clean(icon || attr(element, "class") || id || ""), 40);
  }

  return { clean, clip, textOf, given, hint };
});
