/** Converts the value that a handler returns into the result of an MCP tool. */

/** @param {any} value */
export function asResult(value) {
  if (Array.isArray(value?.content)) return value;
  if (typeof value === "string") return { content: [textBlock(value)] };
  const json = JSON.stringify(value) ?? "done";
  const structured = json[0] === "{" && { structuredContent: JSON.parse(json) };
  return { content: [textBlock(json)], ...structured };
}

/** @param {string} text */
function textBlock(text) {
  return { type: "text", text };
}
