/** The frames in this document: identifying them, and converting points into and out of them. */
tabhub.define("childFrames", () => {
  const { attr, queryDeep, rect } = tabhub.dom;
  const PREFIX = "tabhub-frame-";
  const FRAMES = "iframe, frame, object, embed";
  const LISTEN_MS = 2000;
  /** The name of WebMCP's policy, and words of allowlists. */
  const [TOOLS, SOURCE, NOBODY] = ["tools", "'src'", "'none'"];
  /** @type {PromiseWithResolvers<string | null> | undefined} */
  let received;

  /** @param {Element} element */
  function windowOf(element) {
    return /** @type {HTMLIFrameElement} */ (element).contentWindow ?? null;
  }

  /**
   * @param {Window} parent
   * @param {Window | null} child
   */
  function indexIn(parent, child) {
    for (let i = 0; child && i < parent.length; i++) if (parent[i] === child) return i;
    return -1;
  }

  /** Unlike randomUUID, this exists on plain http sites too. */
  function randomText() {
    return crypto.getRandomValues(new Uint32Array(4)).join("-");
  }

  /** @param {Element} element */
  function announceTo(element) {
    const nonce = PREFIX + randomText();
    windowOf(element)?.postMessage(nonce, "*");
    return { ref: tabhub.refs.mint(element), nonce };
  }

  function listen() {
    /** @type {PromiseWithResolvers<string | null>} */
    const result = Promise.withResolvers();
    const receive = (/** @type {MessageEvent} */ event) => {
      const isNonce = typeof event.data === "string" && event.data.startsWith(PREFIX);
      if (isNonce && event.source === window.parent) result.resolve(event.data);
    };
    window.addEventListener("message", receive, true);
    setTimeout(() => result.resolve(null), LISTEN_MS);
    void result.promise.then(() => window.removeEventListener("message", receive, true));
    received = result;
  }

  /** @param {{ref?: number, index?: number}} place */
  function frameAt({ ref, index }) {
    if (ref !== undefined) return tabhub.refs.resolve(ref);
    for (const element of queryDeep(FRAMES)) {
      if (windowOf(element) && indexIn(window, windowOf(element)) === index) return element;
    }
    return tabhub.fail("detached", "The frame of this element has left the page.");
  }

  /** @param {Element} element */
  function contentBox(element) {
    const { left, top, width, height } = rect(element);
    const box = /** @type {HTMLElement} */ (element);
    const style = getComputedStyle(element);
    const scaleX = box.offsetWidth ? width / box.offsetWidth : 1;
    const scaleY = box.offsetHeight ? height / box.offsetHeight : 1;
    const pads = [style.paddingLeft, style.paddingTop, style.paddingRight, style.paddingBottom];
    const [padLeft = 0, padTop = 0, padRight = 0, padBottom = 0] = pads.map(Number.parseFloat);
    return {
      left: left + (box.clientLeft + padLeft) * scaleX,
      top: top + (box.clientTop + padTop) * scaleY,
      scaleX,
      scaleY,
      width: box.clientWidth - padLeft - padRight,
      height: box.clientHeight - padTop - padBottom,
    };
  }

  /**
   * @param {Element} element
   * @param {TabhubPoint} point
   */
  function outside(element, { x, y }) {
    const { left, top, scaleX, scaleY } = contentBox(element);
    return { x: left + x * scaleX, y: top + y * scaleY };
  }

  /** @type {TabhubChildFrames["within"]} */
  function within(element, { x, y }) {
    if (!windowOf(element)) return null;
    const { left, top, scaleX, scaleY, width, height } = contentBox(element);
    const point = { x: (x - left) / scaleX, y: (y - top) / scaleY };
    const isInside = point.x >= 0 && point.y >= 0 && point.x < width && point.y < height;
    const index = indexIn(window, windowOf(element));
    return isInside ? { ref: tabhub.refs.mint(element), index, point } : null;
  }

  /** @param {TabhubPoint} point */
  function isInViewport({ x, y }) {
    return x >= 0 && y >= 0 && x < window.innerWidth && y < window.innerHeight;
  }

  /** @param {TabhubPoint} point */
  function scrollTo({ x, y }) {
    const left = x - window.innerWidth / 2;
    const top = y - window.innerHeight / 2;
    window.scrollBy({ left, top, behavior: "instant" });
  }

  /** @type {TabhubChildFrames["through"]} */
  function through({ ref, index, x, y }) {
    const element = frameAt({ ref, index });
    let point = outside(element, { x, y });
    if (!isInViewport(point)) {
      scrollTo(point);
      point = outside(element, { x, y });
    }
    const hit = tabhub.hit.at(point);
    if (tabhub.hit.reaches(element, hit)) return point;
    const by = hit ? tabhub.hit.describe(hit) : "nothing that can be pressed";
    const message = `The frame is covered by ${tabhub.quoted(by)}.`;
    return tabhub.fail("covered_by", message, { coveredBy: by });
  }

  /** @param {Element} element @returns {string | null} */
  function sourceOrigin(element) {
    const address = attr(element, "src") ?? "";
    return URL.canParse(address, document.baseURI)
      ? new URL(address, document.baseURI).origin
      : null;
  }

  /**
   * By the attribute `allow`, as the Permissions Policy reads it: for browsers that do not know
   * the policy of WebMCP.
   * @type {TabhubChildFrames["allowsTools"]}
   */
  function allowsTools({ index, origin }) {
    const element = frameAt({ index });
    const policies = (attr(element, "allow") ?? "")
      .split(";")
      .map((each) => each.trim().split(/\s+/));
    const [, ...list] = policies.find(([name]) => name?.toLowerCase() === TOOLS) ?? [TOOLS, NOBODY];
    const allowed = list.length ? list : [SOURCE];
    return allowed.some(
      (each) =>
        each === "*" ||
        each === origin ||
        (each.toLowerCase() === SOURCE && sourceOrigin(element) === origin),
    );
  }

  /** Whether the browser lets this document publish tools; null if it knows no such policy. */
  function toolPolicy() {
    const policy = /** @type {any} */ (document).featurePolicy;
    return policy?.features().includes(TOOLS) ? policy.allowsFeature(TOOLS) : null;
  }

  return {
    allowsTools,
    toolPolicy,
    ownIndex: () => (window.parent === window ? -1 : indexIn(window.parent, window)),
    indexOf: (element) => indexIn(window, windowOf(element)),
    announce: () => [...queryDeep(FRAMES)].filter(windowOf).map(announceTo),
    listen,
    nonce: () => received?.promise ?? Promise.resolve(null),
    outward: ({ ref, index, x, y }) => outside(frameAt({ ref, index }), { x, y }),
    through,
    within,
  };
});

/** Points of the viewport, and the elements there. */
tabhub.define("points", () => {
  const FRAMES = new Set(["iframe", "frame", "object", "embed"]);

  /** @type {TabhubPoints["at"]} */
  function at({ x, y }) {
    const found = tabhub.hit.at({ x, y });
    if (found) return found;
    const size = `${window.innerWidth}x${window.innerHeight}`;
    const place = `(${Math.round(x)}, ${Math.round(y)})`;
    return tabhub.fail("not_visible", `Nothing is at ${place} of the viewport of ${size}.`);
  }

  return {
    at,
    inViewport: ({ x, y, pageX, pageY }) => ({
      x: x ?? (pageX ?? 0) - window.scrollX,
      y: y ?? (pageY ?? 0) - window.scrollY,
    }),
    frameAt(point) {
      const element = at(point);
      if (!FRAMES.has(tabhub.dom.tag(element))) return null;
      return tabhub.childFrames.within(element, point);
    },
  };
});
