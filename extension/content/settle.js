/** Watching what an action does to the document, until that has come to rest. */
tabhub.define("settle", () => {
  const BOUND_MS = 1000;
  /** An action may wait so long behind a dialog. */
  const FORGET_MS = 60_000;
  const TASKS = 3;
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const EFFECTS = ["input", "change", "toggle", "submit", "reset"];

  const { navigation } = /** @type {{navigation?: EventTarget}} */ (
    /** @type {unknown} */ (window)
  );

  let changes = 0;
  /** @type {TabhubNavigateEvent | null} */
  let departure = null;
  /** @type {(() => void) | undefined} */
  let disarm;

  const noteChange = () => void changes++;
  const noteDeparture = (/** @type {Event} */ event) =>
    void (departure = /** @type {TabhubNavigateEvent} */ (event));

  /** @param {Element} element the roots around it, shadow roots included */
  function* rootsAround(element) {
    for (let root = tabhub.dom.root(element); ; root = tabhub.dom.root(root.host)) {
      yield root;
      if (!(root instanceof ShadowRoot)) return;
    }
  }

  /** @type {TabhubSettle["arm"]} */
  function arm(element) {
    disarm?.();
    changes = 0;
    departure = null;
    const observer = new MutationObserver(noteChange);
    for (const root of rootsAround(element)) observer.observe(root, WATCHED);
    for (const name of EFFECTS) window.addEventListener(name, noteChange, true);
    navigation?.addEventListener("navigate", noteDeparture);
    const timer = setTimeout(() => disarm?.(), FORGET_MS);
    disarm = () => {
      clearTimeout(timer);
      observer.disconnect();
      for (const name of EFFECTS) window.removeEventListener(name, noteChange, true);
      navigation?.removeEventListener("navigate", noteDeparture);
      disarm = undefined;
    };
  }

  /** Unlike timers, these are not slowed down in hidden tabs. */
  function task() {
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve(undefined);
      };
      port2.postMessage(0);
    });
  }

  async function untilQuiet() {
    const end = performance.now() + BOUND_MS;
    for (let before = -1; before !== changes && performance.now() < end;) {
      before = changes;
      for (let i = 0; i < TASKS; i++) await task();
    }
  }

  /** @returns {TabhubNavigateEvent | null} */
  function leaving() {
    const isReal = departure && !departure.defaultPrevented && !departure.destination.sameDocument;
    return isReal ? departure : null;
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
