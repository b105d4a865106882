/** Calls on their way: each goes to one port, and only that port can answer it. */

import { Refusal } from "./connection.js";

/** @typedef {{success: boolean, payload: unknown}} Outcome */
/** @typedef {PromiseWithResolvers<Outcome> & {port: MessagePort, callId: string}} Call */

export class Calls {
  /** @type {Map<number, Call>} */
  #all = new Map();
  #next = 1;

  /**
   * @param {MessagePort} port
   * @param {string} targetTabId
   * @param {{toolName: string, args: unknown, callId: string}} asked
   */
  send(port, targetTabId, { toolName, args, callId }) {
    const ours = this.#next++;
    const call = { ...Promise.withResolvers(), port, callId };
    this.#all.set(ours, call);
    port.postMessage({ type: "CALL_TOOL", toolName, args, callId: ours, targetTabId });
    return call.promise.finally(() => this.#all.delete(ours));
  }

  /**
   * @param {MessagePort} port
   * @param {number} ours
   * @returns {Call | undefined}
   */
  of(port, ours) {
    const call = this.#all.get(ours);
    return call?.port === port ? call : undefined;
  }

  /**
   * @param {string} reason
   * @param {(call: Call) => boolean} fits
   */
  end(reason, fits) {
    for (const [ours, call] of this.#all) {
      if (!fits(call)) continue;
      call.port.postMessage({ type: "CANCEL_CALL", callId: ours });
      call.reject(new Refusal(reason));
    }
  }
}
