/** Runs the tools of plugins in documents, and follows them until they have answered. */

import { keepingAwake } from "../debugger/awake-tabs.js";
import { CommandError } from "../shared/command-errors.js";
import { RateLimit, onAbort, within } from "../shared/timing.js";
import { unlessLeft } from "./page-departure.js";
import { cancel } from "./page-runtime.js";
import { afterwards, injectionFailed, notReady } from "./plugin-answers.js";
import { NotInjected, inPage, runInPage } from "./plugin-documents.js";

export const READY_MS = 5000;
const INJECT_MS = 15_000;
const MAX_TEXT = 9_000_000;
const MOST_PROGRESS = 20;
const LONGEST_MESSAGE = 2000;

/** @typedef {import("./plugin-sources.js").Plugin} Plugin */
/** @typedef {Pick<import("../shared/command-context.d.ts").Context, "signal" | "progress">} How */
/** @typedef {{tabId: number, progress: How["progress"], rate: RateLimit}} Running */

export class PluginCalls {
  /** @type {Map<string, Running>} by the call's id */
  #running = new Map();
  #documents;

  /** @param {import("./plugin-documents.js").PluginDocuments} documents */
  constructor(documents) {
    this.#documents = documents;
  }

  /**
   * @param {Plugin} plugin
   * @param {number} tabId
   * @param {string} address
   * @param {Wire.Dispatch} params
   * @param {How} how
   * @returns {Promise<import("./page-runtime.js").Answer | undefined>}
   */
  async run(plugin, tabId, address, { tool, input, dispatchId: id }, { signal, progress }) {
    const config = configOf(plugin, address);
    const adapter = within(INJECT_MS, this.#documents.withAdapter(tabId, plugin, config, true));
    const document = await adapter.catch(injectionFailed);
    signal.throwIfAborted();
    const { channel } = document;
    const call = { id, tool, input: input ?? {}, channel, maxText: MAX_TEXT };
    const order = { plugin: plugin.name, config, readyMs: READY_MS, call };
    const stop = onAbort(signal, () => {
      inPage(tabId, document, cancel, `${channel}-${id}`).catch(() => {});
    });
    this.#running.set(id, { tabId, progress, rate: new RateLimit(MOST_PROGRESS) });
    try {
      const run = () => unlessLeft(tabId, runInPage(tabId, document, order));
      return await keepingAwake(tabId, run);
    } catch (error) {
      if (error instanceof NotInjected) throw notReady("not_injected", error.message);
      throw isGone(error) ? afterwards() : error;
    } finally {
      this.#running.delete(id);
      stop();
    }
  }

  /**
   * @param {number} tabId
   * @param {any} report
   */
  progressed(tabId, { id, progress, total, message }) {
    const call = this.#running.get(id);
    if (call?.tabId !== tabId || call.rate.note(Date.now())) return;
    const text = String(message ?? "").slice(0, LONGEST_MESSAGE);
    call.progress(Number(progress) || 0, Number(total) || 0, text);
  }
}

/**
 * The plugin's settings for one tab: of several addresses, the one that the tab is at.
 * @param {Plugin} plugin
 * @param {string} address
 */
export function configOf({ settings, urls }, address) {
  const host = hostOf(address);
  const here = Object.entries(urls).map(([key, named]) => {
    return [key, Object.values(named).find((url) => hostOf(url) === host) ?? ""];
  });
  return { ...settings, ...Object.fromEntries(here) };
}

/** @param {string} address */
function hostOf(address) {
  return URL.canParse(address) ? new URL(address).host : "";
}

/** @param {unknown} error */
function isGone(error) {
  return error instanceof CommandError && error.reason === "navigated_away";
}
