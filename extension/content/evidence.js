/**
 * Proof that a press has arrived. The listeners are there from the start, because a page
 * that listens first could keep the event from us.
 */
tabhub.define("evidence", () => {
  const { holds } = tabhub.dom;
  const EVENTS = ["pointerdown", "mousedown", "click", "auxclick", "contextmenu"];
  /** @type {Element | null} */
  let expected = null;
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
    if (!expected || hasArrived || !event.isTrusted) return;
    if (!concerns(expected, event.composedPath()[0])) return;
    hasArrived = true;
    listener?.();
  }

  for (const name of EVENTS)
    window.addEventListener(name, witness, { capture: true, passive: true });

  /** @param {Event} event */
  function feel(event) {
    if (expected && event.isTrusted) isHovered = concerns(expected, event.composedPath()[0]);
  }

  return {
    expect(element) {
      expected = element;
      hasArrived = false;
      isHovered = false;
      window.addEventListener("pointermove", feel, { capture: true, passive: true });
    },
    hovered() {
      if (isHovered) window.removeEventListener("pointermove", feel, true);
      return isHovered;
    },
    arrived: () => hasArrived,
    onArrival: (given) => void (listener = given),
  };
});
