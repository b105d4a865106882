/**
 * Protects against accidental presses: a control that grants something is disabled for a moment
 * after it has appeared or moved, because it may now be under the pointer. Controls that revoke
 * something are never disabled.
 */

const REST_MS = 500;
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
]);

/** @typedef {HTMLButtonElement | HTMLSelectElement} Control */

/** @type {WeakMap<Element, string>} where each was last */
const places = new WeakMap();
/** @type {WeakMap<Element, ReturnType<typeof setTimeout>>} */
const timers = new WeakMap();
/** @type {WeakSet<Element>} approvals that were answered */
const held = new WeakSet();

/** @returns {Control[]} */
function givers() {
  const all = /** @type {Control[]} */ ([...document.querySelectorAll("button, select")]);
  return all.filter(({ dataset }) => !TAKES.has(dataset.action ?? "") && !dataset.decision);
}

export function restWhatMoved() {
  for (const control of givers()) {
    const { left, top, width, height } = control.getBoundingClientRect();
    const place = [left, top, width, height].map(Math.round).join();
    if (places.get(control) !== place) rest(control);
    places.set(control, place);
  }
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
    control.disabled = false;
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
