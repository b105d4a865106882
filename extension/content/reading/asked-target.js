/**
 * What a person is asked about before an action: an element with the name that the page gives it,
 * and an outline around it while they look at the question.
 */
tabhub.define("asked", () => {
  const { attr, body, closest, documentElement, isConnected, isContentEditable } = tabhub.dom;
  const { parent, rect, tag } = tabhub.dom;
  /** How far up from a point the control may be that it belongs to. */
  const MOST_LEVELS = 12;
  const MARGIN = 3;
  const PAGE = { role: "page", name: "" };
  const LEADING = ["href", "form", "formaction", "formmethod", "formtarget", "target", "type"];
  const append = Node.prototype.appendChild;
  const remove = Element.prototype.remove;
  const attach = Element.prototype.attachShadow;
  /** @type {Map<Element, {host: HTMLElement, box: HTMLElement}>} */
  const outlined = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let ending;

  /**
   * The control that a press at a point is meant for.
   * @param {Element} hit
   */
  function controlAround(hit) {
    let element = /** @type {Element | null} */ (hit);
    for (let i = 0; element && i < MOST_LEVELS; i++, element = parent(element)) {
      const name = tag(element);
      if (tabhub.interactive.isActive(element, name, tabhub.roles.of(element, name)))
        return element;
    }
    return hit;
  }

  /**
   * Where nothing has the focus, keys go to the page as a whole.
   * @param {Element} element
   */
  function isPage(element) {
    const isWhole = element === body() || element === documentElement();
    return isWhole && !(element instanceof HTMLElement && isContentEditable(element));
  }

  /** @typedef {{number: number, around: Element | null, form: Element | null, leads: string}} Position */

  /** @type {WeakMap<Element, Position>} */
  const positions = new WeakMap();
  let lastPosition = 0;

  /**
   * Where an element is and what it is for, beside its name: a number that is another one if any of
   * that has changed since it was asked for last.
   * @param {Element} element
   */
  function positionOf(element) {
    const around = parent(element);
    const form = closest(element, "form");
    const leads = [...LEADING.map((name) => attr(element, name)), form && attr(form, "action")];
    const now = { around, form, leads: JSON.stringify(leads) };
    const before = positions.get(element);
    const isSame = before?.around === around && before.form === form && before.leads === now.leads;
    if (before && isSame) return before.number;
    const number = ++lastPosition;
    positions.set(element, { ...now, number });
    return number;
  }

  /** @param {Element} element */
  function labelOf(element) {
    return isPage(element) ? PAGE : tabhub.durable.label(element);
  }

  /**
   * @param {TabhubConfirmed} confirmed
   * @param {TabhubPoint} [point]
   * @returns {boolean} whether it is what it was, and still at the point if there is one
   */
  function isSame({ ref, role, name, position }, point) {
    try {
      const element = tabhub.refs.resolve(ref);
      if (point && find({ point }) !== element) return false;
      const now = labelOf(element);
      return now.role === role && now.name === name && positionOf(element) === position;
    } catch {
      // It has gone.
      return false;
    }
  }

  /** @type {TabhubAsked["requireSame"]} */
  function requireSame(confirmed, point) {
    if (!confirmed || isSame(confirmed, point)) return;
    const { role, name } = confirmed;
    const message = `Nothing was done: the person was asked about ${tabhub.quoted(`${role} ${JSON.stringify(name)}`)}, which has changed in the last moment. Read the page again.`;
    tabhub.fail("target_changed", message);
  }

  /** @type {TabhubAsked["find"]} */
  function find({ point, ...how }) {
    return point ? controlAround(tabhub.points.at(point)) : tabhub.target.find(how);
  }

  /**
   * @param {HTMLElement} element
   * @param {Record<string, string>} styles
   */
  function style(element, styles) {
    // Not by attributes: a policy of the page could forbid these.
    for (const [name, value] of Object.entries({ all: "initial", ...styles })) {
      element.style.setProperty(name, value, "important");
    }
  }

  function newBox() {
    const host = document.createElement("div");
    const box = document.createElement("div");
    // Above everything, dialogs too; clicks go through it.
    host.popover = "manual";
    style(host, {
      display: "block",
      position: "fixed",
      inset: "0",
      width: "100%",
      height: "100%",
      overflow: "hidden",
      "pointer-events": "none",
    });
    style(box, {
      display: "block",
      position: "absolute",
      "box-sizing": "border-box",
      border: "3px solid #0b57d0",
      "border-radius": "6px",
      "box-shadow": "0 0 0 2px #fff, 0 0 12px 2px #0b57d0",
      "pointer-events": "none",
    });
    append.call(attach.call(host, { mode: "closed" }), box);
    return { host, box };
  }

  /** Scripts and scrolling move elements at any time. */
  function follow() {
    for (const [element, { box }] of outlined) {
      if (!isConnected(element)) {
        unline(element);
        continue;
      }
      const { x, y, width, height } = rect(element);
      const sides = { left: x - MARGIN, top: y - MARGIN };
      const size = { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
      for (const [name, value] of Object.entries({ ...sides, ...size })) {
        box.style.setProperty(name, `${value}px`, "important");
      }
    }
    if (outlined.size) requestAnimationFrame(follow);
  }

  /** @param {Element} element */
  function unline(element) {
    const host = outlined.get(element)?.host;
    outlined.delete(element);
    if (host) remove.call(host);
  }

  function end() {
    clearTimeout(ending);
    for (const element of outlined.keys()) unline(element);
  }

  return {
    find,
    requireSame,
    describe(element) {
      const sensitive = tabhub.secrets.isSecret(element);
      const position = positionOf(element);
      return {
        ref: tabhub.refs.mint(element),
        ...labelOf(element),
        sensitive,
        position,
      };
    },
    outline({ ref, milliseconds }) {
      const element = tabhub.refs.resolve(ref);
      const root = documentElement();
      // Other documents than HTML have no layer above the page.
      if (outlined.has(element) || !(root instanceof HTMLElement)) return;
      const made = newBox();
      append.call(root, made.host);
      made.host.showPopover();
      outlined.set(element, made);
      clearTimeout(ending);
      ending = setTimeout(end, milliseconds);
      follow();
    },
    end,
  };
});
