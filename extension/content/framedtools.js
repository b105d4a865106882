/**
 * Tools of a server in this frame that speaks MCP with the window around it (MCP-B, `mcp-iframe`):
 * it hears only its parent, and answers only there. So the parent's content script carries messages
 * (toolcarrier.js), and this one is the client: what a document publishes is always told by its own
 * script.
 *
 * Which window is whose is said by the browser: this document sends its parent a random name.
 */
tabhub.define("framedtools", () => {
  const { mcpclient, quota, toolcarrier } = tabhub;
  const name = toolcarrier.PREFIX + crypto.getRandomValues(new Uint32Array(4)).join("-");
  const introductions = quota.make(5, 0.2);
  let isIntroduced = false;
  /** @type {(message: object) => void} */
  let say = () => {};

  const client = mcpclient.make("mcp-b", (payload) => say({ type: "toParent", payload }));

  function introduce() {
    if (window.parent === window || !introductions.take()) return;
    isIntroduced = true;
    say({ type: "windowName", name });
    window.parent.postMessage(name, "*");
  }

  function connected(/** @type {(message: object) => void} */ speak) {
    say = speak;
    if (isIntroduced) say({ type: "windowName", name });
  }

  return { ...client, introduce, connected };
});
