/**
 * Evidence that input has arrived, and what it will lead to. The listeners are added at the start,
 * because a page that listens first could keep the event from us.
 */
tabhub.define("evidence", () => {
  const { on } = tabhub.windowEvents;
  const ARRIVALS = new Map([
    ["press", ["pointerdown", "mousedown", "click", "auxclick", "contextmenu"]],
    ["hover", ["pointermove", "mouseover"]],
    ["key", ["keydown", "keyup"]],
    ["type", ["keydown", "beforeinput", "input"]],
    ["wheel", ["wheel"]],
  ]);
  const CLICKS = new Set(["click", "auxclick"]);
  const OPENING = /^(https?|file|blob|about):/;
  const SCHEME = /^[a-z][a-z0-9+.-]{0,30}:$/;
  /** What the browser itself opens, or refuses to. */
  const OWN = /^(https?|ftp|file|filesystem|blob|about|data|javascript|chrome.*|view-source):$/;
  /** @type {Element | null} */
  let expected = null;
  let kinds = new Set();
  /** @type {{event: MouseEvent, link: HTMLAnchorElement | HTMLAreaElement} | null} */
  let followed = null;
  /** @type {DragEvent | null} */
  let dragged = null;
  /** @type {WeakSet<Event>} events of our own; a page's synthetic events prove nothing */
  const own = new WeakSet();
  let hasArrived = false;
  let isHovered = false;
  /** @type {(() => void) | undefined} */
  let listener;

  /** @param {Event} event */
  function witness(event) {
    if (!expected || !(event.isTrusted || own.has(event))) return;
    // The last moment before the page reacts.
    tabhub.changeNotes.lookForHidden();
    if (CLICKS.has(event.type)) noteClick(/** @type {MouseEvent} */ (event));
    if (hasArrived || !kinds.has(event.type)) return;
    if (!tabhub.hit.receives(expected, event.composedPath()[0])) return;
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

  /** The scheme of a link that was clicked, if another program opens such links. */
  function outside() {
    if (!followed || followed.event.defaultPrevented) return undefined;
    const { protocol } = followed.link;
    return SCHEME.test(protocol) && !OWN.test(protocol) ? protocol : undefined;
  }

  /** @param {DragEvent} event */
  function noteDrag(event) {
    if (event.isTrusted) dragged = event;
  }

  on(new Set([...ARRIVALS.values()].flat()), witness);
  on(["dragstart"], noteDrag);

  /** @param {Event} event */
  function feel(event) {
    if (expected && event.isTrusted)
      isHovered = tabhub.hit.receives(expected, event.composedPath()[0]);
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
    outside,
    dragging: () => dragged !== null && !dragged.defaultPrevented,
    onArrival: (given) => void (listener = given),
  };
});

/** Watching what an action does to the document until it has settled. */
tabhub.define("settle", () => {
  const BOUND_MS = 1000;
  /** An action may wait this long behind a dialog. */
  const FORGET_MS = 60_000;
  const TASKS = 3;
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const EFFECTS = ["input", "change", "toggle", "submit", "reset"];

  const { navigation } = /** @type {{navigation?: EventTarget}} */ (
    /** @type {unknown} */ (window)
  );

  let changes = 0;
  let isDrawnLater = false;
  /** @type {TabhubNavigateEvent | null} */
  let navigateEvent = null;
  /** @type {(() => void) | undefined} */
  let disarm;

  const noteChange = () => void changes++;
  const noteMutations = (/** @type {MutationRecord[]} */ records) => {
    changes++;
    tabhub.changeNotes.note(records);
  };
  const noteNavigate = (/** @type {Event} */ event) =>
    void (navigateEvent = /** @type {TabhubNavigateEvent} */ (event));

  /** @param {Element} element the roots around it, shadow roots included */
  function* rootsAround(element) {
    for (let root = tabhub.dom.root(element); ; root = tabhub.dom.root(root.host)) {
      yield root;
      if (!(root instanceof ShadowRoot)) return;
    }
  }

  /** @type {TabhubSettle["arm"]} */
  function arm(element, editor = tabhub.editors.around(element)) {
    disarm?.();
    isDrawnLater = Boolean(editor?.line);
    changes = 0;
    navigateEvent = null;
    const observer = new MutationObserver(noteMutations);
    tabhub.changeNotes.begin(element, (root) => observer.observe(root, WATCHED));
    for (const root of rootsAround(element)) observer.observe(root, WATCHED);
    for (const name of EFFECTS) window.addEventListener(name, noteChange, true);
    navigation?.addEventListener("navigate", noteNavigate);
    const timer = setTimeout(() => {
      disarm?.();
      tabhub.changeNotes.take();
    }, FORGET_MS);
    disarm = () => {
      clearTimeout(timer);
      observer.disconnect();
      for (const name of EFFECTS) window.removeEventListener(name, noteChange, true);
      navigation?.removeEventListener("navigate", noteNavigate);
      disarm = undefined;
    };
  }

  async function untilQuiet() {
    const end = performance.now() + BOUND_MS;
    if (isDrawnLater) await tabhub.tasks.frame();
    await tabhub.tasks.afterTimers();
    for (let before = -1; before !== changes && performance.now() < end;) {
      before = changes;
      for (let i = 0; i < TASKS; i++) await tabhub.tasks.next();
    }
  }

  /** @returns {TabhubNavigateEvent | null} */
  function leaving() {
    const isReal =
      navigateEvent && !navigateEvent.defaultPrevented && !navigateEvent.destination.sameDocument;
    return isReal ? navigateEvent : null;
  }

  return {
    arm,
    disarm: () => disarm?.(),
    async rest() {
      await untilQuiet();
      const left = leaving();
      const downloading = left !== null && left.downloadRequest !== null;
      return { mutated: changes > 0, navigating: left !== null && !downloading, downloading };
    },
  };
});
