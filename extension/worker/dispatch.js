/** Server messages to commands, and their outcomes back. */

import { runCommand } from "./commands.js";
import { CommandError, toWire } from "./errors.js";

/** @typedef {import("./link.js").Link} Link */

export class Dispatcher {
  /** @type {Map<string, AbortController>} */
  #running = new Map();
  #ready;
  #beforeAnswer;

  /**
   * @param {Promise<unknown>} ready
   * @param {() => Promise<void>} beforeAnswer
   */
  constructor(ready, beforeAnswer) {
    this.#ready = ready;
    this.#beforeAnswer = beforeAnswer;
  }

  /**
   * @param {Link} link
   * @param {import("./rpc.js").Request | import("./rpc.js").Notification} message
   */
  receive(link, message) {
    if (message.kind === "request") void this.#answer(link, message);
    else if (message.method === "tool.cancel") this.#cancel(message.params.dispatchId);
    else if (message.method === "extension.reload") chrome.runtime.reload();
  }

  /** @param {unknown} dispatchId */
  #cancel(dispatchId) {
    const reason = new CommandError("cancelled", "The call was cancelled.");
    this.#running.get(String(dispatchId))?.abort(reason);
  }

  /**
   * @param {Link} link
   * @param {import("./rpc.js").Request} request
   */
  async #answer(link, request) {
    try {
      const output = await this.#run(link, request);
      await this.#beforeAnswer();
      if (!link.answer(request.id, { output })) throw tooLarge();
    } catch (error) {
      link.refuse(request.id, toWire(error));
    }
  }

  /**
   * @param {Link} link
   * @param {import("./rpc.js").Request} request
   */
  async #run(link, { method, params }) {
    if (method !== "tool.dispatch" || params.plugin !== "browser") throw unknown(method);
    const { tool, tabId, input, dispatchId } = params;
    const controller = new AbortController();
    const key = String(dispatchId);
    this.#running.set(key, controller);
    try {
      await this.#ready;
      const { signal } = controller;
      const progress = progressTeller(link, dispatchId);
      const work = runCommand(tool, { tabId, input: input ?? {}, signal, progress });
      return await Promise.race([work, aborted(signal)]);
    } finally {
      this.#running.delete(key);
    }
  }
}

/** @param {AbortSignal} signal */
function aborted(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

/**
 * @param {Link} link
 * @param {unknown} dispatchId
 */
function progressTeller(link, dispatchId) {
  return (
    /** @type {number} */ progress,
    /** @type {number} */ total,
    /** @type {string} */ message,
  ) => link.notify("tool.progress", { dispatchId, progress, total, message });
}

/** @param {string} method */
function unknown(method) {
  return new CommandError("unknown_command", `${method} is not understood here.`);
}

function tooLarge() {
  return new CommandError("too_large", "The result is larger than 10 MB.");
}
