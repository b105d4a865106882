/**
 * What runs in the page's own world beside a plugin's adapter. Each function is sent to the page as
 * text, so it uses nothing outside itself. The page can change everything that it uses: what comes
 * back is trusted no more than the page.
 *
 * OpenTabs defines what an adapter finds in `__openTabs` and what is called: `isReady`, `handle` and
 * `teardown`.
 */

/**
 * @typedef {object} Setup
 * @property {string} plugin
 * @property {Record<string, unknown>} config the plugin's settings, as they are for this tab
 * @property {string} channel how the names of our events begin
 * @property {string} logNonce
 * @property {string} readinessNonce
 */

/**
 * @typedef {object} Order
 * @property {string} plugin
 * @property {Record<string, unknown>} config
 * @property {number} readyMs how long `isReady` may take
 * @property {PageCall} [call] without one, only `isReady` is called
 */

/**
 * @typedef {object} PageCall
 * @property {string} id
 * @property {string} tool
 * @property {unknown} input
 * @property {string} channel the name of the events that report progress and cancel calls
 * @property {number} maxText
 */

/**
 * @typedef {object} Answer
 * @property {"not_injected" | "not_frozen" | "threw" | "timed_out" | "not_ready" | "ready" |
 *   "no_tool" | "done" | "failed" | "unwritable" | "oversized"} state from `no_tool` on the plugin
 *   was ready
 * @property {string} [text] the result as JSON
 * @property {string} [message]
 * @property {string} [code]
 * @property {string} [category]
 * @property {boolean} [retryable]
 * @property {number} [retryAfterMs]
 */

/**
 * Makes the place of an adapter, and installs once in the document what runs its tools: sent with
 * each call, that would be compiled again each time. The content script calls it by events.
 *
 * An adapter that ran before has locked its containers, so they are copied; what other adapters and
 * pre-scripts keep in them stays.
 * @param {Setup} setup
 * @returns {boolean} whether the page lets us
 */
export function prepare({ plugin, config, channel, logNonce, readinessNonce }) {
  const LONGEST = 2000;
  const page = /** @type {any} */ (globalThis);

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

  /**
   * @param {any} from
   * @param {string} name
   */
  function wordOf(from, name) {
    const value = attempt(() => from[name]);
    return typeof value === "string" ? value.slice(0, LONGEST) : undefined;
  }

  /** @param {unknown} error */
  function messageOf(error) {
    const text = wordOf(error, "message") ?? attempt(() => String(error));
    return (text || "no message").slice(0, LONGEST);
  }

  /** @param {any} error */
  function failure(error) {
    const after = attempt(() => error.retryAfterMs);
    const isTime = typeof after === "number" && Number.isFinite(after) && after >= 0;
    return {
      message: messageOf(error),
      code: wordOf(error, "code"),
      category: wordOf(error, "category"),
      retryable: attempt(() => error.retryable) === true,
      ...(isTime ? { retryAfterMs: after } : {}),
    };
  }

  /**
   * @param {any} adapter
   * @param {number} readyMs
   * @returns {Promise<Answer>}
   */
  async function readiness(adapter, readyMs) {
    const late = {};
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const limit = new Promise((resolve) => (timer = setTimeout(resolve, readyMs, late)));
    try {
      const ready = await Promise.race([adapter.isReady(), limit]);
      if (ready === late) return { state: "timed_out" };
      return { state: ready === true ? "ready" : "not_ready" };
    } catch (error) {
      return { state: "threw", message: messageOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {PageCall} call */
  function progressOf({ channel, id }) {
    return (/** @type {any} */ report) => {
      const { progress, total, message } = report ?? {};
      const detail = JSON.stringify({ id, progress, total, message });
      document.dispatchEvent(new CustomEvent(channel, { detail }));
    };
  }

  /**
   * @param {any} tool
   * @param {PageCall} call
   * @returns {Promise<Answer>}
   */
  async function handle(tool, call) {
    const controller = new AbortController();
    const cancel = () => controller.abort();
    const cancelling = `${call.channel}-${call.id}`;
    document.addEventListener(cancelling, cancel, { once: true });
    const context = { reportProgress: progressOf(call), signal: controller.signal };
    try {
      return written(await tool.handle(call.input, context), call.maxText);
    } catch (error) {
      return { state: "failed", ...failure(error) };
    } finally {
      document.removeEventListener(cancelling, cancel);
    }
  }

  /**
   * @param {unknown} value
   * @param {number} maxText
   * @returns {Answer}
   */
  function written(value, maxText) {
    try {
      const text = JSON.stringify(value) ?? "null";
      return text.length > maxText ? { state: "oversized" } : { state: "done", text };
    } catch (error) {
      return { state: "unwritable", message: messageOf(error) };
    }
  }

  /**
   * @param {Order} order
   * @returns {Promise<Answer>}
   */
  async function run({ plugin, config, readyMs, call }) {
    const adapter = attempt(() => page.__openTabs.adapters[plugin]);
    if (typeof adapter !== "object" || adapter === null) return { state: "not_injected" };
    if (!Object.isFrozen(adapter)) return { state: "not_frozen" };
    // Both are one for the whole page, so they are set before each use.
    attempt(() => Object.assign(page.__openTabs, { _pluginName: plugin, pluginConfig: config }));
    const found = await readiness(adapter, readyMs);
    if (found.state !== "ready" || !call) return found;
    const tool = attempt(() =>
      adapter.tools.find((/** @type {any} */ { name }) => name === call.tool),
    );
    return tool ? handle(tool, call) : { state: "no_tool" };
  }

  /** @param {Event} event */
  async function receive(event) {
    // This is how the content script knows that somebody answers.
    event.preventDefault();
    const { number, ...order } = JSON.parse(/** @type {CustomEvent} */ (event).detail);
    const { text = "", ...answer } = await run(order);
    // The result is JSON already, and would be half as long again if it were escaped once more.
    const detail = `${JSON.stringify({ number, answer })}\n${text}`;
    document.dispatchEvent(new CustomEvent(`${channel}-ran`, { detail }));
  }

  try {
    if (!Object.hasOwn(page, channel)) {
      Object.defineProperty(page, channel, { value: true });
      document.addEventListener(`${channel}-run`, receive);
    }
    const known = page.__openTabs ?? {};
    const ours = { _logNonce: logNonce, _readinessNonce: readinessNonce };
    const current = { _pluginName: plugin, pluginConfig: config };
    const fresh = { ...known, adapters: { ...known.adapters }, ...ours, ...current };
    page.__openTabs = fresh;
    return page.__openTabs === fresh && fresh._logNonce === logNonce;
  } catch {
    return false;
  }
}

/**
 * @param {string} plugin
 * @returns {boolean} whether nothing of the adapter is left to be called
 */
export function tearDown(plugin) {
  const page = /** @type {any} */ (globalThis);
  try {
    const known = page.__openTabs;
    const adapter = known?.adapters?.[plugin];
    if (!adapter) return true;
    const { [plugin]: _, ...adapters } = known.adapters;
    page.__openTabs = { ...known, adapters };
    adapter.teardown?.();
    return !page.__openTabs.adapters[plugin];
  } catch {
    return false;
  }
}

/** @param {string} name of the event by which a call is cancelled */
export function cancel(name) {
  document.dispatchEvent(new Event(name));
}
