/**
 * All tools that the page publishes, from every source, in one list; and calls of them. The sources
 * are asked in order of trust: of two tools with the same name, the one of the first source counts.
 * In a page that publishes none, nothing runs, not even a timer.
 */
tabhub.define("toolList", () => {
  const { bridgedSource, framedSource, mcpSource, nativeTools } = tabhub;
  const { pageAccess, rateLimit, toolLimits, toolRate } = tabhub;
  const POLL_MS = 60_000;
  const RETRY_MS = 5000;
  const SOON_MS = 50;
  const LIMIT_MS = 300_000;
  const LATE_MS = 5000;
  const WORKER_ID = /^[\w.:-]{1,100}$/;
  /** @type {TabhubToolSource[]} */
  const sources = [nativeTools, mcpSource, framedSource, bridgedSource];
  const rate = toolRate.make(() => performance.now());
  /** Each time, the worker runs a script in the page. */
  const probes = rateLimit.make(3, 0.1);
  /** @type {Map<string, TabhubToolSource>} */
  let owners = new Map();
  /** @type {Map<TabhubToolSource, any[]>} what each source has listed last */
  const lists = new Map();
  /** How many times in a row a source could not be asked. */
  let failures = 0;
  /** @type {Map<string, AbortController>} */
  const running = new Map();
  let isDue = false;
  /** A source has announced something, be it while the page might not publish. */
  let isAnnounced = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pollTimer;
  /** @type {Promise<void> | null} */
  let looking = null;
  /** @type {object | null} what was reported to the worker */
  let reported = null;
  let print = "";
  /** @type {string | undefined} */
  let workerId;
  /** @type {(message: object) => void} */
  let say = () => {};

  function changed() {
    isAnnounced = true;
    if (isDue || !pageAccess.isAllowed()) return;
    isDue = true;
    if (document.readyState !== "loading") return lookIn(rate.wait());
    // Tools that a page registers while it loads are reported together, when it has loaded.
    const listen = EventTarget.prototype.addEventListener;
    listen.call(document, "DOMContentLoaded", () => lookIn(0), { once: true });
  }

  /** @param {number} ms */
  function lookIn(ms) {
    const go = () => {
      isDue = false;
      void look();
    };
    if (ms > SOON_MS || !document.hidden) return void setTimeout(go, ms);
    // Timers of hidden pages fire up to a second late.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      go();
    };
    port2.postMessage(null);
  }

  async function look() {
    if (!pageAccess.isAllowed()) return;
    looking ??= gather().finally(() => (looking = null));
    await looking;
  }

  async function gather() {
    /** @type {Map<string, TabhubToolSource>} */
    const from = new Map();
    const items = [];
    for (const source of await listed()) {
      for (const item of lists.get(source) ?? []) {
        if (from.has(item?.name)) continue;
        from.set(item?.name, source);
        items.push(item);
      }
    }
    publish(from, items);
    pollLater();
  }

  /** The tools of all sources; if one does not answer, its last list still counts. */
  async function listed() {
    const there = sources.filter((each) => each.isThere());
    for (const gone of sources.filter((each) => !there.includes(each))) lists.delete(gone);
    let isMissing = false;
    for (const source of there) {
      const list = await source.list().catch(() => null);
      if (list) lists.set(source, list);
      else isMissing = true;
    }
    failures = isMissing ? failures + 1 : 0;
    return there;
  }

  /**
   * @param {Map<string, TabhubToolSource>} from
   * @param {any[]} items
   */
  function publish(from, items) {
    if (!pageAccess.isAllowed()) return;
    const { texts, leftOut } = toolLimits.list(items);
    owners = new Map([...texts.keys()].map((name) => [name, /** @type {any} */ (from.get(name))]));
    const kind = owners.values().next().value?.kind ?? "native";
    const extensions = toolLimits.extensions(owners.values().next().value?.extensions());
    const about = { kind, capabilities: capabilities(), extensions, leftOut, workerId };
    const tools = `[${[...texts.values()].join(",")}]`;
    const now = JSON.stringify(about) + tools;
    const isNothing = !texts.size && !workerId;
    if (now === print || (isNothing && !reported)) return rate.inVain();
    print = now;
    reported = { type: "tools", ...about, url: location.href, tools: JSON.parse(tools) };
    rate.reported(now.length);
    say(reported);
  }

  function capabilities() {
    /** @type {Record<string, boolean>} */
    const found = {};
    for (const source of new Set(owners.values())) {
      const given = toolLimits.isRecord(source.capabilities()) ? source.capabilities() : {};
      for (const word of ["multiTabSupport", "cacheSupported", "elicitation"]) {
        if (given[word] === true) found[word] = true;
      }
    }
    return found;
  }

  function pollLater() {
    clearTimeout(pollTimer);
    if (!pageAccess.isAllowed()) return;
    const isPolled = sources.some((source) => source.isThere() && source.polls());
    if (!isPolled && !failures) return;
    const wait = failures ? Math.min(RETRY_MS * 2 ** (failures - 1), POLL_MS) : POLL_MS;
    pollTimer = setTimeout(() => void look(), wait);
  }

  /** @param {string} name */
  async function ownerOf(name) {
    if (!owners.has(name)) await look();
    const owner = owners.get(name);
    return owner ?? tabhub.fail("no_tab_for_tool", "The page has no such tool any more.");
  }

  /** @param {AbortSignal} signal @returns {Promise<never>} */
  function ended(signal) {
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
  }

  /** @param {TabhubReason} reason @param {string} message */
  function ending(reason, message) {
    return Object.assign(new Error(message), { reason });
  }

  /** @type {TabhubToolList["call"]} */
  async function call({ callId, toolName, args, extensions, maxMs = LIMIT_MS }) {
    const owner = await ownerOf(toolName);
    const controller = new AbortController();
    const { signal } = controller;
    const late = () => controller.abort(ending("timeout", "The page's tool does not answer."));
    const limit = setTimeout(late, Math.min(maxMs, LIMIT_MS));
    running.set(callId, controller);
    try {
      const theirs = toolLimits.extensions(extensions);
      const how = { signal, progress: progressOf(callId), extensions: theirs };
      const value = await Promise.race([owner.call(toolName, args, how), ended(signal)]);
      return { success: true, payload: toolLimits.result(value) };
    } catch (error) {
      if (Object.hasOwn(/** @type {object} */ (error ?? {}), "reason")) throw error;
      return { success: false, payload: toolLimits.message(error) };
    } finally {
      clearTimeout(limit);
      running.delete(callId);
    }
  }

  /** @param {string} callId @returns {TabhubProgress} */
  function progressOf(callId) {
    return ({ progress, total, message }) => {
      if (typeof progress !== "number") return;
      const more = {
        ...(typeof total === "number" && { total }),
        ...(typeof message === "string" && { message: message.slice(0, 500) }),
      };
      say({ type: "toolProgress", callId, progress, ...more });
    };
  }

  /** @param {Event} event */
  function workerAnnounced(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    const id = typeof detail === "string" ? detail : detail?.id;
    if (typeof id !== "string" || !WORKER_ID.test(id) || id === workerId) return;
    workerId = id;
    changed();
  }

  /** Only the page's own world knows whether it has a polyfill; asked only where one can be. */
  function probe() {
    if (!pageAccess.isAllowed() || sources.some((source) => source.isThere())) return;
    if (!window.isSecureContext || !document.scripts.length || !probes.take()) return;
    say({ type: "bridge", name: bridgedSource.name });
  }

  function loaded() {
    isLoaded = true;
    if (!pageAccess.isAllowed()) return;
    probe();
    setTimeout(probe, LATE_MS);
  }

  /** @param {Event} event */
  function shown({ isTrusted }) {
    if (isTrusted && !document.hidden) probe();
  }

  const isLate = document.readyState !== "loading";
  let isLoaded = document.readyState === "complete";

  function begin() {
    for (const source of sources) source.onChange(changed);
    const listen = EventTarget.prototype.addEventListener;
    listen.call(window, "tabhub:worker", workerAnnounced, true);
    listen.call(document, "visibilitychange", shown);
    listen.call(window, "load", loaded, { once: true });
    pageAccess.onChange((isAllowed) => (isAllowed ? allowed() : forbidden()));
  }

  function allowed() {
    if (isLate) ask();
    if (isAnnounced || (isLate && nativeTools.isThere())) changed();
    if (isLoaded) loaded();
  }

  /** A worker that announced itself before these scripts ran announces itself again. */
  function ask() {
    const question = new CustomEvent("tabhub:ask", { bubbles: true });
    EventTarget.prototype.dispatchEvent.call(document, question);
  }

  /** The worker and the server have forgotten the tools; once allowed, all are reported again. */
  function forbidden() {
    clearTimeout(pollTimer);
    owners = new Map();
    reported = null;
    print = "";
  }

  begin();
  return {
    connected(speak) {
      say = speak;
      if (reported) say(reported);
    },
    call,
    used: probe,
    stop: ({ callId }) => running.get(callId)?.abort(ending("cancelled", "Cancelled.")),
  };
});
