/**
 * Synthetic keyboard events. The browser has no default action for them, so the most important ones
 * are done here: writing, deleting, submitting a form, pressing a button, moving to the next field.
 */
tabhub.define("keyboard", () => {
  const { body, closest, documentElement, isVisible, matches, queryDeep, tag } = tabhub.dom;
  const { modifiers, send } = tabhub.synthetic;
  const { edit, mayWrite } = tabhub.writing;
  const [ALT, CTRL, META, SHIFT] = [1, 2, 4, 8];
  const PRESSED = "button, summary, input:is([type=button], [type=submit], [type=reset])";
  const SPACED = `${PRESSED}, input:is([type=checkbox], [type=radio])`;
  const ENTERED = `${PRESSED}, input[type=image], a[href], area[href]`;
  const TABBED = "a[href], area[href], button, input, select, textarea, summary, [tabindex]";
  const TABBED_TOO = `${TABBED}, iframe, [contenteditable]`;
  const SENT = "button:not([type]), button[type=submit], input:is([type=submit], [type=image])";

  function focused() {
    const element = tabhub.focus.deepest() ?? body() ?? documentElement();
    if (!element) return tabhub.fail("not_visible", "The page shows nothing.");
    if (tabhub.focus.isInFrame()) {
      tabhub.fail("element_not_found", "The focus is in a frame now: no more keys were sent.");
    }
    return element;
  }

  /** @param {Element} element */
  function press(element) {
    const how = { bubbles: true, cancelable: true, composed: true, view: window, detail: 0 };
    send(element, new PointerEvent("click", how));
  }

  /**
   * @param {HTMLInputElement} input Enter submits its form, with the form's first button if it has
   *   one
   */
  function submit(input) {
    if (tabhub.focus.isText(input)) send(input, new Event("change", { bubbles: true }));
    const { form } = input;
    if (!form) return;
    const button = [...queryDeep(SENT)].find((one) => formOf(one) === form);
    if (button) return matches(button, ":disabled") ? undefined : press(button);
    const fields = [...queryDeep("input")].filter((one) => formOf(one) === form);
    if (fields.filter(tabhub.focus.isText).length > 1) return;
    HTMLFormElement.prototype.requestSubmit.call(form);
  }

  /** @param {Element} element */
  function formOf(element) {
    const isPart = element instanceof HTMLInputElement || element instanceof HTMLButtonElement;
    return isPart ? element.form : null;
  }

  /** @param {Element} element */
  function enter(element) {
    if (matches(element, ENTERED)) press(element);
    else if (element instanceof HTMLInputElement) submit(element);
    else if (mayWrite(element))
      edit(tag(element) === "textarea" ? "insertLineBreak" : "insertParagraph");
  }

  /**
   * @param {Element} from
   * @param {number} step
   */
  function next(from, step) {
    const all = [...queryDeep(TABBED_TOO)].filter(isTabbed);
    const at = all.indexOf(from);
    const start = at < 0 && step < 0 ? 0 : at;
    for (let n = 1; n <= all.length; n++) {
      const found = all.at((start + n * step) % all.length);
      if (found && tabhub.focus.take(found)) return;
    }
  }

  /** @param {Element} element */
  function isTabbed(element) {
    if (!(element instanceof HTMLElement) || !isVisible(element)) return false;
    return element.tabIndex >= 0 && !matches(element, ":disabled") && !closest(element, "[inert]");
  }

  /** @type {[string, (element: Element, bits: number) => void][]} */
  const deeds = [
    ["Enter", enter],
    ["Tab", (element, bits) => next(element, bits & SHIFT ? -1 : 1)],
    ["Backspace", (element) => void (mayWrite(element) && edit("delete"))],
    ["Delete", (element) => void (mayWrite(element) && edit("forwardDelete"))],
  ];
  const DEEDS = new Map(deeds);

  /**
   * @param {string} key
   * @param {number} bits
   */
  function isSelectAll(key, bits) {
    return key === "a" && (bits & (CTRL | META)) !== 0 && (bits & ALT) === 0;
  }

  /**
   * @param {Element} element
   * @param {TabhubKeyEvent} stroke
   */
  function act(element, { key, modifiers: bits, text }) {
    const deed = DEEDS.get(key);
    const isCommand = (bits & ~SHIFT) !== 0;
    if (isCommand) return void (isSelectAll(key, bits) && edit("selectAll"));
    if (deed) return deed(element, bits);
    if (text === " " && matches(element, SPACED)) press(element);
    else if (text && mayWrite(element)) edit("insertText", text);
  }

  /**
   * @param {Element} element
   * @param {string} name
   * @param {TabhubKeyEvent} stroke
   */
  function key(element, name, { key, code, windowsVirtualKeyCode, modifiers: bits, text }) {
    const isPress = name === "keypress";
    const number = isPress ? (text?.charCodeAt(0) ?? 0) : windowsVirtualKeyCode;
    const old = { keyCode: number, which: number, charCode: isPress ? number : 0 };
    const how = { bubbles: true, cancelable: true, composed: true, view: window };
    const init = { ...how, key, code, ...old, ...modifiers(bits) };
    return send(element, new KeyboardEvent(name, init));
  }

  /** @param {TabhubKeyEvent} stroke */
  function play(stroke) {
    const isUp = stroke.type === "keyUp";
    // The key itself may have moved the focus into a frame.
    if (isUp && tabhub.focus.isInFrame()) return;
    const element = focused();
    if (isUp) return void key(element, "keyup", stroke);
    if (!key(element, "keydown", stroke)) return;
    if (stroke.text !== undefined && !key(element, "keypress", stroke)) return;
    act(focused(), stroke);
  }

  return {
    play: (events) => events.forEach(play),
    announce: (element, event) =>
      void key(element, event.type === "keyUp" ? "keyup" : "keydown", event),
  };
});
