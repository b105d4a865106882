/** Tools of a server in the page that speaks MCP by `postMessage` in its own window (MCP-B). */
tabhub.define("mcpSource", () => {
  const CHANNEL = "mcp-default";

  /** @param {unknown} payload */
  function post(payload) {
    const message = { channel: CHANNEL, type: "mcp", direction: "client-to-server", payload };
    window.postMessage(message, "/");
  }

  const client = tabhub.mcpClient.make("mcp-b", post);

  /** @param {MessageEvent} event */
  function receive(event) {
    // Cheap checks first: reading the data of a message copies it.
    if (!event.isTrusted || event.source !== window) return;
    const { data } = event;
    if (data?.channel !== CHANNEL || data.type !== "mcp") return;
    if (data.direction === "server-to-client") client.receive(data.payload);
  }

  // A client that starts first receives the server's announcement; only a late one has to ask.
  const isLate = document.readyState !== "loading";
  window.addEventListener("message", receive, true);
  tabhub.pageAccess.onChange((isAllowed) => {
    if (isAllowed && isLate) post("mcp-check-ready");
  });
  return client;
});

/**
 * Tools of a server in this frame that speaks MCP with the window around it (MCP-B, `mcp-iframe`):
 * it listens only to its parent, and answers only there. So the parent's content script carries
 * messages (window-messages.js), and this one is the client: what a document publishes is always
 * reported by its own script. The browser knows which window a message is from: this document sends
 * its parent a random name.
 */
tabhub.define("framedSource", () => {
  const { mcpClient, pageAccess, rateLimit, windowMessages } = tabhub;
  const name = windowMessages.PREFIX + crypto.getRandomValues(new Uint32Array(4)).join("-");
  const introductions = rateLimit.make(5, 0.2);
  let isAsked = false;
  let isIntroduced = false;
  /** @type {(message: object) => void} */
  let say = () => {};

  const client = mcpClient.make("mcp-b", (payload) => say({ type: "toParent", payload }));

  function introduce() {
    isAsked = true;
    if (!pageAccess.isAllowed() || window.parent === window || !introductions.take()) return;
    isIntroduced = true;
    say({ type: "windowName", name });
    window.parent.postMessage(name, "*");
  }

  function connected(/** @type {(message: object) => void} */ speak) {
    say = speak;
    if (isIntroduced) say({ type: "windowName", name });
  }

  pageAccess.onChange((isAllowed) => {
    if (isAllowed && isAsked) introduce();
  });
  return { ...client, introduce, connected };
});

/**
 * Tools of a polyfill, an object of the page that cannot be seen from here: a small script in the
 * page's own world (worker/page_tools/polyfill-bridge.js) acts for it. The two exchange events with
 * a random name.
 */
tabhub.define("bridgedSource", () => {
  const { mcpClient, toolLimits } = tabhub;
  const name = `tabhub-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  const { dispatchEvent } = EventTarget.prototype;

  /** @param {unknown} message */
  function post(message) {
    const detail = JSON.stringify(message);
    dispatchEvent.call(document, new CustomEvent(`${name}-in`, { detail }));
  }

  const client = mcpClient.make("polyfill", post);

  /** @param {Event} event */
  function receive(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (typeof detail !== "string" || detail.length > toolLimits.MAX_TEXT + 10_000) return;
    try {
      client.receive(JSON.parse(detail));
    } catch {
      // The page itself has used our channel, which it may.
    }
  }

  /** @type {TabhubToolSource["call"]} */
  async function call(toolName, args, how) {
    const { size, text } = await client.call(toolName, args, how);
    const message = `The page's result has ${size} characters.`;
    return size === undefined ? toolLimits.fromText(text) : tabhub.fail("too_large", message);
  }

  EventTarget.prototype.addEventListener.call(document, `${name}-out`, receive, true);
  return { ...client, name, call };
});
