/**
 * Carries messages between the windows of child frames, whose servers speak MCP with their parent
 * only (MCP-B, `mcp-iframe`), and those frames' own content scripts, through the worker. A child
 * may be hostile: only answers to requests are carried, and a few kinds of notifications, at a
 * limited rate. Even reading its messages takes this page's time, so that is limited too.
 */
tabhub.define("windowMessages", () => {
  const { rateLimit, toolLimits, sizeLimit } = tabhub;
  const CHANNEL = "mcp-iframe";
  const PREFIX = "tabhub-window-";
  const LONGEST_NAME = 100;
  const MOST_CHILDREN = 200;
  const MOST_WAITING = 500;
  const GATHER_MS = 200;
  const READY = "mcp-server-ready";
  const WORDS = new Set([READY, "mcp-server-stopped"]);
  const NOTES = new Set(["notifications/tools/list_changed", "notifications/progress", "ping"]);
  const LONGEST_NOTE = 5000;
  /** A window without an origin to address publishes nothing. */
  const OPAQUE = "null";
  const UNFIT = "The answer of the page's server is too large, or no JSON.";

  class Child {
    /** The name that its document has announced; empty until it is known. */
    name = "";
    /** @type {Set<string>} ids of requests that it has not answered */
    waiting = new Set();
    words = rateLimit.make(10, 5);
    /** Milliseconds. */
    time = rateLimit.make(500, 50);
  }

  /** @type {WeakMap<object, Child>} by its window */
  const children = new WeakMap();
  /** @type {Map<string, Window>} by its name */
  const windows = new Map();
  const asking = rateLimit.make(5, 0.2);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {(message: object) => void} */
  let say = () => {};

  /** @param {Window} from */
  function childOf(from) {
    const child = children.get(from) ?? new Child();
    children.set(from, child);
    return child;
  }

  /** @param {MessageEvent} event */
  function receive(event) {
    const from = /** @type {Window | null} */ (event.source);
    if (!event.isTrusted || !from || from === window || from.parent !== window) return;
    const child = childOf(from);
    if (child.time.wait()) return;
    const start = performance.now();
    const { data } = event;
    if (typeof data === "string") named(data, from, event.origin);
    else if (isServers(data)) carry(data.payload, child, event.origin);
    child.time.spend(performance.now() - start);
  }

  /** @param {any} data */
  function isServers(data) {
    const isOurs = data?.channel === CHANNEL && data.type === "mcp";
    return isOurs && data.direction === "server-to-client";
  }

  /**
   * The first window that announces a name has it; a later one comes too late.
   * @param {string} word
   * @param {Window} from
   * @param {string} origin
   */
  function named(word, from, origin) {
    const child = childOf(from);
    if (!word.startsWith(PREFIX) || word.length > LONGEST_NAME || windows.has(word)) return;
    windows.delete(child.name);
    if (windows.size >= MOST_CHILDREN) forgetClosed();
    if (windows.size >= MOST_CHILDREN) return;
    windows.set(word, from);
    child.name = word;
    // Earlier messages of its server could not be carried.
    forward({ name: word, origin, payload: "mcp-check-ready" });
  }

  function forgetClosed() {
    for (const [name, known] of windows) if (known.closed) windows.delete(name);
  }

  /**
   * @param {unknown} payload
   * @param {Child} child
   * @param {string} origin
   */
  function carry(payload, child, origin) {
    const fit = child.name ? wanted(payload, child) : undefined;
    if (fit !== undefined) say({ type: "fromChild", name: child.name, origin, payload: fit });
    else if (!child.name && payload === READY) askSoon();
  }

  /**
   * @param {unknown} payload
   * @param {Child} child
   * @returns {unknown} what of it is to be carried
   */
  function wanted(payload, child) {
    if (WORDS.has(/** @type {any} */ (payload))) return child.words.take() ? payload : undefined;
    if (!toolLimits.isRecord(payload)) return undefined;
    return payload.method === undefined ? answer(payload, child) : note(payload, child);
  }

  /**
   * @param {Record<string, unknown>} payload
   * @param {Child} child
   */
  function answer(payload, child) {
    const { id } = payload;
    if (typeof id !== "string" || !child.waiting.delete(id)) return undefined;
    const isFit = !sizeLimit.write(payload, toolLimits.MAX_TEXT).fault;
    return isFit ? payload : { jsonrpc: "2.0", id, error: { message: UNFIT } };
  }

  /**
   * @param {Record<string, unknown>} payload
   * @param {Child} child
   */
  function note(payload, child) {
    const isKnown = NOTES.has(/** @type {any} */ (payload.method)) && child.words.take();
    return isKnown && !sizeLimit.write(payload, LONGEST_NOTE).fault ? payload : undefined;
  }

  function askSoon() {
    timer ??= setTimeout(askNames, Math.max(GATHER_MS, asking.wait()));
  }

  function askNames() {
    timer = undefined;
    asking.spend(1);
    say({ type: "childServer" });
  }

  /** @param {Child} child */
  function expect(child, /** @type {string} */ id) {
    const [oldest = ""] = child.waiting;
    if (child.waiting.size >= MOST_WAITING) child.waiting.delete(oldest);
    child.waiting.add(id);
  }

  /** @type {TabhubWindowMessages["forward"]} */
  function forward({ name, origin, payload }) {
    const to = windows.get(name);
    if (!to) return;
    const { id, method } = /** @type {any} */ (payload);
    if (typeof id === "string" && method !== undefined) expect(childOf(to), id);
    const message = { channel: CHANNEL, type: "mcp", direction: "client-to-server", payload };
    if (origin !== OPAQUE) to.postMessage(message, origin);
  }

  /** @type {TabhubWindowMessages["forget"]} */
  function forget({ name }) {
    const from = windows.get(name);
    if (from) childOf(from).name = "";
    windows.delete(name);
    askSoon();
  }

  window.addEventListener("message", receive, true);
  return { PREFIX, forward, forget, connected: (speak) => void (say = speak) };
});
