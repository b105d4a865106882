/** Logged values as text, as the console would show them in one line. */

import { clip } from "../shared/clip.js";

export const TEXT_LENGTH = 10_000;
const DIRECTIVE = /%([sdifoOc%])/g;

/**
 * @typedef {object} RemoteObject
 * @property {string} type
 * @property {string} [subtype]
 * @property {string} [objectId]
 * @property {any} [value]
 * @property {string} [unserializableValue]
 * @property {string} [description]
 * @property {string} [className]
 * @property {any} [preview]
 */

/** @param {RemoteObject[]} args */
export function renderArguments(args) {
  const [first, ...rest] = args;
  if (first?.type !== "string") return joined(args.map(render));
  const { text, used } = formatted(String(first.value), rest);
  return joined([text, ...rest.slice(used).map(render)]);
}

/** @param {string[]} parts */
function joined(parts) {
  return clip(parts.join(" "), TEXT_LENGTH);
}

/**
 * @param {string} format
 * @param {RemoteObject[]} args
 */
function formatted(format, args) {
  let used = 0;
  const text = format.replace(DIRECTIVE, (whole, letter) => {
    if (letter === "%") return "%";
    const arg = args[used];
    if (!arg) return whole;
    used++;
    return letter === "c" ? "" : render(arg);
  });
  return { text, used };
}

/** @param {RemoteObject} arg */
export function render(arg) {
  if (arg.unserializableValue !== undefined) return arg.unserializableValue;
  if (arg.type === "undefined" || arg.subtype === "null") return String(arg.subtype ?? arg.type);
  if (arg.type !== "object" && arg.type !== "function") return String(arg.value ?? arg.description);
  if (arg.subtype === "error" || !arg.preview) return arg.description ?? arg.className ?? arg.type;
  return renderPreview(arg.preview);
}

/**
 * @param {any} preview
 * @returns {string}
 */
function renderPreview({ subtype, description, properties = [], entries, overflow }) {
  if (subtype === "node" || subtype === "regexp" || subtype === "date") return description;
  const shown = entries ? entries.map(renderEntry) : properties.map(renderProperty(subtype));
  const inside = [...shown, ...(overflow ? ["…"] : [])].join(", ");
  if (subtype === "array" || subtype === "typedarray") return `[${inside}]`;
  const name = description && description !== "Object" ? `${description} ` : "";
  return `${name}{${inside}}`;
}

/** @param {any} entry */
function renderEntry({ key, value }) {
  return key ? `${renderPreview(key)} => ${renderPreview(value)}` : renderPreview(value);
}

/** @param {string | undefined} subtype of the whole */
function renderProperty(subtype) {
  return (/** @type {any} */ { name, type, value, valuePreview }) => {
    const plain = type === "string" ? JSON.stringify(value) : (value ?? type);
    const shown = valuePreview ? renderPreview(valuePreview) : plain;
    return subtype === "array" || subtype === "typedarray" ? shown : `${name}: ${shown}`;
  };
}
