/**
 * Checks a command's input against the schema that the server declares, with as much of JSON Schema
 * as the declarations use. Only a server in development mode sends them.
 */

import { CommandError } from "../shared/command-errors.js";

/**
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string} [type]
 * @property {unknown[]} [enum]
 * @property {Schema[]} [anyOf]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema | false} [additionalProperties]
 * @property {Schema | false} [items]
 * @property {number} [minimum]
 * @property {number} [maximum]
 */
/** @typedef {{inputs: Record<string, Schema>, $defs: Record<string, Schema>}} Declared */

/** @type {Record<string, (value: unknown) => boolean>} */
const TYPES = {
  array: Array.isArray,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null,
  number: Number.isFinite,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  string: (value) => typeof value === "string",
};

/**
 * @param {Declared} declared
 * @returns {(command: string, input: unknown) => void} throws for an input that does not match
 */
export function checker({ inputs, $defs }) {
  return (command, input) => {
    const { [command]: schema } = inputs;
    const why = schema && misfit(schema, input, command, $defs);
    if (why)
      throw new CommandError(
        "internal",
        `The server sent an input that does not match its declaration: ${why}`,
      );
  };
}

/**
 * @param {Schema} schema
 * @param {unknown} value
 * @param {string} path
 * @param {Record<string, Schema>} defs
 * @returns {string | undefined} the first mismatch
 */
export function misfit(schema, value, path, defs) {
  const inner = (/** @type {Schema} */ one) => misfit(one, value, path, defs);
  if (schema.$ref) return inner(resolve(schema.$ref, defs));
  if (schema.anyOf) {
    const found = schema.anyOf.map(inner);
    if (!found.includes(undefined)) return found.join("; nor ");
  }
  if (schema.type && !TYPES[schema.type]?.(value)) return `${path} is no ${schema.type}`;
  if (schema.enum && !schema.enum.includes(value)) return `${path} is ${JSON.stringify(value)}`;
  if (typeof value === "number") return outOfRange(schema, value, path);
  if (Array.isArray(value)) return inItems(schema, value, path, defs);
  return TYPES.object?.(value) ? inMembers(schema, Object(value), path, defs) : undefined;
}

/**
 * @param {string} ref
 * @param {Record<string, Schema>} defs
 */
function resolve(ref, defs) {
  const { [ref.replace("#/$defs/", "")]: found } = defs;
  if (!found) throw new TypeError(`${ref} is not declared`);
  return found;
}

/**
 * @param {Schema} schema
 * @param {number} value
 * @param {string} path
 */
function outOfRange({ minimum = -Infinity, maximum = Infinity }, value, path) {
  return value >= minimum && value <= maximum ? undefined : `${path} is ${value}`;
}

/**
 * @param {Schema} schema
 * @param {unknown[]} values
 * @param {string} path
 * @param {Record<string, Schema>} defs
 */
function inItems({ items }, values, path, defs) {
  if (!items) return undefined;
  return first(values.map((value, index) => misfit(items, value, `${path}[${index}]`, defs)));
}

/**
 * @param {Schema} schema
 * @param {Record<string, unknown>} value
 * @param {string} path
 * @param {Record<string, Schema>} defs
 */
function inMembers({ properties = {}, required = [], additionalProperties }, value, path, defs) {
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing) return `${path}.${missing} is missing`;
  const found = Object.entries(value).map(([name, member]) => {
    const { [name]: schema = additionalProperties } = properties;
    if (schema === false) return `${path}.${name} is not known`;
    return schema && misfit(schema, member, `${path}.${name}`, defs);
  });
  return first(found);
}

/** @param {(string | undefined)[]} found */
function first(found) {
  return found.find((why) => why !== undefined);
}
