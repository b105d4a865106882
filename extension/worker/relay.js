/** Between the server and the person: passes on what it says, and asks it how things stand. */

import { handlersOf } from "./shared/method-handlers.js";

const GATHER_MS = 20;
/** Nobody looks: only the badge has to be right. */
const GATHER_UNSEEN_MS = 2000;

/** @typedef {import("./person/open-panels.js").Panels} Panels */
/** @typedef {import("./person/attention.js").Attention} Attention */

export class Relay {
  #panels;
  #attention;
  #ask;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #handlers;

  /**
   * @param {Panels} panels
   * @param {Attention} attention
   * @param {import("./person/open-panels.js").Ask} ask
   */
  constructor(panels, attention, ask) {
    this.#panels = panels;
    this.#attention = attention;
    this.#ask = ask;
    this.#handlers = handlersOf("relay", {
      "confirmation.request": (request) => attention.asked(request),
      "confirmation.closed": ({ id }) => attention.decided(id),
      "confirmation.missed": (request) => attention.missed(request),
      "state.changed": () => this.#refreshSoon(),
    });
  }

  /**
   * @param {import("./rpc.js").Request | import("./rpc.js").Notification} message
   * @returns {boolean} whether it was for the person
   */
  receive({ kind, method, params }) {
    const handler = this.#handlers[kind].get(method);
    if (!handler) return false;
    handler(params);
    if (method !== "state.changed") this.#panels.tell(method, params);
    return true;
  }

  /** A line has opened: what was known before may not be true any more. */
  async refresh() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      const state = /** @type {any} */ (await this.#ask("config.getState", {}));
      this.#attention.sync(state);
      this.#panels.tell("state", state);
    } catch {
      // The line has closed again, or the server has nothing to tell.
    }
  }

  /** @param {string} [problem] why, if it is known */
  closed(problem) {
    this.#attention.reset();
    this.#panels.tell("closed", { problem });
  }

  #refreshSoon() {
    const pause = this.#panels.count ? GATHER_MS : GATHER_UNSEEN_MS;
    this.#timer ??= setTimeout(() => this.refresh(), pause);
  }
}
