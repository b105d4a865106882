/** What a handler returns, as the result of an MCP tool. */

/** @param {any} value */
export function asResult(value) {
  if (Array.isArray(value?.content)) return value;
  if (typeof value === "string") return { content: [text(value)] };
  const written = JSON.stringify(value) ?? "done";
  const plain = written[0] === "{" && { structuredContent: JSON.parse(written) };
  return { content: [text(written)], ...plain };
}

/** @param {string} said */
function text(said) {
  return { type: "text", text: said };
}
