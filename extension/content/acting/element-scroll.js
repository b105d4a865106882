/** Scrolling the page, or an element in it. */
tabhub.define("scroll", () => {
  const { documentElement, parent, rect } = tabhub.dom;
  /** @type {(this: Element, options: ScrollToOptions) => void} */
  const scrollTo = Element.prototype.scrollTo;
  const DRAWN_MS = 1000;
  const REST_MS = 1500;
  const CALM_FRAMES = 4;
  /** Scrolling by a page keeps part of it in view. */
  const PART = 0.8;
  const SCROLLS = /auto|scroll|overlay/;
  /** @type {Record<string, TabhubPoint>} */
  const WAYS = {
    up: { x: 0, y: -1 },
    down: { x: 0, y: 1 },
    left: { x: -1, y: 0 },
    right: { x: 1, y: 0 },
  };

  /** @type {(TabhubPoint & {element: Element})[]} */
  let noted = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  /** @returns {Element | null} */
  function page() {
    return document.scrollingElement ?? documentElement();
  }

  /** @param {Element} element */
  function range({ scrollWidth, clientWidth, scrollHeight, clientHeight }) {
    return { x: scrollWidth - clientWidth, y: scrollHeight - clientHeight };
  }

  /**
   * @param {Element} element
   * @param {"x" | "y"} axis
   */
  function scrolls(element, axis) {
    if (range(element)[axis] <= 0) return false;
    if (element === page()) return true;
    const style = getComputedStyle(element);
    return SCROLLS.test(axis === "x" ? style.overflowX : style.overflowY);
  }

  /**
   * @param {Element | null} start
   * @param {"x" | "y"} axis
   */
  function around(start, axis) {
    for (let at = start; at; at = parent(at)) if (scrolls(at, axis)) return at;
    return null;
  }

  function middle() {
    return tabhub.hit.at({ x: window.innerWidth / 2, y: window.innerHeight / 2 });
  }

  /**
   * What scrolls when nothing is named: the page or, if it does not scroll, the element that fills
   * it.
   * @param {"x" | "y"} axis
   */
  function main(axis) {
    const own = page();
    return own && scrolls(own, axis) ? own : around(middle(), axis);
  }

  /** @param {Element} element */
  function position(element) {
    const { x, y } = range(element);
    const round = Math.round;
    return {
      x: round(element.scrollLeft),
      y: round(element.scrollTop),
      maxX: round(x),
      maxY: round(y),
    };
  }

  /**
   * Pages react to scrolling in the next animation frames.
   * @param {Element} element
   */
  async function drawn(element) {
    const late = new Promise((done) => setTimeout(done, DRAWN_MS));
    await Promise.race([frame().then(frame), late]);
    return position(element);
  }

  /**
   * @param {Element} element
   * @param {TabhubPoint} to
   */
  function go(element, { x, y }) {
    const before = position(element);
    scrollTo.call(element, { left: x, top: y, behavior: "instant" });
    const after = position(element);
    return before.x !== after.x || before.y !== after.y;
  }

  /** @param {Element} element */
  function centre(element) {
    const isPage = element === page();
    const box = isPage ? new DOMRect(0, 0, window.innerWidth, window.innerHeight) : rect(element);
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  }

  /** @param {Element} element */
  async function intoView(element) {
    const scroller = around(parent(element), "y") ?? page() ?? element;
    const before = rect(element);
    tabhub.target.showPart(element);
    const after = rect(element);
    const moved = before.top !== after.top || before.left !== after.left;
    return { moved, position: await drawn(scroller) };
  }

  /**
   * An element that does not scroll may still handle the wheel, as maps do.
   * @param {Element | null} element
   * @param {TabhubOrder} order
   */
  async function by(element, { direction = "down", distance, isContainer }) {
    const way = /** @type {TabhubPoint} */ (WAYS[direction]);
    const axis = way.x ? "x" : "y";
    const found = isContainer || !element ? (element ?? main(axis)) : around(element, axis);
    const scroller = found ?? element ?? page();
    if (!scroller) return tabhub.fail("not_visible", "The page shows nothing.");
    const seen = axis === "x" ? scroller.clientWidth : scroller.clientHeight;
    const far = distance ?? Math.max(Math.round(seen * PART), 1);
    const { scrollLeft, scrollTop } = scroller;
    const to = { x: scrollLeft + way.x * far, y: scrollTop + way.y * far };
    const moved = go(scroller, to);
    if (scrolls(scroller, axis)) return { moved, position: await drawn(scroller) };
    if (element) tabhub.target.showPart(element);
    const wheel = { at: centre(element ?? scroller), by: { x: way.x * far, y: way.y * far } };
    return { moved, position: await drawn(scroller), wheel };
  }

  /**
   * @param {Element | null} element
   * @param {TabhubOrder} order
   */
  async function to(element, { to: wanted = {}, isContainer }) {
    const scroller = isContainer
      ? element
      : (around(element, "y") ?? around(element, "x") ?? main("y"));
    const found = scroller ?? page();
    if (!found) return tabhub.fail("not_visible", "The page shows nothing.");
    const { x = found.scrollLeft, y = found.scrollTop } = wanted;
    return { moved: go(found, { x, y }), position: await drawn(found) };
  }

  /** @returns {string} the scroll positions of everything that was noted */
  function places() {
    return noted.map(({ element }) => Object.values(position(element)).join()).join();
  }

  /** The wheel may scroll smoothly: some frames without movement mark its end. */
  async function still() {
    const end = performance.now() + REST_MS;
    let before = places();
    for (let calm = 0; calm < CALM_FRAMES && performance.now() < end;) {
      await Promise.race([frame(), new Promise((done) => setTimeout(done, DRAWN_MS))]);
      const now = places();
      calm = now === before ? calm + 1 : 0;
      before = now;
    }
  }

  return {
    note(element) {
      noted = [];
      for (let at = /** @type {Element | null} */ (element); at; at = parent(at)) {
        if (scrolls(at, "x") || scrolls(at, "y")) noted.push({ element: at, ...position(at) });
      }
    },
    push(element, { x, y }) {
      for (let at = /** @type {Element | null} */ (element); at; at = parent(at)) {
        const { scrollLeft, scrollTop } = at;
        if (!scrolls(at, x ? "x" : "y")) continue;
        if (go(at, { x: scrollLeft + x, y: scrollTop + y })) return true;
      }
      return false;
    },
    async rested() {
      await still();
      const moved = noted.find(({ element, x, y }) => {
        const now = position(element);
        return now.x !== x || now.y !== y;
      });
      const reported = moved ?? noted[0];
      return { moved: Boolean(moved), ...(reported && { position: position(reported.element) }) };
    },
    async run(element, order) {
      if (order.to) return to(element, order);
      const isNamed = element !== null && !order.isContainer;
      return isNamed && !order.direction ? intoView(element) : by(element, order);
    },
  };
});
