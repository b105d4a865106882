/**
 * Tools of a server in a frame that speaks MCP with the window around it (MCP-B, `mcp-iframe`): it
 * hears only its parent, and answers only there. So the parent's content script carries messages,
 * and this frame's is the client: what a document publishes is always told by its own script.
 *
 * Which window is whose is said by the browser: a child sends its parent a random name, once. The
 * first window that said a name has it; who hears of it later comes too late.
 */
tabhub.define("framedtools", () => {
  const { mcpclient, toolbounds } = tabhub;
  const CHANNEL = "mcp-iframe";
  const PREFIX = "tabhub-window-";
  const LONGEST_NAME = 100;
  const MOST_CHILDREN = 200;
  const GATHER_MS = 200;
  const name = PREFIX + crypto.getRandomValues(new Uint32Array(4)).join("-");
  /** @type {Map<string, Window>} */
  const children = new Map();
  /** @type {WeakMap<object, string>} */
  const names = new WeakMap();
  let isIntroduced = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {(message: object) => void} */
  let say = () => {};

  const client = mcpclient.make("mcp-b", (payload) => say({ type: "toParent", payload }));

  /** @param {MessageEvent} event */
  function hear(event) {
    const from = /** @type {Window | null} */ (event.source);
    if (!event.isTrusted || !from || from === window || from.parent !== window) return;
    const { data } = event;
    if (typeof data === "string") named(data, from);
    else if (data?.channel === CHANNEL && data.type === "mcp") carried(data, from, event.origin);
  }

  /**
   * @param {string} word
   * @param {Window} from
   */
  function named(word, from) {
    if (!word.startsWith(PREFIX) || word.length > LONGEST_NAME || children.has(word)) return;
    if (children.size >= MOST_CHILDREN) return;
    children.set(word, from);
    names.set(from, word);
  }

  /**
   * @param {any} data
   * @param {Window} from
   * @param {string} origin
   */
  function carried({ direction, payload }, from, origin) {
    if (direction !== "server-to-client") return;
    const known = names.get(from);
    if (!known) {
      if (payload === "mcp-server-ready") timer ??= setTimeout(askNames, GATHER_MS);
      return;
    }
    const text = JSON.stringify(payload);
    if (text.length > toolbounds.MAX_TEXT) return;
    say({ type: "fromChild", name: known, origin, payload });
  }

  function askNames() {
    timer = undefined;
    say({ type: "childServer" });
  }

  function introduce() {
    if (window.parent === window) return;
    if (!isIntroduced) window.parent.postMessage(name, "*");
    isIntroduced = true;
    say({ type: "windowName", name });
    say({ type: "toParent", payload: "mcp-check-ready" });
  }

  /** @type {TabhubFramedTools["forward"]} */
  function forward({ name: child, origin, payload }) {
    const message = { channel: CHANNEL, type: "mcp", direction: "client-to-server", payload };
    children.get(child)?.postMessage(message, origin);
  }

  function connected(/** @type {(message: object) => void} */ speak) {
    say = speak;
    if (isIntroduced) say({ type: "windowName", name });
  }

  window.addEventListener("message", hear, true);
  return { ...client, introduce, forward, connected };
});
