/** Which entries of the audit log the person wants to see. */

import { brief, el } from "../dom.js";

/** @type {Panel.AuditRow["outcome"][]} */
const OUTCOMES = ["done", "failed", "refused", "cancelled"];

/** @typedef {Omit<Panel.AuditList, "limit" | "before">} Filter */
/** @typedef {(change: Partial<Filter>) => void} FilterBy */

/**
 * @param {string[]} clients
 * @param {FilterBy} filterBy
 */
export function filters(clients, filterBy) {
  return el(
    "form",
    {
      class: "filters",
      role: "search",
      onsubmit: (/** @type {SubmitEvent} */ event) => event.preventDefault(),
    },
    input("text", "Search", filterBy),
    input("tool", "Tool", filterBy),
    el(
      "select",
      {
        "data-safe": true,
        "aria-label": "Client",
        "data-filter": "client",
        onchange: chosen("client", filterBy),
      },
      el("option", { value: "" }, "every client"),
      clients.map((client) => el("option", { key: client, value: client }, brief(client, 60))),
    ),
    el(
      "select",
      {
        "data-safe": true,
        "aria-label": "Who",
        "data-filter": "who",
        onchange: chosen("who", filterBy),
      },
      el("option", { value: "" }, "you and agents"),
      el("option", { value: "agents" }, "agents"),
      el("option", { value: "you" }, "you"),
    ),
    el(
      "select",
      {
        "data-safe": true,
        "aria-label": "Outcome",
        "data-filter": "outcome",
        onchange: chosen("outcome", filterBy),
      },
      el("option", { value: "" }, "every outcome"),
      OUTCOMES.map((outcome) => el("option", { value: outcome }, outcome)),
    ),
  );
}

/**
 * @param {"text" | "tool"} name
 * @param {string} label
 * @param {FilterBy} filterBy
 */
function input(name, label, filterBy) {
  return el("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    "data-filter": name,
    onchange: chosen(name, filterBy),
  });
}

/**
 * @param {keyof Filter} name
 * @param {FilterBy} filterBy
 */
function chosen(name, filterBy) {
  return (/** @type {Event} */ { target }) =>
    filterBy({ [name]: /** @type {HTMLInputElement} */ (target).value.trim() || null });
}
