/** Elements without text: shapes of a drawing, icons, patches of colour. */
tabhub.define("graphics", () => {
  const { closest, firstChild, has, isBare, isElement, isText, nextSibling, rect, shadowRoot } =
    tabhub.dom;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  const SHAPES = words("circle ellipse image line path polygon polyline rect text use");
  /** Illustrations consist of hundreds of these: one without a name means nothing. */
  const STROKES = words("path use");
  const LEAVES = words("a b div em i label li p s span strong td th u");
  /** Smaller ones are icons, and smaller leaves are decoration. */
  const DRAWING_SIZE = 48;
  const LEAF_SIZE = 6;
  const CLEAR = "rgba(0, 0, 0, 0)";

  /** @param {Element} element */
  function isEmpty(element) {
    for (let n = firstChild(element); n; n = nextSibling(n)) {
      if (isElement(n) || (isText(n) && /\S/.test(n.data))) return false;
    }
    return !shadowRoot(element);
  }

  /**
   * @param {Element} element
   * @param {number} size
   */
  function isAtLeast(element, size) {
    const { width, height } = rect(element);
    return width >= size && height >= size;
  }

  /** @param {CSSStyleDeclaration} style */
  function hasPaint(style) {
    return (
      style.backgroundImage !== "none" ||
      style.backgroundColor !== CLEAR ||
      style.content.includes("url(") ||
      (style.borderTopStyle !== "none" && style.borderLeftStyle !== "none")
    );
  }

  /** @param {Element} element icon fonts draw a letter in a pseudo-element */
  function hasLetter(element) {
    if (!has(element, "class")) return false;
    const { content } = getComputedStyle(element, "::before");
    return content !== "none" && content !== "normal" && content !== '""';
  }

  /** @param {string} color */
  function hex(color) {
    const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color)?.slice(1);
    return parts ? `#${parts.map((n) => Number(n).toString(16).padStart(2, "0")).join("")}` : "";
  }

  /** @param {Element} element */
  function colorOf(element) {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) return hex(style.backgroundColor);
    return hex(style.fill) || hex(style.stroke);
  }

  /** @type {TabhubGraphics["box"]} */
  function box(element) {
    const { x, y, width, height } = rect(element);
    return ` box=${[x, y, width, height].map(Math.round).join(",")}`;
  }

  /** @type {TabhubGraphics["isShape"]} */
  function isShape(element, tag) {
    return SHAPES.has(tag) && element instanceof SVGElement;
  }

  /** @type {TabhubGraphics["drawingOf"]} */
  function drawingOf(element) {
    return closest(element, "svg");
  }

  /** @type {TabhubGraphics["isDrawing"]} */
  function isDrawing(svg) {
    return isAtLeast(svg, DRAWING_SIZE);
  }

  /** @type {TabhubGraphics["isPicture"]} */
  function isPicture(element, tag) {
    return (
      LEAVES.has(tag) &&
      !isBare(element) &&
      isEmpty(element) &&
      isAtLeast(element, LEAF_SIZE) &&
      (hasPaint(getComputedStyle(element)) || hasLetter(element))
    );
  }

  /** @type {TabhubGraphics["isGraphic"]} */
  function isGraphic(element, tag, role) {
    if (!isShape(element, tag)) return role === "generic" && isPicture(element, tag);
    const drawing = drawingOf(element);
    if (drawing === null || !isDrawing(drawing)) return false;
    return !STROKES.has(tag) || tabhub.names.given(element, tag, role) !== "";
  }

  return {
    box,
    isShape,
    drawingOf,
    isDrawing,
    isPicture,
    isGraphic,
    look(element) {
      const color = colorOf(element);
      return (color && ` color=${color}`) + box(element);
    },
  };
});
