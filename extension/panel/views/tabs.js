/** Tabs: whose each is, what state it is in, and what the person can do with it. */

import { brief, button, el, strange } from "../dom.js";
import { count } from "../units.js";
import { actionsOn, tabGroupsOf, thisTabOf } from "../view.js";

/** @typedef {import("../view.js").TabAction} TabAction */
/** @typedef {ReturnType<typeof tabGroupsOf>[number]} Group */

const MOST_SHOWN = 200;

/** @type {Record<TabAction, [label: string, act: (attempt: Attempt, tabId: number) => unknown]>} */
const ACTIONS = {
  share: ["Share with agents", (attempt, tabId) => attempt("tab.share", { tabId, shared: true })],
  unshare: ["Stop sharing", (attempt, tabId) => attempt("tab.share", { tabId, shared: false })],
  "take-back": ["Take back", (attempt, tabId) => attempt("tab.takeBack", { tabId })],
};

/** @type {View} */
export const tabs = {
  id: "tabs",
  label: "Tabs",
  needsServer: true,
  render: (app) => {
    const server = /** @type {Panel.State} */ (app.server);
    const current = thisTabOf(app.model);
    return [
      current && thisTab(current, app.attempt),
      tabGroupsOf(server).map((group) => groupOf(group, server, app)),
      !server.tabs.length && el("p", { class: "quiet" }, "No browser is connected."),
    ];
  },
};

/**
 * @param {TabAction} action
 * @param {{tabId: number, title?: string, url?: string}} tab
 * @param {Attempt} attempt
 */
function actionButton(action, { tabId, title, url }, attempt) {
  const [label, act] = ACTIONS[action];
  const of = title || url;
  return button(label, { key: action, "data-action": action, of }, () => act(attempt, tabId));
}

/**
 * @param {NonNullable<ReturnType<typeof thisTabOf>>} tab
 * @param {Attempt} attempt
 */
function thisTab({ tabId, title, url, whose, actions }, attempt) {
  return el(
    "section",
    { "aria-labelledby": "this-tab-title" },
    el("h2", { id: "this-tab-title" }, "This tab"),
    el(
      "div",
      { id: "this-tab", class: "card" },
      el("p", { class: "cut" }, strange(title || url, { tag: "strong", most: 200 })),
      el("p", { class: "quiet cut" }, strange(url, { tag: "span", className: "address" })),
      el(
        "div",
        { class: "row" },
        strange(whose, { className: "grow" }),
        actions.map((action) => actionButton(action, { tabId, title, url }, attempt)),
      ),
    ),
  );
}

/**
 * @param {Group} group
 * @param {Panel.State} server
 * @param {App} app
 */
function groupOf({ name, session, color, tabs: its }, server, app) {
  const agent = server.agents.find((one) => one.session === session);
  const act = agent?.paused ? "resume" : "pause";
  const pause = () =>
    app.attempt("agent.pause", { session: String(session), paused: !agent?.paused });
  const title = `group-${session ?? name}`;
  return el(
    "section",
    { key: title, "aria-label": brief(name) },
    el(
      "div",
      { class: "row" },
      agent && el("span", { class: "swatch", "data-color": color, "aria-hidden": "true" }),
      el("h2", { class: "grow cut" }, strange(name, { most: 100 }), ` · ${its.length}`),
      agent &&
        (agent.connected !== false || agent.paused) &&
        button(
          act === "pause" ? "Pause" : "Resume",
          { key: act, "data-action": act, of: name },
          pause,
        ),
    ),
    el(
      "ul",
      { class: "rows" },
      its.slice(0, MOST_SHOWN).map((tab) => tabRow(tab, agent, server, app)),
    ),
    its.length > MOST_SHOWN &&
      el("p", { class: "quiet" }, `${its.length - MOST_SHOWN} more are not shown.`),
  );
}

/**
 * @param {Panel.TabShown} tab
 * @param {Panel.AgentShown | undefined} agent
 * @param {Panel.State} server
 * @param {App} app
 */
function tabRow(tab, agent, server, { attempt }) {
  const { tabId, title, url, status, tools, paused, browser } = tab;
  const isCurrent = agent?.current === tabId;
  const facts = [
    isCurrent && "in use",
    status && status !== "complete" && status,
    paused && "paused",
    tools ? `${count(tools, "tool")} of its page` : "",
    browser !== server.browser && "in another browser",
  ];
  return el(
    "li",
    { key: tabId, "data-tab": tabId, class: "row", "aria-current": isCurrent && "true" },
    el(
      "span",
      { class: "grow" },
      strange(title || url || `Tab ${tabId}`, { tag: "span", className: "cut block", most: 200 }),
      el(
        "span",
        { class: "cut block quiet" },
        strange(url, { tag: "span", className: "address", most: 300 }),
      ),
      el("span", { class: "block quiet" }, facts.filter(Boolean).join(" · ")),
    ),
    actionsOn(tab).map((action) => actionButton(action, tab, attempt)),
  );
}
