/**
 * How much a value is as JSON, found out before it is written: what a page hands over may be small
 * and without end in writing, an array twice in an array and so on, or one of a million holes. What
 * is shared counts each time, as it does in JSON, and who is over the limit is looked at no further.
 */
tabhub.define("toolmeasure", () => {
  const MAX_DEPTH = 100;
  const MAX_NODES = 500_000;
  const PLAIN = new Set(["string", "number", "boolean", "undefined"]);

  /** @typedef {{nodes: number, text: number}} Left */
  /** @typedef {ReturnType<TabhubToolMeasure["write"]>["fault"]} Fault */

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

  /** @type {TabhubToolMeasure["write"]} */
  function write(value, most) {
    const fault = look(value, { nodes: MAX_NODES, text: most }, MAX_DEPTH + 1);
    if (fault) return { fault, text: "" };
    // Marks that JSON needs make it longer, six times at most.
    const text = JSON.stringify(value);
    return text.length > most ? { fault: "large", text: "" } : { fault, text };
  }

  return { write };
});
