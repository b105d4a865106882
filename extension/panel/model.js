/** The panel's state, and how messages change it. */

const NO_CONNECTION = "There is no connection to the server.";
const MOST_ENDED = 100;

/** @type {Model} */
export const START = {
  server: null,
  problem: "Connecting…",
  mismatch: "",
  lookedAt: null,
  remote: null,
  permissions: [],
  running: [],
  ended: [],
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
  permissions: (model, { wanted }) => ({ ...model, permissions: wanted }),
  // It comes again when another panel opens, and when the call goes to another tab.
  "tool.invocationStart": (model, start) => ({
    ...model,
    server: model.server && withCurrent(model.server, start),
    running: replaced(model.running, start),
  }),
  "tool.invocationEnd": (model, end) => ended(model, end),
  "confirmation.request": (model, request) => withWaiting(model, (all) => added(all, request)),
  "confirmation.closed": (model, closed) =>
    withWaiting(model, (all) => all.filter(({ id }) => id !== closed.id)),
  // The whole state follows.
  "plugins.changed": (model) => model,
  "confirmation.missed": (model) => model,
  "confirmation.focus": (model) => model,
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
 * The whole state does not follow a call, so its start says which tab the agent uses now.
 * @param {Panel.State} server
 * @param {Panel.InvocationStart} start
 * @returns {Panel.State}
 */
function withCurrent(server, { session, tabId }) {
  const agent = server.agents?.find((one) => one.session === session);
  if (!agent || tabId === null || agent.current === tabId) return server;
  const moved = { ...agent, current: tabId };
  return { ...server, agents: server.agents.map((one) => (one === agent ? moved : one)) };
}

/**
 * @param {Model} model
 * @param {Panel.InvocationEnd} end of an older server: only its id
 * @returns {Model}
 */
function ended(model, end) {
  const start = model.running.find(({ id }) => id === end.id);
  const running = start ? model.running.filter((call) => call !== start) : model.running;
  // An older server sends no title, and nothing of a call whose start was missed.
  const call = { .../** @type {Call} */ ({ ...start, outcome: "done" }), ...end };
  return { ...model, running, ended: call.title ? newest([...model.ended, call]) : model.ended };
}

/**
 * @param {Model} model
 * @param {Call[]} calls that ended before this panel was opened
 * @returns {Model}
 */
export function withRecent(model, calls) {
  const known = new Set(model.ended.map(({ id }) => id));
  const earlier = calls.filter(({ id }) => !known.has(id));
  return { ...model, ended: newest([...earlier, ...model.ended]) };
}

/** @param {Call[]} calls */
function newest(calls) {
  return calls.slice(-MOST_ENDED);
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
 * @template {{id: string}} T
 * @param {T[]} all
 * @param {T} one with the newest facts
 */
function replaced(all, one) {
  const isKnown = all.some(({ id }) => id === one.id);
  return isKnown ? all.map((other) => (other.id === one.id ? one : other)) : [...all, one];
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
