/** Synthetic mouse events, in the order of a real mouse. */
tabhub.define("mouse", () => {
  const { holds, isConnected, parent } = tabhub.dom;
  const { modifiers, send } = tabhub.synthetic;
  const NUMBERS = new Map([
    ["left", 0],
    ["middle", 1],
    ["right", 2],
  ]);
  const NOTHING = { button: "left", buttons: 0, clickCount: 0, modifiers: 0 };
  /** @type {Element | null} the element it was last over */
  let over = null;

  /** @typedef {{element: Element, point: TabhubPoint, press: TabhubPress}} Touch */

  /**
   * @param {Touch} touch
   * @param {MouseEventInit} more
   * @returns {MouseEventInit}
   */
  function common({ point: { x, y }, press }, more) {
    return {
      bubbles: true,
      cancelable: true,
      composed: true,
      view: window,
      clientX: x,
      clientY: y,
      screenX: window.screenX + x,
      screenY: window.screenY + y,
      ...modifiers(press.modifiers),
      ...more,
    };
  }

  /**
   * @param {Touch} touch
   * @param {string} name
   * @param {MouseEventInit} [more]
   */
  function mouse(touch, name, more = {}) {
    return send(touch.element, new MouseEvent(name, common(touch, more)));
  }

  /**
   * @param {Touch} touch
   * @param {string} name
   * @param {PointerEventInit} [more]
   */
  function pointer(touch, name, more = {}) {
    const kind = { pointerId: 1, pointerType: "mouse", isPrimary: true };
    return send(touch.element, new PointerEvent(name, { ...common(touch, more), ...kind }));
  }

  /**
   * @param {Touch} touch
   * @param {"enter" | "leave"} way
   * @param {Element | null} other where the mouse comes from, or goes to
   */
  function cross(touch, way, other) {
    const [begins, relatedTarget] = [way === "enter" ? "over" : "out", other];
    for (const kind of [pointer, mouse]) {
      const prefix = kind === pointer ? "pointer" : "mouse";
      kind(touch, prefix + begins, { relatedTarget });
      for (let at = /** @type {Element | null} */ (touch.element); at; at = parent(at)) {
        if (other && holds(at, other)) break;
        const quiet = { relatedTarget, bubbles: false, cancelable: false, composed: false };
        kind({ ...touch, element: at }, prefix + way, quiet);
      }
    }
  }

  /** @param {Touch} touch */
  function move(touch) {
    const { element } = touch;
    const before = over && isConnected(over) ? over : null;
    over = element;
    if (before !== element) {
      if (before) cross({ ...touch, element: before }, "leave", element);
      cross(touch, "enter", before);
    }
    pointer(touch, "pointermove");
    mouse(touch, "mousemove");
  }

  /**
   * A page that prevents the pointer event gets no mouse events.
   * @param {Touch} touch
   * @param {MouseEventInit} how
   */
  function pressDown(touch, how) {
    const { buttons } = touch.press;
    const isFree = pointer(touch, "pointerdown", { ...how, buttons, pressure: 0.5 });
    const mayFocus = !isFree || mouse(touch, "mousedown", { ...how, buttons });
    if (mayFocus) tabhub.focus.press(touch.element);
    if (touch.press.button === "right") pointer(touch, "contextmenu", { ...how, buttons });
    return isFree;
  }

  /**
   * @param {Touch} touch
   * @param {number} detail which click of several this is
   */
  function strike(touch, detail) {
    const { element, press } = touch;
    const how = { button: NUMBERS.get(press.button) ?? 0, detail };
    const isFree = pressDown(touch, how);
    pointer(touch, "pointerup", how);
    if (isFree) mouse(touch, "mouseup", how);
    if (!isConnected(element)) return;
    pointer(touch, press.button === "left" ? "click" : "auxclick", how);
    if (detail === 2 && press.button === "left") mouse(touch, "dblclick", how);
  }

  return {
    click(point, press) {
      const touch = { element: tabhub.points.at(point), point, press };
      move(touch);
      tabhub.guard.requireSame();
      for (let n = 1; n <= press.clickCount && isConnected(touch.element); n++) strike(touch, n);
    },
    hover(point) {
      move({ element: tabhub.points.at(point), point, press: NOTHING });
    },
    wheel(point, by) {
      const touch = { element: tabhub.points.at(point), point, press: NOTHING };
      const how = { ...common(touch, {}), deltaX: by.x, deltaY: by.y };
      if (!send(touch.element, new WheelEvent("wheel", how))) return true;
      return tabhub.scroll.push(touch.element, by);
    },
  };
});
