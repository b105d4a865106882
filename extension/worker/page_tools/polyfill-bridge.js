/**
 * Runs in the page's own world, where a polyfill of WebMCP lives, and acts for it as a small MCP
 * server, through events with a random name. The page can change everything that this code uses, so
 * its messages are trusted no more than the page itself.
 * @param {string} name
 * @param {number} maxTools
 * @param {number} maxText
 */
export function bridge(name, maxTools, maxText) {
  const MAX_TOOL = 1_000_000;
  const MAX_MESSAGE = 2000;
  const context =
    /** @type {any} */ (document).modelContext ?? /** @type {any} */ (navigator).modelContext;
  if (typeof context?.getTools !== "function" || typeof context.executeTool !== "function") return;
  const question = new CustomEvent(`${name}-in`, { cancelable: true, detail: "{}" });
  // A bridge that is already there prevents the event's default.
  if (!document.dispatchEvent(question)) return;
  // Determined before the call, because trying would call twice.
  const takesText = context.executeTool.length > 1;
  const reportsChanges = typeof context.addEventListener === "function";
  /** @type {Map<unknown, AbortController>} */
  const running = new Map();

  /** @param {object} message */
  function say(message) {
    const detail = JSON.stringify({ jsonrpc: "2.0", ...message });
    document.dispatchEvent(new CustomEvent(`${name}-out`, { detail }));
  }

  /** A tool that cannot be read is left out; so are tools beyond the limit. */
  async function toolsHere() {
    const tools = [];
    for (const tool of await context.getTools()) {
      if (tools.push(tool) > maxTools) break;
    }
    return tools.filter((tool) => attempt(() => (tool.window ?? window) === window));
  }

  /**
   * @template T
   * @param {() => T} work
   * @returns {T | undefined}
   */
  function attempt(work) {
    try {
      return work();
    } catch {
      return undefined;
    }
  }

  /** @param {any} tool */
  function textOf({ name, title, description, inputSchema, annotations }) {
    const schema = typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema;
    return JSON.stringify({ name, title, description, inputSchema: schema, annotations });
  }

  /**
   * A tool's properties may change between two reads, so each is read once.
   * @param {any[]} tools
   */
  function written(tools) {
    let room = maxText / 2;
    /** Serializing what is then left out takes time too. */
    let effort = 2 * maxText;
    return tools.map((tool) => {
      const text = effort > 0 ? (attempt(() => textOf(tool)) ?? "{}") : "{}";
      effort -= text.length;
      if (text.length > Math.min(room, MAX_TOOL)) return {};
      room -= text.length;
      return JSON.parse(text);
    });
  }

  /** @param {any} request */
  async function call({ id, params }) {
    const tool = (await toolsHere()).find((each) => attempt(() => each.name) === params.name);
    if (!tool) throw new Error("The page has no such tool any more.");
    const controller = new AbortController();
    running.set(id, controller);
    const input = takesText ? JSON.stringify(params.arguments) : params.arguments;
    try {
      return limited(await context.executeTool(tool, input, { signal: controller.signal }));
    } finally {
      running.delete(id);
    }
  }

  /** @param {unknown} value a text, if the result has WebMCP's form */
  function limited(value) {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? null);
    return text !== null && text.length > maxText ? { size: text.length } : { text };
  }

  /** @param {any} request */
  async function answer(request) {
    if (request.method === "initialize")
      return { capabilities: { tools: { listChanged: reportsChanges } } };
    if (request.method === "tools/call") return call(request);
    return { tools: written(await toolsHere()) };
  }

  /** @param {any} request */
  async function receive(request) {
    if (request.method === "notifications/cancelled")
      running.get(request.params.requestId)?.abort();
    if (request.id === undefined) return;
    try {
      say({ id: request.id, result: await answer(request) });
    } catch (error) {
      const text = attempt(() => String(/** @type {any} */ (error).message)) ?? "";
      say({ id: request.id, error: { message: text.slice(0, MAX_MESSAGE) } });
    }
  }

  document.addEventListener(`${name}-in`, (event) => {
    event.preventDefault();
    const { detail } = /** @type {CustomEvent} */ (event);
    // Nothing of ours may appear in the page's console.
    void receive(attempt(() => JSON.parse(detail)) ?? {}).catch(() => {});
  });
  if (reportsChanges) {
    const changed = () => say({ method: "notifications/tools/list_changed" });
    context.addEventListener("toolchange", changed);
  }
  document.dispatchEvent(new CustomEvent(`${name}-out`, { detail: '"mcp-server-ready"' }));
}
