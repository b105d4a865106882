/**
 * Passes on what plugins in the page's own world have to say: log entries, that their readiness has
 * changed, and the progress of calls. The page can read the names and numbers that these carry, so
 * each message may as well be the page's own, and there are limits for all of them.
 */
tabhub.define("plugins", () => {
  const { rateLimit, sizeLimit, toolLimits } = tabhub;
  const LOGS = "opentabs:plugin-logs";
  const READINESS = "opentabs:readiness-changed";
  const LEVELS = new Set(["debug", "info", "warning", "error"]);
  const MOST_ENTRIES = 50;
  const ENTRY_LENGTH = 64 * 1024;
  const MESSAGE_LENGTH = 4096;
  const LONGEST_NAME = 100;
  const LONGEST_REPORT = 10_000;
  const entriesLeft = rateLimit.make(500, 500);
  const pushesLeft = rateLimit.make(5, 5);
  const reportsLeft = rateLimit.make(20, 20);
  /** @type {TabhubPluginNames | null} */
  let names = null;
  /** @type {(message: object) => void} */
  let say = () => {};

  /** @param {MessageEvent} event */
  function receive(event) {
    const { data, source, isTrusted } = event;
    if (!isTrusted || source !== window || !names || !toolLimits.isRecord(data)) return;
    const { type, plugin, nonce, entries } = data;
    if (typeof plugin !== "string" || plugin.length > LONGEST_NAME) return;
    if (type === LOGS && nonce === names.logNonce && Array.isArray(entries)) log(plugin, entries);
    else if (type === READINESS && nonce === names.readinessNonce && pushesLeft.take()) {
      say({ type: "pluginReady", plugin });
    }
  }

  /**
   * @param {string} plugin
   * @param {unknown[]} entries
   */
  function log(plugin, entries) {
    const allowed = entries.slice(0, MOST_ENTRIES).filter(() => entriesLeft.take());
    const readable = allowed.flatMap(readEntry);
    if (readable.length) say({ type: "pluginLogs", plugin, entries: readable });
  }

  /** @param {unknown} entry */
  function readEntry(entry) {
    if (!toolLimits.isRecord(entry) || typeof entry.message !== "string") return [];
    const level = LEVELS.has(String(entry.level)) ? entry.level : "info";
    const message = entry.message.slice(0, MESSAGE_LENGTH);
    const { fault, text } = sizeLimit.write(entry.data ?? [], ENTRY_LENGTH - MESSAGE_LENGTH);
    return [{ level, message, data: fault ? [`left out: ${fault}`] : JSON.parse(text) }];
  }

  /** @param {Event} event of our own function in the page's world */
  function report(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (typeof detail !== "string" || detail.length > LONGEST_REPORT || !reportsLeft.take()) return;
    try {
      const { id, progress, total, message } = JSON.parse(detail);
      if (typeof id === "string") say({ type: "pluginProgress", id, progress, total, message });
    } catch {
      // The page has made the event.
    }
  }

  /** @type {TabhubPlugins["listen"]} */
  function listen(given) {
    if (names?.channel === given.channel) return;
    if (!names) window.addEventListener("message", receive);
    names = given;
    EventTarget.prototype.addEventListener.call(document, names.channel, report);
  }

  // Calls of what the worker has installed in the page's own world.

  /** Beside the result. */
  const LONGEST_HEAD = 100_000;
  const LONGEST_RESULT = 9_000_000;
  /** @type {Map<number, (answer: object | null) => void>} */
  const running = new Map();
  /** @type {Set<string>} */
  const answering = new Set();
  let lastNumber = 0;

  /** @param {Event} event of our own function in the page's world, or of the page */
  function answered(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (typeof detail !== "string") return;
    const end = detail.indexOf("\n");
    if (end < 0 || end > LONGEST_HEAD) return;
    try {
      const { number, answer } = JSON.parse(detail.slice(0, end));
      running.get(number)?.(answerOf(answer, detail.slice(end + 1)));
    } catch {
      // The page has made the event.
    }
  }

  /**
   * @param {unknown} answer
   * @param {string} text of the result
   */
  function answerOf(answer, text) {
    if (text.length > LONGEST_RESULT) return { state: "oversized" };
    return toolLimits.isRecord(answer) ? { ...answer, text } : null;
  }

  /** @type {MessagePort | undefined} */
  let toOurselves;
  /** @type {((_: null) => void)[]} */
  const turns = [];

  let isLeaving = false;

  /**
   * What the plugin has logged arrives before its result. In a page that is about to go away, whose
   * next turn may never come, the result does not wait.
   */
  function turn() {
    if (isLeaving) return null;
    const port = (toOurselves ??= portToOurselves());
    return new Promise((resolve) => {
      turns.push(resolve);
      port.postMessage(null);
    });
  }

  function portToOurselves() {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => turns.shift()?.(null);
    return port2;
  }

  function leave() {
    isLeaving = true;
    turns.splice(0).forEach((go) => go(null));
  }

  /** @type {TabhubPlugins["run"]} */
  async function run({ channel, order }) {
    if (!answering.size) window.addEventListener("beforeunload", leave);
    isLeaving = false;
    if (!answering.has(channel)) {
      EventTarget.prototype.addEventListener.call(document, `${channel}-ran`, answered);
    }
    answering.add(channel);
    const number = ++lastNumber;
    /** @type {PromiseWithResolvers<object | null>} */
    const { promise, resolve } = Promise.withResolvers();
    running.set(number, resolve);
    const detail = JSON.stringify({ ...order, number });
    const event = new CustomEvent(`${channel}-run`, { detail, cancelable: true });
    try {
      const isIgnored = EventTarget.prototype.dispatchEvent.call(document, event);
      if (isIgnored) return { state: "not_injected" };
      const answer = await promise;
      await turn();
      return answer;
    } finally {
      running.delete(number);
    }
  }

  return { listen, run, connected: (post) => void (say = post) };
});
