/** The running calls. Each is sent to one port, and only that port can answer it. */

import { Refusal } from "./connection.js";

/** @typedef {{success: boolean, payload: unknown}} Outcome */
/** @typedef {PromiseWithResolvers<Outcome> & {port: MessagePort, callId: string}} Call */

export class Calls {
  /** @type {Map<number, Call>} */
  #running = new Map();
  #nextId = 1;

  /**
   * @param {MessagePort} port
   * @param {string} targetTabId
   * @param {{toolName: string, args: unknown, callId: string}} request
   */
  send(port, targetTabId, { toolName, args, callId }) {
    const id = this.#nextId++;
    const call = { ...Promise.withResolvers(), port, callId };
    this.#running.set(id, call);
    port.postMessage({ type: "CALL_TOOL", toolName, args, callId: id, targetTabId });
    return call.promise.finally(() => this.#running.delete(id));
  }

  /**
   * The running call of this id, if it was sent to this port.
   * @param {MessagePort} port
   * @param {number} id
   * @returns {Call | undefined}
   */
  of(port, id) {
    const call = this.#running.get(id);
    return call?.port === port ? call : undefined;
  }

  /**
   * Cancels the calls that match, and rejects them with this reason.
   * @param {TabhubReason} reason
   * @param {(call: Call) => boolean} matches
   */
  end(reason, matches) {
    for (const [id, call] of this.#running) {
      if (!matches(call)) continue;
      call.port.postMessage({ type: "CANCEL_CALL", callId: id });
      call.reject(new Refusal(reason));
    }
  }
}
