/**
 * Proof that input has arrived, and what it will lead to. The listeners are there from the start, because a page
 * that listens first could keep the event from us.
 */
tabhub.define("evidence", () => {
  const { holds } = tabhub.dom;
  const ARRIVALS = new Map([
    ["press", ["pointerdown", "mousedown", "click", "auxclick", "contextmenu"]],
    ["hover", ["pointermove", "mouseover"]],
    ["key", ["keydown", "keyup"]],
    ["type", ["keydown", "beforeinput", "input"]],
    ["wheel", ["wheel"]],
  ]);
  const CLICKS = new Set(["click", "auxclick"]);
  const OPENING = /^(https?|file|blob|about):/;
  /** @type {Element | null} */
  let expected = null;
  let kinds = new Set();
  /** @type {{event: MouseEvent, link: HTMLAnchorElement | HTMLAreaElement} | null} */
  let followed = null;
  /** @type {DragEvent | null} */
  let dragged = null;
  /** @type {WeakSet<Event>} made by ourselves: what a page makes proves nothing */
  const own = new WeakSet();
  let hasArrived = false;
  let isHovered = false;
  /** @type {(() => void) | undefined} */
  let listener;

  /**
   * @param {Element} element
   * @param {EventTarget | undefined} deepest as far as closed shadow roots let us see
   */
  function concerns(element, deepest) {
    if (!(deepest instanceof Element)) return false;
    return tabhub.hit.reaches(element, deepest) || hidesInside(element, deepest);
  }

  /**
   * A closed shadow root shows its host in the place of what is inside.
   * @param {Element} element
   * @param {Element} host
   */
  function hidesInside(element, host) {
    return tabhub.dom.shadowRoot(host)?.mode === "closed" && holds(host, element);
  }

  /** @param {Event} event */
  function witness(event) {
    if (!expected || !(event.isTrusted || own.has(event))) return;
    if (CLICKS.has(event.type)) noteClick(/** @type {MouseEvent} */ (event));
    if (hasArrived || !kinds.has(event.type)) return;
    if (!concerns(expected, event.composedPath()[0])) return;
    hasArrived = true;
    listener?.();
  }

  /** @param {MouseEvent} event */
  function noteClick(event) {
    const target = event.composedPath()[0];
    const link =
      target instanceof Element ? tabhub.dom.closest(target, "a[href], area[href]") : null;
    const isLink = link instanceof HTMLAnchorElement || link instanceof HTMLAreaElement;
    followed = isLink ? { event, link } : null;
  }

  /** Whether the browser will open another tab for the link that was clicked. */
  function opens() {
    if (!followed || followed.event.defaultPrevented) return false;
    const { event, link } = followed;
    if (!OPENING.test(link.protocol) || link.hasAttribute("download")) return false;
    const isAside = event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1;
    return isAside || link.target === "_blank";
  }

  /** @param {DragEvent} event */
  function noteDrag(event) {
    if (event.isTrusted) dragged = event;
  }

  for (const name of new Set([...ARRIVALS.values()].flat()))
    window.addEventListener(name, witness, { capture: true, passive: true });
  window.addEventListener("dragstart", noteDrag, { capture: true, passive: true });

  /** @param {Event} event */
  function feel(event) {
    if (expected && event.isTrusted) isHovered = concerns(expected, event.composedPath()[0]);
  }

  return {
    expect(element, by = "press") {
      expected = element;
      kinds = new Set(ARRIVALS.get(by));
      followed = null;
      dragged = null;
      hasArrived = false;
      isHovered = false;
      window.addEventListener("pointermove", feel, { capture: true, passive: true });
    },
    hovered() {
      if (isHovered) window.removeEventListener("pointermove", feel, true);
      return isHovered;
    },
    arrived: () => hasArrived,
    vouch: (event) => void own.add(event),
    opens,
    dragging: () => dragged !== null && !dragged.defaultPrevented,
    onArrival: (given) => void (listener = given),
  };
});
