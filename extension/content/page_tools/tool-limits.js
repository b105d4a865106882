/**
 * The size of a value as JSON, measured before it is serialized: a page's value may be small in
 * memory and endless as JSON, such as an array that contains another one twice and so on, or a
 * sparse array. A shared part counts each time, as in JSON, and measuring stops at the limit.
 */
tabhub.define("sizeLimit", () => {
  const MAX_DEPTH = 100;
  const MAX_NODES = 500_000;
  const PLAIN = new Set(["string", "number", "boolean", "undefined"]);

  /** @typedef {{nodes: number, text: number}} Left */
  /** @typedef {ReturnType<TabhubSizeLimit["write"]>["fault"]} Fault */

  /** @param {object} value */
  function isPlain(value) {
    const kind = Object.getPrototypeOf(value);
    return kind === Object.prototype || kind === null;
  }

  /**
   * @param {Left} left
   * @param {number} nodes
   * @param {number} text
   * @returns {Fault}
   */
  function take(left, nodes, text) {
    left.nodes -= nodes;
    left.text -= text;
    return left.nodes < 0 || left.text < 0 ? "large" : "";
  }

  /**
   * @param {any[]} items
   * @param {Left} left
   * @param {number} depth
   * @returns {Fault}
   */
  function ofItems(items, left, depth) {
    let fault = take(left, items.length, items.length);
    for (let i = 0; !fault && i < items.length; i++) fault = look(items[i], left, depth);
    return fault;
  }

  /**
   * @param {Record<string, unknown>} record
   * @param {Left} left
   * @param {number} depth
   * @returns {Fault}
   */
  function ofRecord(record, left, depth) {
    const keys = Object.keys(record);
    let fault = take(left, keys.length, 0);
    for (let i = 0; !fault && i < keys.length; i++) {
      const key = /** @type {string} */ (keys[i]);
      fault = take(left, 0, key.length + 4) || look(record[key], left, depth);
    }
    return fault;
  }

  /**
   * @param {any} value
   * @param {Left} left
   * @param {number} depth
   * @returns {Fault}
   */
  function look(value, left, depth) {
    if (value === null || PLAIN.has(typeof value)) return take(left, 0, 1 + (value?.length ?? 0));
    if (typeof value !== "object" || depth === 0) return "invalid";
    if (Array.isArray(value)) return ofItems(value, left, depth - 1);
    return isPlain(value) ? ofRecord(value, left, depth - 1) : "invalid";
  }

  /** @type {TabhubSizeLimit["write"]} */
  function write(value, most) {
    const fault = look(value, { nodes: MAX_NODES, text: most }, MAX_DEPTH + 1);
    if (fault) return { fault, text: "" };
    // Escapes make a string longer in JSON, at most six times.
    const text = JSON.stringify(value);
    return text.length > most ? { fault: "large", text: "" } : { fault, text };
  }

  return { write };
});

/** Limits for a page's tools and their results. The surplus is left out and counted. */
tabhub.define("toolLimits", () => {
  const { write } = tabhub.sizeLimit;
  const MAX_TOOLS = 2000;
  const MAX_NAME = 500;
  const MAX_TOOL = 1_000_000;
  const MAX_LIST = 4_000_000;
  const MAX_RESULT = 9_000_000;
  const MAX_MESSAGE = 2000;
  const MAX_EXTENSIONS = 10_000;
  const TOO_LARGE = `The page's result has more than ${MAX_RESULT} characters.`;
  const OURS = "tabhub/";
  const FIELDS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

  /** @param {unknown} value @returns {value is Record<string, unknown>} */
  function isRecord(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }

  /** @param {Record<string, unknown>} item */
  function pick(item) {
    /** @type {Record<string, unknown>} */
    const tool = {};
    for (const field of [...FIELDS, "_meta"]) {
      const value = item[field];
      if (value !== undefined && value !== null && value !== "") tool[field] = value;
    }
    return tool;
  }

  /**
   * @param {unknown} item
   * @returns {string} as JSON, or the reason why it is left out
   */
  function written(item) {
    if (!isRecord(item) || typeof item.name !== "string" || !item.name) return "invalid";
    if (item.name.length > MAX_NAME) return "invalid";
    const { fault, text } = write(pick(item), MAX_TOOL);
    return fault || text;
  }

  /** @type {TabhubToolLimits["list"]} */
  function list(items) {
    /** @type {Map<string, string>} by name; the first of a name counts */
    const texts = new Map();
    const leftOut = { many: Math.max(0, items.length - MAX_TOOLS), large: 0, invalid: 0 };
    let room = MAX_LIST;
    for (const item of items.slice(0, MAX_TOOLS)) {
      let text = written(item);
      if (text.length > room) text = "large";
      if (text === "large" || text === "invalid") leftOut[text]++;
      else if (!texts.has(item.name)) {
        texts.set(item.name, text);
        room -= text.length;
      }
    }
    return { texts, leftOut };
  }

  /** @type {TabhubToolLimits["result"]} */
  function result(value) {
    const fault = isRecord(value) ? write(value, MAX_RESULT).fault : "invalid";
    if (!fault) return /** @type {object} */ (value);
    if (fault === "large") return tabhub.fail("too_large", TOO_LARGE);
    return tabhub.fail("invalid_response", "The page's answer is no result of a tool.");
  }

  /** @type {TabhubToolLimits["extensions"]} */
  function extensions(value) {
    if (!isRecord(value) || write(value, MAX_EXTENSIONS).fault) return;
    const theirs = Object.entries(value).filter(([key]) => !key.startsWith(OURS));
    return theirs.length ? Object.fromEntries(theirs) : undefined;
  }

  /** @param {string} text */
  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** @type {TabhubToolLimits["fromText"]} */
  function fromText(text) {
    const value = typeof text === "string" && text.length <= MAX_RESULT ? parsed(text) : undefined;
    if (isRecord(value) && Array.isArray(value.content)) return value;
    const result = { content: [{ type: "text", text: String(text ?? "") }] };
    return isRecord(value) ? { ...result, structuredContent: value } : result;
  }

  /** @type {TabhubToolLimits["message"]} */
  function message(error) {
    const text = isRecord(error) && typeof error.message === "string" ? error.message : "";
    return (text || "The tool failed.").slice(0, MAX_MESSAGE);
  }

  return { MAX_TOOLS, MAX_TEXT: MAX_RESULT, isRecord, list, extensions, result, fromText, message };
});
