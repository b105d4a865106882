/** The agents and their tabs. */

import { button, el, strange } from "./dom.js";

/** @typedef {ReturnType<typeof import("./view.js").agentsOf>[number]} Agent */

/**
 * @param {Agent} agent
 * @param {Attempt} attempt
 */
export function agentRow(agent, attempt) {
  const { session, name, client, color, paused, answering, tabs } = agent;
  const count = tabs.length === 1 ? "1 tab" : `${tabs.length} tabs`;
  const state = answering ? " · answering" : "";
  const called = name === client ? [] : [" ", strange(client, { className: "hint" })];
  return el(
    "li",
    { "data-session": session },
    el(
      "div",
      { class: "row" },
      el("span", { class: "dot", "data-color": color, "aria-hidden": "true" }),
      el(
        "span",
        { class: "grow" },
        strange(name, { tag: "strong" }),
        ...called,
        ` · ${count}${state}`,
      ),
      button(paused ? "Resume" : "Pause", { "data-action": paused ? "resume" : "pause" }, () =>
        attempt("agent.pause", { session, paused: !paused }),
      ),
    ),
    ...(tabs.length ? [el("ul", {}, ...tabs.map((tab) => tabRow(tab, attempt)))] : []),
  );
}

/**
 * @param {Agent["tabs"][number]} tab
 * @param {Attempt} attempt
 */
function tabRow({ tabId, text, isCurrent }, attempt) {
  const title = strange(text, { className: "grow cut" });
  const takeBack = () => attempt("tab.takeBack", { tabId });
  return el(
    "li",
    { "data-tab": tabId, class: "row", ...(isCurrent && { "aria-current": "true" }) },
    title,
    button("Take back", { "data-action": "take-back" }, takeBack),
  );
}
