/** The panel's state, and how messages change it. */

const NO_CONNECTION = "There is no connection to the server.";

/** @type {Model} */
export const START = {
  server: null,
  problem: "Connecting…",
  mismatch: "",
  lookedAt: null,
  remote: null,
  running: [],
};

/** @type {{[N in keyof WorkerMessages]: (model: Model, params: WorkerMessages[N]) => Model}} */
const CHANGES = {
  state: (model, state) => ({ ...model, server: arranged(model.server, state) }),
  closed: (model, { problem }) => ({
    ...model,
    server: null,
    problem: problem || NO_CONNECTION,
    running: [],
  }),
  mismatch: (model, { text }) => ({ ...model, mismatch: text }),
  remote: (model, remote) => ({ ...model, remote }),
  // It comes again when another panel opens.
  "tool.invocationStart": (model, start) => ({
    ...model,
    running: added(model.running, start),
  }),
  "tool.invocationEnd": (model, end) => ({
    ...model,
    running: model.running.filter(({ id }) => id !== end.id),
  }),
  "confirmation.request": (model, request) => withWaiting(model, (all) => added(all, request)),
  "confirmation.closed": (model, closed) =>
    withWaiting(model, (all) => all.filter(({ id }) => id !== closed.id)),
  // The whole state follows.
  "plugins.changed": (model) => model,
  "confirmation.missed": (model) => model,
};

/**
 * @template {keyof WorkerMessages} N
 * @param {Model} model
 * @param {N} method
 * @param {WorkerMessages[N]} params
 * @returns {Model} the same if the method is that of a newer worker
 */
export function applyMessage(model, method, params) {
  return CHANGES[method]?.(model, params) ?? model;
}

/**
 * @param {Model} model
 * @param {(confirmations: Panel.Confirmation[]) => Panel.Confirmation[]} change
 * @returns {Model}
 */
function withWaiting(model, change) {
  const { server } = model;
  if (!server) return model;
  return { ...model, server: { ...server, confirmations: change(server.confirmations) } };
}

/**
 * @template {{id: string}} T
 * @param {T[]} all
 * @param {T} one
 */
function added(all, one) {
  return all.some(({ id }) => id === one.id) ? all : [...all, one];
}

/**
 * Requests that wait keep their places: nothing may move between a person and a button.
 * @param {Panel.State | null} before
 * @param {Panel.State} fresh
 * @returns {Panel.State}
 */
function arranged(before, fresh) {
  const now = new Map(fresh.confirmations.map((one) => [one.id, one]));
  const kept = (before?.confirmations ?? []).filter(({ id }) => now.has(id));
  kept.forEach(({ id }) => now.delete(id));
  return { ...fresh, confirmations: [...kept, ...now.values()] };
}
