/** Tools of a server in the page that speaks MCP by `postMessage` in its own window (MCP-B). */
tabhub.define("mcptools", () => {
  const CHANNEL = "mcp-default";

  /** @param {unknown} payload */
  function post(payload) {
    const message = { channel: CHANNEL, type: "mcp", direction: "client-to-server", payload };
    window.postMessage(message, "/");
  }

  const client = tabhub.mcpclient.make("mcp-b", post);

  /** @param {MessageEvent} event */
  function hear(event) {
    // First what costs nothing: reading the data of a message copies it.
    if (!event.isTrusted || event.source !== window) return;
    const { data } = event;
    if (data?.channel !== CHANNEL || data.type !== "mcp") return;
    if (data.direction === "server-to-client") client.receive(data.payload);
  }

  window.addEventListener("message", hear, true);
  // Whoever comes first hears the server announce itself; only who is late has to ask.
  if (document.readyState !== "loading") post("mcp-check-ready");
  return client;
});
