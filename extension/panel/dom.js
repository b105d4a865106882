/**
 * Building the page. A view describes its elements; `patch` changes only what differs, so what the
 * person has typed, opened or focused stays. Texts become text nodes, always: most of them come from
 * strangers, and nothing here parses HTML.
 */

import { pieces, plain } from "../worker/person/plain-text.js";

/** @typedef {string | number | boolean | null | undefined | ((event: any) => unknown)} Value */
/** @typedef {Record<string, Value>} Attributes */

/**
 * @typedef {object} Described an element, or a text
 * @property {string} tag empty for a text
 * @property {string | undefined} key the same element among its siblings, wherever it stands
 * @property {Attributes} attributes
 * @property {Described[]} children
 * @property {string} text
 * @property {Node} [node] where it is in the page
 * @property {string} [source] a text of a stranger, from which `make` makes the children: only when
 *   it differs from what is shown, since it can be long and the panel is painted every second
 * @property {() => Described[]} [make]
 */

const DRAWN = new Set(["svg", "path", "circle"]);
const SVG = "http://www.w3.org/2000/svg";
/** What a person changes too: it is set only when the description of it changes. */
const PROPERTIES = new Set(["value", "checked", "open", "selected", "indeterminate"]);
const CUT = 300;

/**
 * @param {string} tag
 * @param {Attributes & {key?: string | number}} [attributes] true: there, without a value; a function
 *   is called on the event, as in `onclick`
 * @param {Child[]} children
 * @returns {Described}
 */
export function el(tag, { key, ...attributes } = {}, ...children) {
  const known = key === undefined ? undefined : String(key);
  return { tag, key: known, attributes, children: described(children), text: "" };
}

/**
 * @param {readonly Child[]} children
 * @returns {Described[]}
 */
function described(children) {
  /** @type {Described[]} */
  const all = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) all.push(...described(child));
    else if (typeof child === "object") all.push(/** @type {Described} */ (child));
    else all.push({ tag: "", key: undefined, attributes: {}, children: [], text: String(child) });
  }
  return all;
}

/**
 * Untrusted text; it cannot change the direction of the text beside it.
 * @param {string} text
 * @param {{tag?: string, className?: string, most?: number, attributes?: Attributes}} [how]
 */
export function strange(text, { tag = "bdi", className = "", most = CUT, attributes } = {}) {
  const shell = el(tag, { ...attributes, class: `strange ${className}`.trim() });
  const seen = String(text ?? "").slice(0, most + 1);
  return made(shell, `${most} ${seen}`, () => marked(seen, most));
}

/**
 * @param {Described} element
 * @param {string} source everything that its children depend on
 * @param {() => Described[]} make
 * @returns {Described}
 */
function made(element, source, make) {
  return { ...element, source, make };
}

/**
 * @param {string} text
 * @param {number} [most] how much of it is shown
 */
export function marked(text, most = CUT) {
  // What an old or a strange server sends may be something else.
  const whole = String(text ?? "");
  const shown = whole.length > most ? `${whole.slice(0, most)}…` : whole;
  return pieces(shown)
    .map((piece) => (piece.isMark ? el("span", { class: "mark" }, piece.text) : piece.text))
    .flatMap((piece) => described([piece]));
}

/**
 * Untrusted text where only text can stand: a tooltip, a label, an option.
 * @param {unknown} text
 * @param {number} [most]
 */
export function brief(text, most = 100) {
  const whole = String(text ?? "");
  return plain(whole.length > most ? `${whole.slice(0, most)}…` : whole);
}

/**
 * Only a person's own press counts, not a synthetic one.
 * @param {Child} label
 * @param {Attributes & {key?: string | number, of?: string}} attributes `of`: what it is about, for
 *   those who do not see what it stands beside
 * @param {(event: MouseEvent) => unknown} act
 */
export function button(label, { of, ...attributes }, act) {
  const words = typeof label === "string" ? strange(label) : label;
  const onclick = (/** @type {MouseEvent} */ event) => event.isTrusted && act(event);
  const named = of ? { "aria-label": `${label}: ${brief(of)}` } : {};
  return el("button", { type: "button", ...named, ...attributes, onclick }, words);
}

/** @type {WeakMap<Element, Described[]>} what was last shown in each place */
const shown = new WeakMap();

/**
 * @param {Element} place whose children are all made here
 * @param {Child[]} children
 */
export function patch(place, ...children) {
  const fresh = described(children);
  reconcile(place, shown.get(place) ?? [], fresh);
  shown.set(place, fresh);
}

/**
 * @param {Element} place
 * @param {Described[]} old
 * @param {Described[]} fresh
 */
function reconcile(place, old, fresh) {
  const before = matches(old, fresh);
  const kept = new Set(before);
  // Removed first, so that the others need not move: moving would take the focus from them.
  for (const one of old) if (!kept.has(one)) /** @type {ChildNode} */ (one.node).remove();
  let next = place.firstChild;
  fresh.forEach((one, index) => {
    const node = update(before[index], one);
    if (node === next) next = next?.nextSibling ?? null;
    else place.insertBefore(node, next);
  });
}

/**
 * @param {Described[]} old
 * @param {Described[]} fresh
 * @returns {(Described | undefined)[]} what each was before
 */
function matches(old, fresh) {
  const keyed = new Map(old.filter(({ key }) => key !== undefined).map((one) => [one.key, one]));
  const others = old.filter(({ key }) => key === undefined);
  const places = placesOf(others);
  let at = 0;
  return fresh.map(({ key, tag }) => {
    if (key !== undefined) {
      const same = keyed.get(key);
      keyed.delete(key);
      return same?.tag === tag ? same : undefined;
    }
    const left = places.get(tag) ?? [];
    while (left.length && /** @type {number} */ (left.at(-1)) < at) left.pop();
    const found = left.pop();
    if (found === undefined) return undefined;
    at = found + 1;
    return others[found];
  });
}

/**
 * A text of many lines has thousands of siblings, among which nobody should search for each.
 * @param {Described[]} all
 * @returns {Map<string, number[]>} where those of each tag are, the last first
 */
function placesOf(all) {
  /** @type {Map<string, number[]>} */
  const places = new Map();
  for (let index = all.length - 1; index >= 0; index--) {
    const { tag } = all[index];
    const known = places.get(tag);
    if (known) known.push(index);
    else places.set(tag, [index]);
  }
  return places;
}

/**
 * @param {Described | undefined} old
 * @param {Described} fresh
 * @returns {Node}
 */
function update(old, fresh) {
  const node = old?.node ?? create(fresh);
  fresh.node = node;
  if (old === fresh) return node;
  if (!fresh.tag) {
    if (old && old.text !== fresh.text) node.textContent = fresh.text;
    return node;
  }
  const element = /** @type {Element} */ (node);
  if (old && fresh.make && old.source === fresh.source) {
    fresh.children = old.children;
  } else {
    fresh.children = fresh.make?.() ?? fresh.children;
    reconcile(element, old?.children ?? [], fresh.children);
  }
  // A select takes its value only once its options are there.
  setAttributes(element, old?.attributes ?? {}, fresh.attributes);
  return node;
}

/** @param {Described} one */
function create({ tag, text }) {
  if (!tag) return document.createTextNode(text);
  return DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
}

/** @type {WeakMap<Element, Map<string, (event: Event) => unknown>>} */
const handlers = new WeakMap();

/**
 * @param {Element} element
 * @param {Attributes} old
 * @param {Attributes} fresh
 */
function setAttributes(element, old, fresh) {
  for (const name of Object.keys(old)) if (!(name in fresh)) setAttribute(element, name, null);
  for (const [name, value] of Object.entries(fresh)) {
    if (old[name] !== value) setAttribute(element, name, value);
  }
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {Value} value
 */
function setAttribute(element, name, value) {
  if (name.startsWith("on")) return listen(element, name.slice(2), value);
  if (PROPERTIES.has(name) && value !== null)
    return Object.assign(element, { [name]: value ?? "" });
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Element} element
 * @param {string} type
 * @param {Value} handler
 */
function listen(element, type, handler) {
  const all = handlers.get(element) ?? new Map();
  handlers.set(element, all);
  if (!all.has(type)) element.addEventListener(type, (event) => all.get(type)?.(event));
  all.set(type, typeof handler === "function" ? handler : undefined);
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * A screen reader reads a text aloud each time it is set.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
