/** The panel's state, and how messages change it. */

const NO_CONNECTION = "There is no connection to the server.";

/** @type {Model} */
export const START = { server: null, problem: "Connecting…", mismatch: "", lookedAt: null };

/**
 * @param {Model} model
 * @param {string} method
 * @param {any} params
 * @returns {Model}
 */
export function applyMessage(model, method, params) {
  if (method === "state") return { ...model, server: arranged(model.server, params) };
  if (method === "closed") {
    return { ...model, server: null, problem: params.problem || NO_CONNECTION };
  }
  if (method === "mismatch") return { ...model, mismatch: params.text };
  if (method === "confirmation.request") return withWaiting(model, (all) => added(all, params));
  if (method === "confirmation.closed") {
    return withWaiting(model, (all) => all.filter(({ id }) => id !== params.id));
  }
  return model;
}

/**
 * @param {Model} model
 * @param {(confirmations: ApprovalRequest[]) => ApprovalRequest[]} change
 * @returns {Model}
 */
function withWaiting(model, change) {
  const { server } = model;
  if (!server) return model;
  return { ...model, server: { ...server, confirmations: change(server.confirmations) } };
}

/**
 * @param {ApprovalRequest[]} all
 * @param {ApprovalRequest} one
 */
function added(all, one) {
  return all.some(({ id }) => id === one.id) ? all : [...all, one];
}

/**
 * Requests that wait keep their places: nothing may move between a person and a button.
 * @param {ServerState | null} before
 * @param {ServerState} fresh
 * @returns {ServerState}
 */
function arranged(before, fresh) {
  const now = new Map(fresh.confirmations.map((one) => [one.id, one]));
  const kept = (before?.confirmations ?? []).filter(({ id }) => now.has(id));
  kept.forEach(({ id }) => now.delete(id));
  return { ...fresh, confirmations: [...kept, ...now.values()] };
}
