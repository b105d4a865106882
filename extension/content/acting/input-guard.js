/**
 * Listeners on the window that get input before the page does. They are added before any script of
 * the page runs; `document.open` removes them, and then they are added again.
 */
tabhub.define("windowEvents", () => {
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  /** Unlike randomUUID, this exists on plain http sites too. */
  const PROBE = crypto.getRandomValues(new Uint32Array(4)).join("-");
  /** @type {[name: string, listener: (event: any) => void, passive: boolean][]} */
  const listeners = [];
  let isAlive = false;
  let isLate = false;
  /** @type {(() => void) | undefined} */
  let onLate;

  /**
   * @param {string} name
   * @param {(event: any) => void} listener
   * @param {boolean} passive
   */
  function add(name, listener, passive) {
    addEventListener.call(window, name, listener, { capture: true, passive });
  }

  function check() {
    isAlive = false;
    dispatchEvent.call(window, new Event(PROBE));
    if (isAlive) return;
    for (const [name, listener, passive] of listeners) add(name, listener, passive);
    isLate = true;
    onLate?.();
  }

  /** @type {TabhubWindowEvents["on"]} */
  function on(names, listener, { passive = true } = {}) {
    for (const name of names) {
      listeners.push([name, listener, passive]);
      add(name, listener, passive);
    }
  }

  on([PROBE], () => void (isAlive = true));
  new MutationObserver(check).observe(document, { childList: true });
  return {
    on,
    isLate: () => isLate,
    onLate: (given) => void (onLate = given),
  };
});

/**
 * Keeps input that we send from arriving anywhere else than it was meant for. The browser decides
 * where input goes when it arrives, and by then a page may have moved the focus or an element. So
 * the worker marks it, and every frame refuses what is marked unless it expects it. A person's
 * input has no such marks.
 */
tabhub.define("guard", () => {
  const { on } = tabhub.windowEvents;
  /** Keys of a real keyboard have this location only if they come in pairs. */
  const LEFT = 1;
  const PAIRED = /^(?:Alt|Control|Meta|OS|Shift)/;
  /** What a mouse never has: its numbers are the worker's numbers of presses. */
  const PRESS_UNIT = 2 ** -20;
  const KEYS = ["keydown", "keypress", "keyup"];
  const AFTER_DOWN = ["mousedown", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  const STARTS = ["dragstart", "selectstart"];
  const DROPS = ["dragenter", "dragover", "drop"];
  /** Data of a drag that the worker continues has this type too, with the number of its press. */
  const DROP_TYPE = "application/x-tabhub-drop-";
  /** What is expected does not stay so for ever, whatever happens to the worker. */
  const KEYS_MS = 10_000;
  const PRESS_MS = 60_000;

  /** @typedef {{element: Element, number: number, until: number, requireSame: () => void}} Aim */
  /** @type {Aim | null} */
  let aim = null;
  let keysUntil = 0;
  let keys = 0;
  /** @type {{event: KeyboardEvent, target: EventTarget | undefined}[]} */
  let arrivals = [];
  /** @type {string | null} */
  let expectedDrop = null;
  /** @type {"ours" | "refused" | null} the press that is going on */
  let press = null;
  /** @type {((by: string, isChanged: boolean) => void) | undefined} */
  let onRefusal;

  /** @param {Event} event */
  function refuse(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (!event.isTrusted || event.location !== LEFT) return;
    // Some keyboards do not send codes.
    if (PAIRED.test(event.code) || PAIRED.test(event.key)) return;
    if (performance.now() > keysUntil) return refuse(event);
    keysUntil = performance.now() + KEYS_MS;
    if (event.type !== "keydown") return;
    keys++;
    arrivals.push({ event, target: event.composedPath()[0] });
  }

  /** @param {PointerEvent} event */
  function pointer(event) {
    if (!event.isTrusted) return;
    const isMouse = event.pointerType === "mouse";
    const number = isMouse ? Math.round(event.tangentialPressure / PRESS_UNIT) : 0;
    if (event.type === "pointerdown") press = number ? pressed(event, number) : null;
    else if (number && press !== "ours") press = "refused";
    if (press !== "refused") return;
    refuse(event);
    // The click of this release comes in the same task.
    if (event.type === "pointerup") setTimeout(() => press === "refused" && (press = null));
  }

  /**
   * @param {PointerEvent} event
   * @param {number} number
   */
  function pressed(event, number) {
    const hit = event.composedPath()[0];
    const isExpected = aim?.number === number && performance.now() < aim.until;
    const isHit = isExpected && tabhub.hit.receives(/** @type {any} */ (aim).element, hit);
    if (isHit && isUnchanged()) return "ours";
    onRefusal?.(hit instanceof Element ? tabhub.hit.describe(hit) : "the page", isHit);
    return "refused";
  }

  /** The mouse has come over it by now, and the page may have made something else of it. */
  function isUnchanged() {
    try {
      aim?.requireSame();
    } catch {
      return false;
    }
    // Of several clicks only the first: it may well change what it hits.
    if (aim) aim.requireSame = anything;
    return true;
  }

  function anything() {}

  /** @param {Event & {pointerType?: string}} event that of a click by the keyboard is empty */
  function rest(event) {
    if (event.isTrusted && press === "refused" && event.pointerType !== "") refuse(event);
  }

  /** @param {DragEvent} event */
  function drop(event) {
    const ours = event.dataTransfer?.types.find((type) => type.startsWith(DROP_TYPE));
    if (event.isTrusted && ours !== undefined && ours !== expectedDrop) refuse(event);
  }

  const active = { passive: false };
  on(KEYS, key, active);
  on(["pointerdown", "pointerup"], pointer, active);
  on([...AFTER_DOWN, ...STARTS], rest, active);
  on(DROPS, drop, active);

  return {
    expectPress(element, number, requireSame = anything) {
      const until = performance.now() + PRESS_MS;
      aim = number ? { element, number, until, requireSame } : null;
    },
    requireSame: () => aim?.requireSame(),
    expectKeys() {
      keysUntil = performance.now() + KEYS_MS;
      keys = 0;
      arrivals = [];
    },
    refuseKeys: () => void (keysUntil = 0),
    keys: () => keys,
    arrivals: () => arrivals,
    expectDrop: (number) => void (expectedDrop = DROP_TYPE + number),
    expectNothing() {
      aim = expectedDrop = null;
      keysUntil = 0;
    },
    onRefusal: (given) => void (onRefusal = given),
  };
});
