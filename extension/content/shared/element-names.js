/** Accessible names, computed as ARIA does where it matters to a reader. */
tabhub.define("names", () => {
  const { attr, children, firstChild, isElement, isText, isVisible, rawText, root } = tabhub.dom;
  const { closest, queryAll, tag: tagOf } = tabhub.dom;
  const { isInline, isSkipped } = tabhub.roles;
  const NAME_LENGTH = 200;
  /** How many elements may be read for one name. */
  const MOST_CHARS = 20_000;
  const MOST_NODES = 2000;
  const MOST_LEVELS = 200;
  const MOST_NAMING = 20;
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
  const SVG_WITH_TITLE = "svg g circle ellipse image line path polygon polyline rect use".split(
    " ",
  );
  /** @type {Map<string, string>} */
  const NAMING_CHILD = new Map([
    ["fieldset", "legend"],
    ["figure", "figcaption"],
    ["table", "caption"],
    ...SVG_WITH_TITLE.map((tag) => /** @type {[string, string]} */ ([tag, "title"])),
  ]);

  /** @type {TabhubNames["clean"]} */
  const clean = (text) => text.replace(BLANKS, " ").trim();

  /** @type {TabhubNames["clip"]} */
  const clip = (text, length) =>
    text.length > length ? `${text.slice(0, wholeLength(text, length - 1))}…` : text;

  /**
   * @param {string} text
   * @param {number} length
   */
  function wholeLength(text, length) {
    const last = text.charCodeAt(length - 1);
    const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
    return isFirstHalf ? length - 1 : length;
  }

  /** @typedef {{text: string, limit: number, nodes: number, level: number}} Gathered */

  /**
   * @param {Element} element
   * @param {Gathered} into
   */
  function gather(element, into) {
    if (++into.level > MOST_LEVELS) into.nodes = 0;
    for (const child of children(element)) {
      if (into.text.length > into.limit || --into.nodes < 0) break;
      if (isText(child)) into.text += child.data.slice(0, MOST_CHARS);
      else if (isElement(child)) gatherElement(child, into);
    }
    into.level--;
  }

  /**
   * @param {Element} element
   * @param {Gathered} into
   */
  function gatherElement(element, into) {
    const tag = tagOf(element);
    if (isSkipped(tag) || attr(element, "aria-hidden") === "true") return;
    if (!tabhub.dom.isRendered(element)) return;
    const own = ownText(element, tag);
    const gap = isInline(tag) && tag !== "br" ? "" : " ";
    into.text += gap;
    if (own) into.text += ` ${own} `;
    else if (tag !== "select" && tag !== "textarea") gather(element, into);
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
      return clip(clean(only.data.slice(0, MOST_CHARS)), limit);
    }
    const into = { text: "", limit: limit * 2, nodes: MOST_NODES, level: 0 };
    gather(element, into);
    const text = clean(into.text);
    return into.nodes < 0 && text.length < limit ? `${text}…` : clip(text, limit);
  }

  /**
   * @param {Element} element
   * @param {string} childTag
   */
  function childText(element, childTag) {
    for (let n = firstChild(element); n; n = tabhub.dom.nextSibling(n)) {
      if (isElement(n) && tagOf(n) === childTag) return clean(rawText(n, MOST_CHARS));
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
    const named = ids.split(/\s+/, MOST_NAMING).flatMap((id) => find(id) ?? []);
    return named.map((el) => attr(el, "aria-label") || hiddenTextOf(el)).join(" ");
  }

  /** @param {Element} element even a hidden element may name another */
  function hiddenTextOf(element) {
    return isVisible(element) ? textOf(element, NAME_LENGTH) : rawText(element, MOST_CHARS);
  }

  /**
   * The browser's own list of an element's labels searches the whole page for each element.
   * @type {Map<Node, Map<string | null, Element[]>>} by the id they are for, until the page's code
   *   runs
   */
  const labelsByRoot = new Map();

  /** @param {Document | ShadowRoot} within */
  function labelsIn(within) {
    if (!labelsByRoot.size) queueMicrotask(() => labelsByRoot.clear());
    const found =
      labelsByRoot.get(within) ?? Map.groupBy(allLabels(within), (el) => attr(el, "for"));
    labelsByRoot.set(within, found);
    return found;
  }

  /** @param {Document | ShadowRoot} within */
  function allLabels(within) {
    const isRoot = within === document || within instanceof ShadowRoot;
    return isRoot ? queryAll(within, "label[for]") : [];
  }

  /** @param {Element} element */
  function labels(element) {
    const id = attr(element, "id");
    const around = closest(element, "label");
    const named = [...(around ? [around] : []), ...((id && labelsIn(root(element)).get(id)) || [])];
    const own = named.filter((label) => /** @type {any} */ (label).control === element);
    const some = [...new Set(own)].slice(0, MOST_NAMING);
    return some.map((label) => textOf(label, NAME_LENGTH)).join(" ");
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
