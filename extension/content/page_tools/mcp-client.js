/**
 * A client of an MCP server in the page. Everything the server sends may be false, and other code
 * may use the same channel: only answers to our own random ids are accepted.
 */
tabhub.define("mcpClient", () => {
  const { pageAccess, rateLimit, toolLimits } = tabhub;
  const PROTOCOL = "2025-11-25";
  const ANSWER_MS = 10_000;
  const MOST_PAGES = 20;
  const LONGEST_CURSOR = 2000;
  /** More than are accepted, so that the surplus can be counted. */
  const MOST_LISTED = 10 * toolLimits.MAX_TOOLS;
  const PROGRESS_MS = 100;
  /** What the hub can do, as MCP-B's pages are told. */
  const HUB = { browser: { multiTabSupport: true, cacheSupported: true, elicitation: false } };

  function randomId() {
    return Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");
  }

  /** @type {TabhubMcpClient["make"]} */
  function make(kind, post) {
    /** @type {TabhubCorrelator<{progress?: TabhubProgress, reportedAt: number}>} */
    const requests = new TabhubCorrelator();
    let isThere = false;
    let isGreeted = false;
    /** @type {any} */
    let abilities = {};
    /** @type {unknown} */
    let extensions;
    let changed = () => {};
    /** A whole list at once; a server with endless pages is asked slowly. */
    const turns = rateLimit.make(MOST_PAGES + 5, 5);

    /**
     * @param {string} method
     * @param {object} params
     */
    async function ask(method, params) {
      const wait = turns.wait();
      turns.spend(1);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (!pageAccess.isAllowed()) throw new Error("The page may not publish tools.");
      const late = () => new Error(`${method}: no answer`);
      return requests.request((id) => post({ jsonrpc: "2.0", id, method, params }), {
        id: randomId(),
        timeoutMs: ANSWER_MS,
        late,
      });
    }

    async function greet() {
      const clientInfo = { name: "tabhub", version: chrome.runtime.getManifest().version };
      const params = { protocolVersion: PROTOCOL, capabilities: HUB, clientInfo };
      const answer = await ask("initialize", params);
      abilities = toolLimits.isRecord(answer?.capabilities) ? answer.capabilities : {};
      post({ jsonrpc: "2.0", method: "notifications/initialized" });
      isGreeted = true;
    }

    async function list() {
      if (!isGreeted) await greet();
      const found = [];
      let cursor;
      for (let page = 0; page < MOST_PAGES && found.length <= toolLimits.MAX_TOOLS; page++) {
        const answer = await ask("tools/list", cursor === undefined ? {} : { cursor });
        if (!Array.isArray(answer?.tools)) break;
        if (page === 0) extensions = answer._meta;
        found.push(...answer.tools.slice(0, MOST_LISTED - found.length));
        cursor = answer.nextCursor;
        if (typeof cursor !== "string" || !cursor || cursor.length > LONGEST_CURSOR) break;
      }
      return found;
    }

    /** @type {TabhubToolSource["call"]} */
    async function call(name, args, { signal, progress, extensions: ours }) {
      const id = randomId();
      signal.addEventListener("abort", () => {
        post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
        requests.settle(id, signal.reason);
      });
      const params = { name, arguments: args, _meta: { ...ours, progressToken: id } };
      const send = () => post({ jsonrpc: "2.0", id, method: "tools/call", params });
      return requests.request(send, { id, note: { progress, reportedAt: -Infinity } });
    }

    /** @param {any} message */
    function answered({ id, result, error }) {
      if (typeof id !== "string" || !requests.has(id)) return;
      requests.settle(id, error && new Error(toolLimits.message(error)), result);
    }

    /** @param {any} params */
    function progressed(params) {
      const waiting = requests.noteOf(params?.progressToken);
      const now = performance.now();
      if (!waiting?.progress || now - waiting.reportedAt < PROGRESS_MS) return;
      waiting.reportedAt = now;
      waiting.progress(params);
    }

    function arrived() {
      isThere = true;
      isGreeted = false;
      changed();
    }

    function stopped() {
      if (!isThere) return;
      isThere = false;
      requests.failAll(() => new Error("The page's server stopped."));
      changed();
    }

    /** @param {any} message */
    function noted({ method, params, id }) {
      if (method === "notifications/progress") progressed(params);
      else if (method === "notifications/tools/list_changed") {
        isThere = true;
        changed();
      } else if (id !== undefined && pageAccess.isAllowed())
        post({ jsonrpc: "2.0", id, ...reply(method) });
    }

    /** @param {string} method */
    function reply(method) {
      if (method === "ping") return { result: {} };
      return { error: { code: -32601, message: "Tabs are asked for tools, and ask nothing." } };
    }

    /** @param {unknown} payload */
    function receive(payload) {
      if (payload === "mcp-server-ready") arrived();
      else if (payload === "mcp-server-stopped") stopped();
      else if (toolLimits.isRecord(payload)) {
        if (typeof payload.method === "string") noted(payload);
        else answered(payload);
      }
    }

    return {
      kind,
      isThere: () => isThere,
      polls: () => abilities.tools?.listChanged !== true,
      capabilities: () => abilities.browser ?? {},
      extensions: () => extensions,
      onChange: (listener) => (changed = listener),
      list,
      call,
      receive,
    };
  }

  return { make };
});
