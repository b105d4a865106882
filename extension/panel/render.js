/** Renders the whole panel from its state each time; only elements that differ are changed. */

import { agentRow } from "./agents.js";
import { approval, pairingRow } from "./approvals.js";
import { restWhatMoved } from "./press-delay.js";
import { button, byId, el, fill, strange } from "./dom.js";
import { familyTools, grantRow, pageRow } from "./permissions.js";
import { failedRow, pluginRow } from "./plugins.js";
import { renderRemote } from "./remote-clients.js";
import { thisTab } from "./this-tab.js";
import { agentsOf, bannersOf, familiesOf, leftOutText, thisTabOf, workOf } from "./view.js";

/**
 * @typedef {object} Actions what a person's presses do
 * @property {(id: string, decision: Decision, scope?: Scope, seconds?: number) => Promise<Panel.ConfirmationOutcome>} decide
 * @property {Attempt} attempt
 * @property {Ask} ask
 */

/**
 * @typedef {<N extends keyof PanelRequests>(
 *   method: N, params: PanelRequests[N]["params"],
 * ) => Promise<PanelRequests[N]["result"] | null>} Ask a request whose result is needed; null if it
 *   failed
 */

/** @type {Record<string, (attempt: Attempt) => Promise<boolean>>} */
const COMMANDS = {
  "stop-all": (attempt) => attempt("agents.stop", { stopped: true }),
  "resume-all": (attempt) => attempt("agents.stop", { stopped: false }),
  "skip-off": (attempt) => attempt("config.setSkipPermissions", { skip: false }),
};

/**
 * @param {Model} model
 * @param {Actions} actions
 */
export function render(model, actions) {
  const { server, problem, mismatch } = model;
  const connection = byId("connection");
  say(connection, server ? "Connected" : problem);
  connection.classList.toggle("is-open", Boolean(server));
  // A problem is already displayed.
  say(byId("mismatch"), server ? mismatch : "");
  byId("all").hidden = !server;
  renderBanners(server ? bannersOf(server) : [], actions);
  if (model.remote) renderRemote(model.remote, actions.attempt);
  // The person can stop everything, whatever an approval displays.
  if (server) renderRest(model, server, actions);
  renderApprovals(server?.confirmations ?? [], actions);
  restWhatMoved();
}

/** @returns {HTMLElement[]} */
function articles() {
  return [...document.querySelectorAll("article")];
}

/**
 * A screen reader reads a text aloud each time it is set.
 * @param {HTMLElement} place
 * @param {string} text
 */
function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/**
 * @param {ReturnType<typeof bannersOf>} banners
 * @param {Actions} actions
 */
function renderBanners(banners, actions) {
  fill(byId("banner"), banners, "action", ({ action, label, text }) => {
    const words = el("span", { class: "grow" }, text);
    const act = label ? [command(label, action, actions)] : [];
    return el("p", { class: "row", role: "alert" }, words, ...act);
  });
}

/**
 * @param {string} label
 * @param {string} action
 * @param {Actions} actions
 */
function command(label, action, { attempt }) {
  return button(label, { "data-action": action }, () => COMMANDS[action](attempt));
}

/**
 * @param {Panel.Confirmation[]} requests
 * @param {Actions} actions
 */
function renderApprovals(requests, { decide }) {
  const place = byId("approvals");
  const known = new Set(articles().map((article) => article.dataset.confirmation));
  const hadFocus = place.contains(document.activeElement);
  fill(place, requests, "id", (request) =>
    approval(request, (...answer) => decide(request.id, ...answer)),
  );
  byId("no-approvals").hidden = requests.length > 0;
  if (hadFocus && document.activeElement === document.body) byId("approvals-title").focus();
  announce(requests.filter(({ id }) => !known.has(id)));
}

/** @param {Panel.Confirmation[]} fresh */
function announce(fresh) {
  const lines = fresh.map(({ client, title }) =>
    el("span", {}, strange(client), " asks: ", strange(title)),
  );
  if (lines.length) byId("status").replaceChildren(...lines);
}

/**
 * @param {Model} model
 * @param {Panel.State} server
 * @param {Actions} actions
 */
function renderRest(model, server, actions) {
  const { attempt } = actions;
  const agents = agentsOf(server);
  fill(byId("agents"), agents, "session", (agent) => agentRow(agent, attempt));
  showWork(workOf(model));
  byId("no-agents").hidden = agents.length > 0;
  const stop = server.stopped ? [] : [{ action: "stop-all" }];
  fill(byId("stop"), stop, "action", ({ action }) => command("Stop everything", action, actions));
  const tab = thisTabOf(model);
  fill(byId("this-tab"), tab ? [tab] : [], "tabId", (shown) => thisTab(shown, attempt));
  byId("this-tab-section").hidden = !tab;
  fill(byId("pairing"), server.knocks, "code", (request) => pairingRow(request, attempt));
  byId("pairing-section").hidden = !server.knocks.length;
  // Older servers do not send them.
  const pages = server.pages ?? [];
  fill(byId("pages"), pages, "origin", (page) => pageRow(page, attempt));
  byId("pages-section").hidden = !pages.length;
  renderPlugins(server, actions);
  renderPermissions(server, attempt);
}

/**
 * @param {Panel.State} server
 * @param {Actions} actions
 */
function renderPlugins({ plugins, failedPlugins }, { attempt, ask }) {
  fill(byId("plugins"), plugins, "name", (plugin) => pluginRow(plugin, attempt, ask));
  // Older servers do not send them.
  fill(byId("failed-plugins"), failedPlugins ?? [], "folder", failedRow);
}

/**
 * Only the dot moves: a row that was made anew for each call could not be pressed.
 * @param {Map<string, string>} work
 */
function showWork(work) {
  for (const row of document.querySelectorAll("#agents > li")) {
    const doing = work.get(row.getAttribute("data-session") ?? "");
    const dot = /** @type {HTMLElement} */ (row.querySelector(".dot"));
    dot.classList.toggle("is-busy", doing !== undefined);
    dot.title = doing ?? "";
  }
}

/**
 * @param {Panel.State} server
 * @param {Attempt} attempt
 */
function renderPermissions(server, attempt) {
  const { grants, policyFile, unattended, skipPermissions } = server;
  renderTools(familiesOf(server), attempt);
  byId("tools-left-out").replaceChildren(leftOutText(server));
  const policy = policyFile ? [" The policy file ", strange(policyFile), " is in force."] : [];
  byId("policy").replaceChildren(`When no person can be asked: ${unattended}.`, ...policy);
  /** @type {HTMLInputElement} */ (byId("skip")).checked = skipPermissions;
  fill(byId("grants"), grants, "id", (grant) => grantRow(grant, attempt));
  byId("grants-section").hidden = !grants.length;
}

/**
 * @param {ReturnType<typeof familiesOf>} groups
 * @param {Attempt} attempt
 */
function renderTools(groups, attempt) {
  const open = [...document.querySelectorAll("details[open]")];
  const names = open.map((details) => details.getAttribute("data-family"));
  fill(byId("tools"), groups, "family", (group) => {
    const made = familyTools(group, attempt);
    made.toggleAttribute("open", names.includes(group.family));
    return made;
  });
}
