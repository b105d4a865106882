/** The panel: a person sees what agents do, and decides what they may do. */

import { tick } from "./approvals.js";
import { restAll, restWhatMoved } from "./press-delay.js";
import { byId, strange } from "./dom.js";
import { applyMessage, START } from "./model.js";
import { WorkerPort } from "./port.js";
import { render } from "./render.js";
import { readySkip } from "./permissions.js";
import { readyPluginSearch } from "./plugins.js";
import { readyRemote } from "./remote-clients.js";
import { findLookedAt, watchTabs } from "./this-tab.js";

const TICK_MS = 1000;

let model = START;
const port = new WorkerPort(receive, () => void load());

/** @param {Model} next */
function show(next) {
  model = next;
  render(model, { decide, attempt, ask });
}

/**
 * @template {keyof WorkerMessages} N
 * @param {N} method
 * @param {WorkerMessages[N]} params
 */
function receive(method, params) {
  show(applyMessage(model, method, params));
}

async function load() {
  try {
    receive("state", await port.ask("config.getState", {}));
  } catch (error) {
    show({ ...model, server: null, problem: messageOf(error) });
  }
}

/** @type {import("./render.js").Actions["decide"]} */
function decide(id, decision, scope, seconds) {
  return port.ask("confirmation.response", { id, decision, scope, seconds });
}

/** @type {import("./render.js").Ask} */
async function ask(method, params) {
  byId("error").replaceChildren();
  try {
    return await port.ask(method, params);
  } catch (error) {
    byId("error").replaceChildren(strange(messageOf(error)));
    return null;
  }
}

/** @type {Attempt} */
async function attempt(method, params) {
  return (await ask(method, params)) !== null;
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

async function look() {
  const lookedAt = await findLookedAt();
  show({ ...model, lookedAt });
}

document.addEventListener("visibilitychange", () => {
  port.reportVisibility();
  // The person sees them only now.
  restAll();
});
new ResizeObserver(restWhatMoved).observe(document.body);
setInterval(() => tick(document, Date.now()), TICK_MS);
readySkip(attempt);
readyRemote(attempt);
readyPluginSearch(ask, attempt);
watchTabs(() => void look());
port.connect();
void look();
