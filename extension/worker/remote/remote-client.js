/**
 * A client at the other end of the proxy, for as long as its connection lasts: the tab that it has
 * selected, the debuggers that it holds, its calls, and its link if it is a tabhub server.
 */

import { FrameReach } from "../link/command-dispatch.js";
import { CommandError } from "../shared/command-errors.js";
import { unlessAborted } from "../shared/timing.js";
import { letGo } from "./cdp-commands.js";
import { requireLevel, runFenced } from "./fence.js";
import { callMethod } from "./forwarded-methods.js";

const LINK = "tabhub.link";
const MAX_BYTES = 10_000_000;

/** @typedef {import("./fence.js").Level} Level */
/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * @typedef {object} Host what all clients share
 * @property {(name: string) => Level | null} levelOf
 * @property {(name: string, context: Context) => Promise<any>} run
 * @property {() => Promise<void>} reportTabChanges
 * @property {Pick<import("../link/tab-uses.js").TabUses, "sharing" | "left">} uses
 * @property {Map<number, string>} owners the client that opened a tab, by its name
 * @property {(client: RemoteClient, params: any) => Promise<object>} takeLink
 */

export class RemoteClient {
  /** @type {number | null} */
  selected = null;
  /** @type {Set<number>} the tabs on which it keeps the debugger */
  held = new Set();
  /** @type {Set<number>} the tabs for which it has sent commands */
  tabs = new Set();
  /** @type {Set<AbortController>} */
  #running = new Set();
  #host;

  /**
   * @param {string} id of its connection
   * @param {string} name
   * @param {Host} host
   */
  constructor(id, name, host) {
    this.id = id;
    this.name = name;
    this.#host = host;
  }

  get level() {
    return this.#host.levelOf(this.name);
  }

  /** As whom it keeps the debugger. */
  get holder() {
    return `remote ${this.id}`;
  }

  /** @param {number} tabId */
  ownerOf(tabId) {
    return this.#host.owners.get(tabId);
  }

  /** @param {number} tabId a tab that it has opened */
  opened(tabId) {
    this.selected = tabId;
    this.#host.owners.set(tabId, this.name);
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<object>}
   */
  async call(method, params) {
    if (method === LINK) {
      requireLevel(this, "look", "its link");
      return this.#host.takeLink(this, params);
    }
    const controller = new AbortController();
    this.#running.add(controller);
    try {
      return await unlessAborted(controller.signal, (signal) =>
        callMethod(method, { client: this, params, signal, run: this.#runner(signal) }),
      );
    } finally {
      this.#running.delete(controller);
    }
  }

  /**
   * @param {AbortSignal} signal
   * @returns {import("./forwarded-methods.js").Call["run"]}
   */
  #runner(signal) {
    return async (name, input, tabId) => {
      const { run, uses, reportTabChanges } = this.#host;
      const context = {
        tabId: /** @type {number} */ (tabId),
        input,
        signal,
        reportTabChanges,
        reach: new FrameReach(null),
        readable: async () => [],
        progress: () => {},
        readFile: noServer,
        ask: noServer,
        maxBytes: MAX_BYTES,
      };
      return runFenced(this, name, context, uses.sharing(this, run));
    };
  }

  /** It has gone, or may do less than before. */
  end() {
    const reason = new CommandError("cancelled", "The connection of this client was ended.");
    for (const controller of this.#running) controller.abort(reason);
    letGo([...this.held], this.holder);
    this.held.clear();
    this.#host.uses.left(this);
  }
}

/** @returns {Promise<never>} */
async function noServer() {
  throw new CommandError("not_connected", "This client has no server that could be asked.");
}
