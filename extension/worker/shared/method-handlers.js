/** Handlers of the server's methods, checked against the table of methods. */

import { RECEIVERS } from "./link-methods.js";

/** @typedef {(params: any) => any} Handler */

/**
 * Fails at once for a method without a handler and for a handler without a method.
 * @param {"dispatcher" | "relay"} receiver
 * @param {Record<string, Handler>} handlers
 * @returns {{request: Map<string, Handler>, notification: Map<string, Handler>}} by kind
 */
export function handlersOf(receiver, handlers) {
  /** @type {Map<string, Handler>} */
  const request = new Map();
  /** @type {Map<string, Handler>} */
  const notification = new Map();
  const found = { request, notification };
  for (const [method, row] of RECEIVERS) {
    const [name, kind] = row.split(" ");
    if (name !== receiver) continue;
    if (!Object.hasOwn(handlers, method)) throw new Error(`${receiver} does not handle ${method}`);
    found[/** @type {"request" | "notification"} */ (kind)].set(method, handlers[method]);
  }
  const unknown = Object.keys(handlers).find(
    (method) => !found.request.has(method) && !found.notification.has(method),
  );
  if (unknown) throw new Error(`${unknown} is no method for the ${receiver}`);
  return found;
}
