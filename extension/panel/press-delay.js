/**
 * Protects against accidental presses: a control that grants something is disabled for a moment
 * after it has appeared or moved, because it may now be under the pointer. Controls that revoke
 * something are never disabled, nor are those that only change what the panel shows (`data-safe`).
 */

const REST_MS = 500;
/** So long after the person's last input, a scroll is still theirs: it may be smooth. */
const OWN_MS = 1000;
const GIVERS = "button, select, input[data-grants]";
const TAKES = new Set([
  "stop-all",
  "pause",
  "take-back",
  "unshare",
  "revoke",
  "skip-off",
  "decline",
  "remote-end",
  "remote-options",
  "cancel-call",
  "client-revoke",
]);

/** @typedef {HTMLButtonElement | HTMLSelectElement | HTMLInputElement} Control */

/** @type {WeakMap<Element, string>} where each was last */
const places = new WeakMap();
/** @type {WeakMap<Element, ReturnType<typeof setTimeout>>} */
const timers = new WeakMap();
/** @type {WeakSet<Element>} approvals that were answered */
const held = new WeakSet();

/** @returns {Control[]} */
function givers() {
  const all = /** @type {Control[]} */ ([...document.querySelectorAll(GIVERS)]);
  return all.filter(
    ({ dataset }) =>
      !TAKES.has(dataset.action ?? "") && !dataset.decision && dataset.safe === undefined,
  );
}

/** @param {Control} control */
function placeOf(control) {
  const { left, top, width, height } = control.getBoundingClientRect();
  return [left, top, width, height].map(Math.round).join();
}

/** After every change of the page. */
export function restWhatMoved() {
  // Measured together, before the first is disabled: otherwise the page would be laid out for each.
  const now = givers().map((control) => /** @type {const} */ ([control, placeOf(control)]));
  for (const [control, place] of now) {
    if (places.get(control) !== place) rest(control);
    places.set(control, place);
  }
}

let inputAt = -Infinity;

/**
 * The person turns the wheel, swipes or presses a key.
 * @param {Event} event
 */
export function noteInput({ isTrusted }) {
  if (isTrusted) inputAt = performance.now();
}

/**
 * Who scrolls knows that things move. But something else may have scrolled: the browser does when
 * the page or the window changes its height.
 */
export function noteScroll() {
  if (performance.now() - inputAt > OWN_MS) return restWhatMoved();
  for (const control of givers()) if (places.has(control)) places.set(control, placeOf(control));
}

export function restAll() {
  givers().forEach(rest);
}

/** @param {Control} control */
function rest(control) {
  clearTimeout(timers.get(control));
  const hadFocus = document.activeElement === control;
  control.disabled = true;
  const wake = () => {
    if (isHeld(control)) return;
    control.disabled = control.hasAttribute("data-locked");
    // Disabling took the keyboard focus away.
    if (hadFocus && document.activeElement === document.body) control.focus();
  };
  timers.set(control, setTimeout(wake, REST_MS));
}

/** @param {Element} control */
function isHeld(control) {
  const article = control.closest("article");
  return article !== null && held.has(article);
}

/** @param {HTMLElement} article */
export function hold(article) {
  held.add(article);
  article.querySelectorAll("button").forEach((button) => (button.disabled = true));
}

/** @param {HTMLElement} article */
export function release(article) {
  held.delete(article);
  article.querySelectorAll("button").forEach(rest);
}
