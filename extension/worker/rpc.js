/** JSON-RPC 2.0 as text: reading and writing, nothing else. */

const LONE_SURROGATE = "\\ud";
const ESCAPES = /\\(?:ud[89a-f]..|.)/g;

/**
 * @typedef {{kind: "request", id: string | number, method: string, params: any}} Request
 * @typedef {{kind: "notification", method: string, params: any}} Notification
 * @typedef {{kind: "response", id: string | number, result?: any, error?: any}} Response
 */

/**
 * @param {unknown} text
 * @returns {Request | Notification | Response | null} null for anything that is not a message
 */
export function parse(text) {
  const message = parseObject(text);
  if (!message || message.jsonrpc !== "2.0") return null;
  const { id, method, result, error } = message;
  const hasId = typeof id === "string" || typeof id === "number";
  if (typeof method !== "string") return hasId ? { kind: "response", id, result, error } : null;
  const params = isObject(message.params) ? message.params : {};
  if (hasId) return { kind: "request", id, method, params };
  return id === undefined ? { kind: "notification", method, params } : null;
}

/** @param {unknown} text */
function parseObject(text) {
  if (typeof text !== "string") return null;
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param {string} method
 * @param {object} params
 * @param {string | number} [id] makes it a request
 */
export function call(method, params, id) {
  return encode({ jsonrpc: "2.0", id, method, params });
}

/**
 * @param {string | number} id
 * @param {unknown} result
 */
export function success(id, result) {
  return encode({ jsonrpc: "2.0", id, result });
}

/**
 * @param {string | number} id
 * @param {object} error
 */
export function failure(id, error) {
  return encode({ jsonrpc: "2.0", id, error });
}

/**
 * Half a surrogate pair, which pages may hold, is no text to other JSON readers. JSON.stringify
 * writes it as an escape, and whole pairs never.
 * @param {object} message
 */
function encode(message) {
  const text = JSON.stringify(message);
  if (!text.includes(LONE_SURROGATE)) return text;
  return text.replace(ESCAPES, (escape) => (escape.startsWith(LONE_SURROGATE) ? "\ufffd" : escape));
}
