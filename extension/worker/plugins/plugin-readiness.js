/** Whether a plugin can be used in a tab, and if not, why. */

/**
 * @typedef {Wire.PluginTab["reason"]} Reason
 * @typedef {{ready: boolean, reason?: Reason, message?: string}} Readiness
 * @typedef {import("./page-runtime.js").Answer} Answer
 */

export const LOADING = notInjected("The page is loading.");
export const UNLOADED = notInjected("The browser has unloaded the page to save memory.");
const LONGEST_MESSAGE = 300;
const NO_START =
  "The script that it runs when a page starts has not run in this one: reload the tab.";

/** @type {Partial<Record<Answer["state"], Readiness>>} */
const OF_STATE = {
  not_injected: notInjected("The adapter has not registered itself, or the page has removed it."),
  not_frozen: notInjected("The adapter is not frozen, so the page may have replaced it."),
  not_ready: {
    ready: false,
    reason: "not_ready",
    message: "The plugin says that it is not ready.",
  },
  timed_out: { ready: false, reason: "timed_out", message: "The plugin's isReady takes too long." },
};

/**
 * @param {string} message
 * @returns {Readiness}
 */
export function notInjected(message) {
  return { ready: false, reason: "not_injected", message };
}

/**
 * @param {Answer | undefined} answer
 * @param {boolean} lacksStart whether the plugin's pre-script has not run in the document
 * @returns {Readiness}
 */
export function readinessOf(answer, lacksStart) {
  if (!answer) return notInjected("The page has broken the script that asks the plugin.");
  const found = OF_STATE[answer.state] ?? threwOrReady(answer);
  const isUnready = found.reason === "not_ready" || found.reason === "threw";
  return lacksStart && isUnready
    ? { ready: false, reason: "needs_reload", message: NO_START }
    : found;
}

/**
 * @param {Answer} answer
 * @returns {Readiness}
 */
function threwOrReady({ state, message }) {
  if (state !== "threw") return { ready: true };
  const said = typeof message === "string" ? message : "no message";
  return { ready: false, reason: "threw", message: line(`The plugin's isReady failed: ${said}`) };
}

/**
 * The page may have chosen the words, so they get no more room than ours.
 * @param {string} text
 */
function line(text) {
  const visible = text.replace(/[\s\p{C}]+/gu, " ");
  return [...visible].slice(0, LONGEST_MESSAGE).join("");
}

/** Reports readiness to the server: every change, and everything on a new connection. */
export class ReadinessReports {
  /** @type {Map<string, string>} what was reported last, as JSON, by tab and plugin */
  #reported = new Map();
  #send;

  /** @param {(plugin: string, tabs: Wire.PluginTab[]) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** The server knows nothing yet. */
  restart() {
    this.#reported.clear();
  }

  /**
   * @param {number} tabId
   * @param {string} plugin
   * @param {Readiness} readiness
   */
  report(tabId, plugin, readiness) {
    const key = `${tabId} ${plugin}`;
    const text = JSON.stringify(readiness);
    if (this.#reported.get(key) === text) return;
    this.#reported.set(key, text);
    this.#send(plugin, [{ tabId, plugin, ...readiness }]);
  }

  /** @param {number} tabId */
  forget(tabId) {
    for (const key of this.#reported.keys()) {
      if (key.startsWith(`${tabId} `)) this.#reported.delete(key);
    }
  }
}
