/** The areas of an image map: the browser draws nothing for them, but they can be clicked. */
tabhub.define("areas", () => {
  const { attr, has, isVisible, parent, queryAll, rect, root, tag } = tabhub.dom;

  /**
   * @param {Element} area
   * @returns {Element | null} the picture it lies on
   */
  function pictureOf(area) {
    const map = parent(area);
    const name = map && tag(map) === "map" ? attr(map, "name") : null;
    if (!name) return null;
    const pictures = queryAll(root(area), "img[usemap]");
    return pictures.find((img) => attr(img, "usemap") === `#${name}` && isVisible(img)) ?? null;
  }

  /**
   * @param {Element} area
   * @param {DOMRect} picture
   */
  function within(area, picture) {
    const numbers = (attr(area, "coords") ?? "").split(",").map(Number);
    const shape = (attr(area, "shape") ?? "rect").toLowerCase();
    if (shape === "default") return new DOMRect(0, 0, picture.width, picture.height);
    if (shape.startsWith("circ")) {
      const [x, y, r] = numbers;
      return new DOMRect(x - r, y - r, r * 2, r * 2);
    }
    const across = numbers.filter((_, i) => i % 2 === 0);
    const down = numbers.filter((_, i) => i % 2 === 1);
    const [left, top] = [Math.min(...across), Math.min(...down)];
    return new DOMRect(left, top, Math.max(...across) - left, Math.max(...down) - top);
  }

  return {
    isArea: (element, name) => name === "area" && has(element, "href"),
    picture: pictureOf,
    rect(area) {
      const picture = pictureOf(area);
      if (!picture) return new DOMRect();
      const frame = rect(picture);
      const inner = within(area, frame);
      return new DOMRect(frame.x + inner.x, frame.y + inner.y, inner.width, inner.height);
    },
  };
});

/** Which element a press at a point would hit. */
tabhub.define("hit", () => {
  const { attr, closest, holds, holdsAny, isElement, parent, shadowRoot, tag } = tabhub.dom;
  const { clean, clip, textOf } = tabhub.names;
  const SHAPES = "circle, ellipse, image, path, polygon, polyline, rect, use";
  const fromDocument = Document.prototype.elementFromPoint;
  const DESCRIBED_TEXT = 40;
  const CLASSES_LENGTH = 200;

  /** @type {TabhubHit["at"]} */
  function at({ x, y }) {
    let hit = fromDocument.call(document, x, y);
    for (let inner = hit; inner;) {
      hit = inner;
      const found = shadowRoot(hit)?.elementFromPoint(x, y) ?? null;
      inner = found === hit ? null : found;
    }
    return hit;
  }

  /**
   * @param {Element} hit
   * @returns {Element | null}
   */
  function labelledControl(hit) {
    const label = closest(hit, "label");
    return label instanceof HTMLLabelElement ? label.control : null;
  }

  /**
   * For an element in a closed shadow root, events show its host.
   * @param {Element} element
   * @param {Element} host
   */
  function hidesInside(element, host) {
    return shadowRoot(host)?.mode === "closed" && holds(host, element);
  }

  /**
   * What a text in a drawing belongs to: the nearest group that has shapes too.
   * @param {Element} text
   * @returns {Element | null}
   */
  function groupOf(text) {
    for (let n = parent(text); n && n instanceof SVGElement && tag(n) !== "svg"; n = parent(n)) {
      if (tag(n) === "g" && holdsAny(n, SHAPES)) return n;
    }
    return null;
  }

  /**
   * A label takes no presses itself where a shape of its group lies over it.
   * @param {Element} element
   * @param {Element} hit
   */
  function isLabelOf(element, hit) {
    if (!(element instanceof SVGTextContentElement)) return false;
    const group = groupOf(element);
    return group !== null && holds(group, hit);
  }

  /** @type {TabhubHit["reaches"]} */
  function reaches(element, hit) {
    if (!hit) return false;
    return holds(element, hit) || labelledControl(hit) === element || isLabelOf(element, hit);
  }

  /** @param {string | null} text */
  function shortly(text) {
    return clip(clean((text ?? "").slice(0, CLASSES_LENGTH)), DESCRIBED_TEXT);
  }

  /**
   * An element that a script of another frame got first is an instance of that frame's class.
   * @param {EventTarget | null | undefined} target
   * @returns {target is Element}
   */
  function isAnyElement(target) {
    try {
      return isElement(/** @type {any} */ (target));
    } catch {
      // A window, for instance.
      return false;
    }
  }

  return {
    at,
    reaches,
    receives(element, deepest) {
      if (!isAnyElement(deepest)) return false;
      return reaches(element, deepest) || hidesInside(element, deepest);
    },
    describe(element) {
      const [id, role] = [shortly(attr(element, "id")), shortly(attr(element, "role"))];
      const classes = clean((attr(element, "class") ?? "").slice(0, CLASSES_LENGTH))
        .split(" ", 2)
        .filter(Boolean);
      const text = textOf(element, DESCRIBED_TEXT);
      const marks = (id ? `#${id}` : "") + classes.map((name) => `.${shortly(name)}`).join("");
      const name = shortly(tag(element));
      return `<${name}${role ? ` role=${role}` : ""}>${marks}${text ? ` "${text}"` : ""}`;
    },
  };
});

/**
 * Finding the element that a command names, scrolling it into view, and choosing the point to
 * press.
 */
tabhub.define("target", () => {
  const { closest, holds, isConnected, isVisible, matches, parent, queryDeep, rect, rects, tag } =
    tabhub.dom;
  const scrollIntoView = Element.prototype.scrollIntoView;
  const CONTROLS = "button, input, select, textarea, option, fieldset";
  const POINTS = [
    [0.5, 0.5],
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
  ];
  const RECTS_TRIED = 4;
  /** Points on the outline of an unfilled shape where a press may hit it. */
  const OUTLINE_PARTS = [0.5, 0.25, 0.75];
  const MOST_LEVELS = 50;
  /** @type {Set<TabhubReason>} */
  const UNSEEN = new Set(["not_visible", "covered_by"]);
  /** @type {ScrollLogicalPosition[]} */
  const SCROLLS = ["center", "end", "start"];

  /** @type {TabhubTarget["requireSelector"]} */
  function requireSelector(selector) {
    try {
      DocumentFragment.prototype.querySelector.call(new DocumentFragment(), selector);
    } catch {
      tabhub.fail("invalid_arguments", `"${selector}" is not a CSS selector.`);
    }
  }

  /** @param {Element} element */
  const isArea = (element) => tabhub.areas.isArea(element, tag(element));

  /** @param {Element} element */
  const rectOf = (element) => (isArea(element) ? tabhub.areas.rect(element) : rect(element));

  /** @param {string} selector */
  function first(selector) {
    requireSelector(selector);
    const quick = Document.prototype.querySelector.call(document, selector);
    return quick ?? queryDeep(selector).next().value ?? null;
  }

  /** @type {TabhubTarget["find"]} */
  function find({ ref, selector }) {
    if (ref !== undefined) return tabhub.refs.resolve(ref);
    const found = first(selector ?? "");
    return found ?? tabhub.fail("element_not_found", `Nothing on the page matches ${selector}.`);
  }

  /** @type {TabhubTarget["refuseDisabled"]} */
  function refuseDisabled(element) {
    const control = closest(element, CONTROLS);
    const isDisabled = control ? matches(control, ":disabled") : false;
    if (isDisabled || closest(element, "[aria-disabled=true]")) {
      tabhub.fail("disabled", "The element is disabled.");
    }
    if (closest(element, "[inert]")) tabhub.fail("disabled", "The element is inert.");
  }

  /**
   * @param {DOMRect} box
   * @returns {{left: number, top: number, right: number, bottom: number}}
   */
  function inViewport({ left, top, right, bottom }) {
    return {
      left: Math.max(left, 0),
      top: Math.max(top, 0),
      right: Math.min(right, window.innerWidth),
      bottom: Math.min(bottom, window.innerHeight),
    };
  }

  /**
   * @param {Element} element
   * @returns {TabhubPoint[]} its points in the viewport, the best first
   */
  function candidates(element) {
    const boxes = (isArea(element) ? [rectOf(element)] : [...rects(element)]).map(inViewport);
    const shown = boxes.filter(({ left, top, right, bottom }) => right > left && bottom > top);
    return POINTS.flatMap(([fx, fy]) =>
      shown.slice(0, RECTS_TRIED).map(({ left, top, right, bottom }) => ({
        x: left + (right - left) * fx,
        y: top + (bottom - top) * fy,
      })),
    );
  }

  /**
   * @param {Element} element
   * @returns {TabhubPoint[]}
   */
  function onOutline(element) {
    const matrix = element instanceof SVGGeometryElement ? element.getScreenCTM() : null;
    if (!matrix) return [];
    const shape = /** @type {SVGGeometryElement} */ (element);
    const length = shape.getTotalLength();
    return OUTLINE_PARTS.map((part) => {
      const { x, y } = shape.getPointAtLength(length * part).matrixTransform(matrix);
      return { x, y };
    });
  }

  /**
   * @param {Element} element
   * @param {boolean} [isPlace] whether no input has to arrive there: it only must not be covered
   */
  function reachablePoint(element, isPlace = false) {
    return [...candidates(element), ...onOutline(element)].find((point) => {
      const hit = tabhub.hit.at(point);
      return tabhub.hit.reaches(element, hit) || (isPlace && hit && holds(hit, element));
    });
  }

  /**
   * While this changes, the element, or something that clips or covers it, is moving or fading.
   * @param {Element} element
   */
  function placed(element) {
    const [point] = candidates(element);
    const cover = point ? tabhub.hit.at(point) : null;
    return [...drawn(element), ...(cover ? drawn(cover) : [])].join(" ");
  }

  /** @param {Element} element */
  function drawn(element) {
    const levels = [];
    for (let n = /** @type {Element | null} */ (element); n; n = parent(n)) {
      const { x, y, width, height } = rect(n);
      const level = [x, y, width, height, getComputedStyle(n).opacity].join();
      if (levels.push(level) === MOST_LEVELS) break;
    }
    return levels;
  }

  /** @param {Element} element */
  function isWhollyShown(element) {
    const { left, top, right, bottom } = rectOf(element);
    return left >= 0 && top >= 0 && right <= window.innerWidth && bottom <= window.innerHeight;
  }

  /**
   * @param {Element} element
   * @param {ScrollLogicalPosition} block
   */
  function scroll(element, block) {
    const shown = (isArea(element) && tabhub.areas.picture(element)) || element;
    scrollIntoView.call(shown, { block, inline: "nearest", behavior: "instant" });
  }

  /** @param {Element} element */
  function hasSize(element) {
    const { width, height } = rectOf(element);
    if (width > 0 && height > 0) return true;
    const isLine = element instanceof SVGGeometryElement && (width > 0 || height > 0);
    return isLine || rects(element).length > 1;
  }

  /** @param {Element} element */
  function refuseUnseen(element) {
    if (!isConnected(element)) tabhub.fail("detached", "The element has left the page.");
    const isShown = isArea(element) || isVisible(element);
    if (!isShown || !hasSize(element)) {
      tabhub.fail("not_visible", "The element is not visible.");
    }
  }

  /**
   * @param {Element} element
   * @returns {never}
   */
  function refuseCovered(element) {
    const [point] = candidates(element);
    if (!point) return tabhub.fail("not_visible", "The element cannot be brought into view.");
    const hit = tabhub.hit.at(point);
    const by = hit ? tabhub.hit.describe(hit) : "something that takes no presses";
    const message = `The element is covered by ${tabhub.quoted(by)}.`;
    return tabhub.fail("covered_by", message, { coveredBy: by });
  }

  /** @type {TabhubTarget["showPart"]} */
  function showPart(element) {
    refuseUnseen(element);
    if (!isWhollyShown(element)) scroll(element, "center");
    // Its frame may itself be out of view: the outer frames scroll too.
    else if (window.parent !== window) scroll(element, "nearest");
  }

  /** @type {TabhubTarget["aim"]} */
  function aim(element, { mayBeDisabled = false, scrolls = SCROLLS, isPlace = false } = {}) {
    refuseUnseen(element);
    if (!mayBeDisabled) refuseDisabled(element);
    const mayStay = isWhollyShown(element) || !scrolls.length;
    const now = mayStay ? reachablePoint(element, isPlace) : undefined;
    if (now) return now;
    for (const block of scrolls) {
      scroll(element, block);
      const point = reachablePoint(element, isPlace);
      if (point) return point;
    }
    return refuseCovered(element);
  }

  return {
    requireSelector,
    has: (selector) => first(selector) !== null,
    find,
    refuseDisabled,
    aim(element, options) {
      try {
        return aim(element, options);
      } catch (error) {
        const { reason, data } = /** @type {{reason: TabhubReason, data: object}} */ (error);
        const details = UNSEEN.has(reason) ? { ...data, placed: placed(element) } : data;
        throw Object.assign(/** @type {Error} */ (error), { data: details });
      }
    },
    box(element) {
      showPart(element);
      const { x, y, width, height } = rect(element);
      return { x, y, width, height };
    },
    showPart,
  };
});
