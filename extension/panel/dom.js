/** Building the page. Texts become text nodes, always: most of them come from strangers. */

import { pieces } from "../worker/person/plain-text.js";

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean>} [attributes] true: there, without a value
 * @param {(Node | string)[]} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  // One by one, because a call takes a limited number of arguments.
  for (const child of children) element.append(child);
  return element;
}

/**
 * Untrusted text; it cannot change the direction of the text beside it.
 * @param {string} text
 * @param {{tag?: string, className?: string}} [how]
 */
export function strange(text, { tag = "bdi", className = "" } = {}) {
  return el(tag, { class: `strange ${className}`.trim() }, ...marked(text));
}

/** @param {string} text */
export function marked(text) {
  return pieces(text).map((piece) =>
    piece.isMark ? el("span", { class: "mark" }, piece.text) : piece.text,
  );
}

/**
 * Only a person's own press counts, not a synthetic one.
 * @param {string} label
 * @param {Record<string, string>} attributes
 * @param {() => void} act
 */
export function button(label, attributes, act) {
  const made = el("button", { type: "button", ...attributes }, strange(label));
  made.addEventListener("click", (event) => event.isTrusted && act());
  return made;
}

/** @type {WeakMap<Element, string>} what each row was made from */
const made = new WeakMap();

/**
 * Replaces the children of a list by those of its items. Unchanged children stay in place and keep the
 * focus.
 * @template T
 * @param {Element} list
 * @param {T[]} items
 * @param {keyof T} key the member that identifies an item
 * @param {(item: T) => HTMLElement} make
 */
export function fill(list, items, key, make) {
  const old = new Map([...list.children].map((row) => [row.getAttribute("data-key"), row]));
  const keys = items.map((item) => String(item[key]));
  // Removed first, so that the others need not move: moving would take the focus from them.
  old.forEach((row, name) => keys.includes(name ?? "") || row.remove());
  items.forEach((item, index) => {
    const row = upToDate(old.get(keys[index]), item, make);
    row.setAttribute("data-key", keys[index]);
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
  });
}

/**
 * @template T
 * @param {Element | undefined} row
 * @param {T} item
 * @param {(item: T) => HTMLElement} make
 */
function upToDate(row, item, make) {
  const source = JSON.stringify(item);
  if (row && made.get(row) === source) return row;
  const fresh = make(item);
  made.set(fresh, source);
  if (row) replace(row, fresh);
  return fresh;
}

/**
 * @param {Element} row
 * @param {Element} fresh
 */
function replace(row, fresh) {
  const focused = row.contains(document.activeElement) ? document.activeElement : null;
  const controls = "button, select, summary";
  const index = focused ? [...row.querySelectorAll(controls)].indexOf(focused) : -1;
  row.replaceWith(fresh);
  /** @type {HTMLElement | undefined} */ ([...fresh.querySelectorAll(controls)][index])?.focus();
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
