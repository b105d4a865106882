/** The page is made from what the panel knows, every time anew; only what differs is touched. */

import { agentRow } from "./agents.js";
import { approval } from "./approvals.js";
import { restIfMoved } from "./arming.js";
import { button, byId, el, fill, strange } from "./dom.js";
import { grantRow, pluginTools } from "./permissions.js";
import { thisTab } from "./thistab.js";
import { agentsOf, bannersOf, pluginsOf, thisTabOf } from "./view.js";

/**
 * @typedef {object} Hands what a person's presses do
 * @property {(id: string, ...answer: Parameters<import("./approvals.js").Decide>) => ReturnType<import("./approvals.js").Decide>} decide
 * @property {(method: string, params: object) => Promise<boolean>} attempt
 */

/** @type {Record<string, [method: string, params: object]>} */
const COMMANDS = {
  "stop-all": ["agents.stop", { stopped: true }],
  "resume-all": ["agents.stop", { stopped: false }],
  "skip-off": ["config.setSkipPermissions", { skip: false }],
};

/**
 * @param {Model} model
 * @param {Hands} hands
 */
export function render(model, hands) {
  const { server, problem } = model;
  const connection = byId("connection");
  say(connection, server ? "Connected" : problem);
  connection.classList.toggle("is-open", Boolean(server));
  byId("all").hidden = !server;
  renderBanners(server ? bannersOf(server) : [], hands);
  renderApprovals(server?.confirmations ?? [], hands);
  if (server) renderRest(model, server, hands);
  restIfMoved(articles());
}

/** @returns {HTMLElement[]} */
export function articles() {
  return [...document.querySelectorAll("article")];
}

/**
 * Said again it would be read aloud again.
 * @param {HTMLElement} place
 * @param {string} text
 */
function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/**
 * @param {ReturnType<typeof bannersOf>} banners
 * @param {Hands} hands
 */
function renderBanners(banners, hands) {
  fill(
    byId("banner"),
    banners,
    ({ action }) => action,
    ({ action, label, text }) =>
      el(
        "p",
        { class: "row", role: "alert" },
        el("span", { class: "grow" }, text),
        command(label, action, hands),
      ),
  );
}

/**
 * @param {string} label
 * @param {string} action
 * @param {Hands} hands
 */
function command(label, action, { attempt }) {
  const [method, params] = COMMANDS[action];
  return button(label, { "data-action": action }, () => void attempt(method, params));
}

/**
 * @param {Confirmation[]} wishes
 * @param {Hands} hands
 */
function renderApprovals(wishes, { decide }) {
  const place = byId("approvals");
  const known = new Set(articles().map((article) => article.dataset.confirmation));
  const hadFocus = place.contains(document.activeElement);
  fill(
    place,
    wishes,
    ({ id }) => id,
    (wish) => approval(wish, (...answer) => decide(wish.id, ...answer)),
  );
  byId("no-approvals").hidden = wishes.length > 0;
  if (hadFocus && document.activeElement === document.body) byId("approvals-title").focus();
  announce(wishes.filter(({ id }) => !known.has(id)));
}

/** @param {Confirmation[]} fresh */
function announce(fresh) {
  const lines = fresh.map(({ client, title }) =>
    el("span", {}, strange(client), " asks: ", strange(title)),
  );
  if (lines.length) byId("status").replaceChildren(...lines);
}

/**
 * @param {Model} model
 * @param {ServerState} server
 * @param {Hands} hands
 */
function renderRest(model, server, hands) {
  const { attempt } = hands;
  const act = (/** @type {string} */ method, /** @type {object} */ params) =>
    void attempt(method, params);
  const agents = agentsOf(server);
  fill(
    byId("agents"),
    agents,
    ({ session }) => session,
    (agent) => agentRow(agent, act),
  );
  byId("no-agents").hidden = agents.length > 0;
  const stop = server.stopped ? [] : ["stop-all"];
  fill(
    byId("stop"),
    stop,
    (action) => action,
    (action) => command("Stop everything", action, hands),
  );
  const tab = thisTabOf(model);
  fill(
    byId("this-tab"),
    tab ? [tab] : [],
    ({ tabId }) => tabId,
    (it) => thisTab(it, act),
  );
  byId("this-tab-section").hidden = !tab;
  renderPermissions(server, attempt);
}

/**
 * @param {ServerState} server
 * @param {Hands["attempt"]} attempt
 */
function renderPermissions(server, attempt) {
  const groups = pluginsOf(server);
  const { grants, policyFile, unattended, skipPermissions } = server;
  fillTools(groups, attempt);
  const policy = policyFile ? [" The policy file ", strange(policyFile), " is in force."] : [];
  byId("policy").replaceChildren(`When nobody can be asked: ${unattended}.`, ...policy);
  /** @type {HTMLInputElement} */ (byId("skip")).checked = skipPermissions;
  fill(
    byId("grants"),
    grants,
    ({ id }) => id,
    (grant) => grantRow(grant, attempt),
  );
  byId("grants-section").hidden = !grants.length;
}

/**
 * @param {ReturnType<typeof pluginsOf>} groups
 * @param {Hands["attempt"]} attempt
 */
function fillTools(groups, attempt) {
  const isOpen = new Set(
    [...document.querySelectorAll("details[open]")].map((it) => it.getAttribute("data-plugin")),
  );
  fill(
    byId("tools"),
    groups,
    ({ plugin }) => plugin,
    (group) => {
      const made = pluginTools(group, attempt);
      made.toggleAttribute("open", isOpen.has(group.plugin));
      return made;
    },
  );
}
