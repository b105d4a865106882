/**
 * Whether the page shows anything: the document of an application is complete long before its
 * scripts have drawn something.
 */
tabhub.define("firstContent", () => {
  const { attr, body, children, contentType, documentElement, holdsAny, isElement } = tabhub.dom;
  const { isText, isVisible, parent, queryAll, rawText, rect, rootsIn, tag } = tabhub.dom;
  const { elementFromPoint } = Document.prototype;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  const PAGES = words("text/html application/xhtml+xml");
  const NEVER_SEEN = words("head link meta noscript script style template title");
  const CONTROLS = words("button input meter select summary textarea");
  const PICTURES = words("audio canvas embed math object svg video");
  const FRAMES = words("fencedframe frame iframe");
  const CONTROL = "a[href], button, input, select, textarea";
  /** Names that applications give to what they show while they load. */
  const WAITING_NAME = /(^|[\s_-])(loader|loading|preloader|spinner|splash)([\s_-]|$)/i;
  const WAITING_TEXT = /^(initiali[sz]ing|just a moment|loading|please wait|starting)\b.{0,40}$/i;
  const WAITING_LENGTH = 60;
  const SCRIPT_TYPE = /^(|module|.*(ecma|java)script.*)$/i;
  /** A page with more than this that cannot be seen is not looked through. */
  const MOST_NODES = 3000;
  const SMALLEST = 2;
  const SMALLEST_FRAME = 50;
  /** Looking takes at most a tenth of the time. */
  const REST = 9;
  /** A sign of waiting that covers this part of the window shuts off what is behind it. */
  const COVERING = 0.6;
  const WATCHED = { childList: true, characterData: true, subtree: true, attributes: true };

  /** @param {DOMRect} box */
  function hasSize({ width, height }, least = SMALLEST) {
    return width >= least && height >= least;
  }

  /** @param {Text} text */
  function isSeenText(text) {
    const words = text.data.trim();
    if (!words || WAITING_TEXT.test(words)) return false;
    const range = tabhub.dom.range();
    range.selectNodeContents(text);
    return hasSize(range.getBoundingClientRect());
  }

  /** @param {Element} el */
  function isWaitingSign(el) {
    if (el === body() || el === documentElement()) return false;
    const isNamedSo = WAITING_NAME.test(`${attr(el, "id") ?? ""} ${attr(el, "class") ?? ""}`);
    const isBusy =
      attr(el, "role") === "progressbar" ||
      attr(el, "aria-busy") === "true" ||
      tag(el) === "progress";
    if (!isNamedSo && !isBusy) return false;
    // What has more to say than that it loads is content all the same.
    return !holdsAny(el, CONTROL) && rawText(el, WAITING_LENGTH).trim().length < WAITING_LENGTH;
  }

  /**
   * @param {Element} el
   * @param {string} name
   */
  function isContent(el, name) {
    if (name === "img") return el instanceof HTMLImageElement && el.complete && hasSize(rect(el));
    const isKind = CONTROLS.has(name) || PICTURES.has(name);
    return isKind && hasSize(rect(el));
  }

  /** @returns {{shows: boolean, hasFrames: boolean}} */
  function walk() {
    const start = body() ?? documentElement();
    /** @type {Node[]} */
    const ahead = start ? [start] : [];
    let hasFrames = false;
    for (let count = 0; ahead.length; count++) {
      if (count > MOST_NODES) return { shows: true, hasFrames };
      const node = /** @type {Node} */ (ahead.pop());
      if (isText(node) && isSeenText(/** @type {Text} */ (node))) return { shows: true, hasFrames };
      if (!isElement(node)) continue;
      const name = tag(node);
      if (NEVER_SEEN.has(name) || isWaitingSign(node)) continue;
      if (FRAMES.has(name)) hasFrames ||= isVisible(node) && hasSize(rect(node), SMALLEST_FRAME);
      else if (isVisible(node) && isContent(node, name)) return { shows: true, hasFrames };
      else
        for (const child of children(node, name).slice(0, MOST_NODES).reverse()) ahead.push(child);
    }
    return { shows: false, hasFrames };
  }

  /** Whether something that says that the page loads lies over it. */
  function isCovered() {
    const { innerWidth, innerHeight } = window;
    let el = elementFromPoint.call(document, innerWidth / 2, innerHeight / 2);
    for (; el; el = parent(el)) {
      const { width, height } = rect(el);
      const covers = width * height >= COVERING * innerWidth * innerHeight;
      if (covers && isWaitingSign(el)) return true;
    }
    return false;
  }

  /** Whether something may still be drawn: a page without scripts is as it is. */
  function mayDraw() {
    const start = body();
    if (!tabhub.dom.isComplete()) return true;
    if (start && attr(start, "onload") !== null) return true;
    return queryAll(document, "script").some((el) => SCRIPT_TYPE.test(attr(el, "type") ?? ""));
  }

  /** @type {TabhubFirstContent["look"]} */
  function look() {
    const seen = PAGES.has(contentType()) ? walk() : { shows: true, hasFrames: false };
    const isDone = seen.shows && !isCovered();
    return { ...seen, isDone, mayDraw: !isDone && mayDraw() };
  }

  class Watch {
    /** @type {PromiseWithResolvers<TabhubAwaited>} */
    #outcome = Promise.withResolvers();
    #observer = new MutationObserver((records) => this.#changed(records));
    #loads = new PerformanceObserver(() => this.#active());
    /** @type {Set<Node>} */
    #roots = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #later;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #quiet;
    #isStale = false;
    #quietMs;

    /** @param {number} quietMs */
    constructor(quietMs) {
      this.#quietMs = quietMs;
    }

    /** @param {number} maxMs */
    async start(maxMs) {
      this.#adopt();
      this.#loads.observe({ entryTypes: ["resource"] });
      window.addEventListener("load", this.#active, true);
      const timer = setTimeout(this.#end, maxMs, false);
      this.#active();
      try {
        return await this.#outcome.promise;
      } finally {
        clearTimeout(timer);
        clearTimeout(this.#later);
        clearTimeout(this.#quiet);
        this.#observer.disconnect();
        this.#loads.disconnect();
        window.removeEventListener("load", this.#active, true);
      }
    }

    #end = (/** @type {boolean} */ isQuiet) => this.#outcome.resolve({ ...look(), isQuiet });

    #adopt() {
      for (const root of rootsIn(document)) {
        if (this.#roots.has(root)) continue;
        this.#roots.add(root);
        this.#observer.observe(root, WATCHED);
      }
    }

    /** @param {MutationRecord[]} records */
    #changed(records) {
      // A spinner that a script turns changes only attributes.
      if (records.some(({ type }) => type !== "attributes")) this.#active();
      else this.#check();
    }

    #active = () => {
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(this.#end, this.#quietMs, true);
      this.#check();
    };

    #check() {
      this.#isStale = true;
      if (this.#later === undefined) this.#look();
    }

    /** Looks again after a pause if something has changed meanwhile. */
    #look() {
      const started = performance.now();
      this.#isStale = false;
      this.#adopt();
      const seen = look();
      if (seen.isDone) return this.#end(false);
      const rest = (performance.now() - started) * REST;
      this.#later = setTimeout(() => {
        this.#later = undefined;
        if (this.#isStale) this.#look();
      }, rest);
    }
  }

  /** @type {TabhubFirstContent["wait"]} */
  async function wait({ maxMs, quietMs }) {
    const seen = look();
    const isEnd = seen.isDone || !seen.mayDraw;
    return isEnd ? { ...seen, isQuiet: true } : new Watch(quietMs).start(maxMs);
  }

  return { look, wait };
});
