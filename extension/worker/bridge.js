/**
 * Runs in the page's own world, where a polyfill of WebMCP lives, and speaks for it as a small MCP
 * server, by events of a random name. The page can change whatever this uses: what it says is
 * believed no more than the page itself.
 * @param {string} name
 * @param {number} maxTools
 * @param {number} maxText
 */
export function bridge(name, maxTools, maxText) {
  const MAX_TOOL = 1_000_000;
  const context =
    /** @type {any} */ (document).modelContext ?? /** @type {any} */ (navigator).modelContext;
  if (typeof context?.getTools !== "function" || typeof context.executeTool !== "function") return;
  const question = new CustomEvent(`${name}-in`, { cancelable: true, detail: "{}" });
  // One that is there already keeps the event from its default.
  if (!document.dispatchEvent(question)) return;
  // Known before the call: trying would call twice.
  const takesText = context.executeTool.length > 1;
  const hears = typeof context.addEventListener === "function";
  /** @type {Map<unknown, AbortController>} */
  const running = new Map();

  /** @param {object} message */
  function say(message) {
    const detail = JSON.stringify({ jsonrpc: "2.0", ...message });
    document.dispatchEvent(new CustomEvent(`${name}-out`, { detail }));
  }

  async function toolsHere() {
    const tools = [...(await context.getTools())];
    return tools.filter((tool) => (tool.window ?? window) === window);
  }

  /** @param {any} tool */
  function plain({ name, title, description, inputSchema, annotations }) {
    const schema = typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema;
    const told = { name, title, description, inputSchema: schema, annotations };
    return JSON.stringify(told).length > MAX_TOOL ? {} : told;
  }

  /** @param {any} request */
  async function call({ id, params }) {
    const tool = (await toolsHere()).find((each) => each.name === params.name);
    if (!tool) throw new Error("The page has no such tool any more.");
    const controller = new AbortController();
    running.set(id, controller);
    const input = takesText ? JSON.stringify(params.arguments) : params.arguments;
    const text = await context
      .executeTool(tool, input, { signal: controller.signal })
      .finally(() => running.delete(id));
    return text?.length > maxText ? { size: text.length } : { text };
  }

  /** @param {any} request */
  async function answer(request) {
    if (request.method === "initialize") return { capabilities: { tools: { listChanged: hears } } };
    if (request.method === "tools/call") return call(request);
    return { tools: (await toolsHere()).slice(0, maxTools + 1).map(plain) };
  }

  /** @param {any} request */
  async function receive(request) {
    if (request.method === "notifications/cancelled")
      running.get(request.params.requestId)?.abort();
    if (request.id === undefined) return;
    try {
      say({ id: request.id, result: await answer(request) });
    } catch (error) {
      say({ id: request.id, error: { message: String(/** @type {any} */ (error)?.message) } });
    }
  }

  document.addEventListener(`${name}-in`, (event) => {
    event.preventDefault();
    void receive(JSON.parse(/** @type {CustomEvent} */ (event).detail));
  });
  if (hears) {
    const changed = () => say({ method: "notifications/tools/list_changed" });
    context.addEventListener("toolchange", changed);
  }
  document.dispatchEvent(new CustomEvent(`${name}-out`, { detail: '"mcp-server-ready"' }));
}
