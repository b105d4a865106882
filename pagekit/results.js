/** What a handler returns, as the result of an MCP tool. */

/** @param {unknown} value */
export function asResult(value) {
  if (isResult(value)) return value;
  if (typeof value === "string") return { content: [text(value)] };
  const written = JSON.stringify(value) ?? "done";
  const plain = isPlain(value) ? { structuredContent: JSON.parse(written) } : {};
  return { content: [text(written)], ...plain };
}

/** @param {string} said */
function text(said) {
  return { type: "text", text: said };
}

/**
 * @param {unknown} value
 * @returns {value is {content: unknown[]}}
 */
function isResult(value) {
  return isPlain(value) && Array.isArray(/** @type {{content?: unknown}} */ (value).content);
}

/** @param {unknown} value */
function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
