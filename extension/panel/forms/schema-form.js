/** A form made from the JSON Schema of a tool's arguments, and what was entered in it. */

import { brief, el, strange } from "../dom.js";

const MOST_FIELDS = 60;
const MOST_CHOICES = 500;
const LONG_TEXT = new Set(["code", "script", "text", "message", "html", "body", "content"]);

/** @typedef {Record<string, any>} Schema */
/** @typedef {"choice" | "boolean" | "number" | "text" | "json"} Kind */

/** @param {unknown} schema */
function propertiesOf(schema) {
  const found = /** @type {Schema | undefined} */ (schema)?.properties;
  return /** @type {[string, Schema][]} */ (
    found && typeof found === "object" ? Object.entries(found).slice(0, MOST_FIELDS) : []
  );
}

/**
 * @param {Schema} property
 * @returns {Kind}
 */
export function kindOf(property) {
  const { type, enum: choices, anyOf, oneOf } = property ?? {};
  // More could not be chosen from, and would hold up the panel: then the value is written as JSON.
  if (Array.isArray(choices)) return choices.length > MOST_CHOICES ? "json" : "choice";
  const types = [type ?? (anyOf ?? oneOf ?? []).map((/** @type {Schema} */ one) => one?.type)]
    .flat()
    .filter((one) => one && one !== "null");
  if (types.length !== 1) return "json";
  if (types[0] === "integer" || types[0] === "number") return "number";
  if (types[0] === "boolean") return "boolean";
  return types[0] === "string" ? "text" : "json";
}

/**
 * @param {unknown} schema
 * @param {string[]} [secrets] the arguments that must not be seen
 */
export function fieldsOf(schema, secrets = []) {
  const required = new Set(/** @type {Schema} */ (schema)?.required ?? []);
  return propertiesOf(schema).map(([name, property]) => {
    const isRequired = required.has(name);
    const entry = secrets.includes(name)
      ? el("input", { name, type: "password", autocomplete: "off", required: isRequired })
      : control(name, property, isRequired);
    return field(name, property, isRequired, entry);
  });
}

/**
 * @param {string} name
 * @param {Schema} property
 * @param {boolean} isRequired
 * @param {Described} entry
 */
function field(name, property, isRequired, entry) {
  const about = typeof property?.description === "string" ? property.description : "";
  return el(
    "label",
    { key: name, class: "field", "data-field": name },
    el("span", {}, strange(name, { tag: "code", most: 100 }), isRequired && " (required)"),
    entry,
    about && strange(about, { tag: "span", className: "quiet", most: 500 }),
  );
}

/**
 * @param {string} name
 * @param {Schema} property
 * @param {boolean} isRequired
 */
function control(name, property, isRequired) {
  const kind = kindOf(property);
  if (kind === "choice" || kind === "boolean") {
    const choices = kind === "boolean" ? [true, false] : property.enum;
    return el(
      "select",
      { name, "data-safe": true },
      !isRequired && el("option", { value: "" }, ""),
      choices.map((/** @type {unknown} */ choice) =>
        el("option", { value: JSON.stringify(choice) }, brief(choice)),
      ),
    );
  }
  if (kind === "number")
    return el("input", { name, type: "number", step: "any", required: isRequired });
  const isLong = kind === "json" || LONG_TEXT.has(name);
  const attributes = { name, spellcheck: "false", autocomplete: "off", required: isRequired };
  if (!isLong) return el("input", { ...attributes, type: "text" });
  const hint = kind === "json" ? 'JSON, such as [1, 2] or {"a": 1}' : "";
  return el("textarea", { ...attributes, rows: 2, placeholder: hint });
}

/**
 * @param {HTMLFormElement} form
 * @param {unknown} schema
 * @returns {Record<string, unknown>} without what was left empty
 */
export function readFields(form, schema) {
  // Not by the form's members: a field may have the name of one.
  const entered = new FormData(form);
  /** @type {[string, unknown][]} */
  const given = [];
  for (const [name, property] of propertiesOf(schema)) {
    const value = valueOf(name, kindOf(property), String(entered.get(name) ?? ""));
    if (value !== undefined) given.push([name, value]);
  }
  return Object.fromEntries(given);
}

/**
 * @param {string} name
 * @param {Kind} kind
 * @param {string} text
 * @returns {unknown} undefined: nothing was entered
 */
export function valueOf(name, kind, text) {
  if (!text.trim()) return undefined;
  if (kind === "text") return text;
  if (kind === "number") return Number(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be JSON, such as "text", 1, [1, 2] or {"a": 1}.`);
  }
}
