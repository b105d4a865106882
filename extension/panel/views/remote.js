/** Remote: the service through which agents on other machines reach this browser, and who may what. */

import { LEVELS, remoteText } from "../../worker/shared/remote-settings.js";
import { brief, button, byId, el, strange } from "../dom.js";
import { whenChosen } from "../forms/levels.js";
import { serviceForm } from "../forms/service-form.js";
import { icon } from "../icons.js";

/** @typedef {RemoteShown["clients"][number]} Client */

/** What the person's one button does, by the state in which it is shown. */
const END = { action: "remote-end", label: "End all access", isEnded: true };
const RESUME = { action: "remote-resume", label: "Connect again", isEnded: false };

/** @type {View} */
export const remote = {
  id: "remote",
  label: "Remote",
  needsServer: false,
  render: (app) => {
    const shown = app.model.remote;
    if (!shown) return [el("p", { class: "quiet" }, "…")];
    return [
      el("h2", {}, "Agents on other machines"),
      stateRow(shown, app),
      shown.state !== "none" && clientList(shown, app),
      el(
        "details",
        { id: "service", class: "card", open: shown.state === "none" || shown.state === "refused" },
        el("summary", {}, shown.state === "none" ? "Connect to a service" : "Another service"),
        serviceForm(shown.state !== "none", app.paintNow),
      ),
    ];
  },
};

/**
 * @param {RemoteShown} shown
 * @param {App} app
 */
function stateRow(shown, { attempt }) {
  const { action, label, isEnded } = shown.state === "ended" ? RESUME : END;
  const isSet = shown.state !== "none" && shown.state !== "refused";
  return el(
    "div",
    { class: "row" },
    el("p", { id: "remote-state", class: "grow", role: "status" }, strange(remoteText(shown))),
    isSet &&
      button(label, { key: action, "data-action": action }, () =>
        attempt("remote.setEnded", { isEnded }),
      ),
  );
}

/**
 * @param {RemoteShown} shown
 * @param {App} app
 */
function clientList({ clients, isManaged }, app) {
  return el(
    "section",
    { id: "remote-section", "aria-label": "Clients on other machines" },
    el(
      "ul",
      { id: "remote-clients", class: "rows" },
      clients
        .toSorted((a, b) => Number(wantsAccess(b)) - Number(wantsAccess(a)))
        .map((client) => clientRow(client, isManaged, app.attempt)),
    ),
    !clients.length && el("p", { class: "quiet" }, "No client has come yet."),
    isManaged
      ? el(
          "p",
          { class: "quiet" },
          "tabhub started this browser, so every client of yours may do everything in it.",
        )
      : allowByName(app),
  );
}

/** @param {Client} client that is there and may do nothing */
function wantsAccess({ level, connections }) {
  return !level && connections > 0;
}

/**
 * The name is shown whole: of a part, another client could have the same.
 * @param {Client} client
 * @param {boolean} isManaged
 * @param {Attempt} attempt
 */
function clientRow(client, isManaged, attempt) {
  const { name, level, connections } = client;
  const times = connections > 1 ? `connected ${connections} times` : "connected";
  const isWaiting = !isManaged && wantsAccess(client);
  return el(
    "li",
    { key: `client ${name}`, class: "row", "data-client": name, "data-level": level ?? "" },
    el("span", { class: connections ? "dot is-there" : "dot", "aria-hidden": "true" }),
    el(
      "span",
      { class: "grow" },
      strange(shownName(name), { most: Infinity }),
      el("span", { class: "block quiet" }, connections ? times : "not connected"),
      isWaiting && el("span", { class: "block warning" }, icon("warning"), " wants access"),
    ),
    !isManaged && levelSelect(name, level, attempt),
  );
}

/**
 * Spaces at its ends would not be seen, and one name would look like another.
 * @param {string} name
 */
function shownName(name) {
  if (!name) return "(without a name)";
  return /^\s|\s$|\s\s/.test(name) ? `“${name}”` : name;
}

/**
 * @param {string} name
 * @param {RemoteLevel | null} level
 * @param {Attempt} attempt
 */
function levelSelect(name, level, attempt) {
  const set = (/** @type {RemoteLevel | null} */ chosen) =>
    attempt("remote.allow", { name, level: chosen });
  const choice = el(
    "select",
    {
      "data-action": "remote-level",
      "aria-label": `What ${brief(name)} may do`,
      value: level ?? "",
      onchange: whenChosen(level, set),
    },
    el("option", { value: "" }, "nothing"),
    LEVELS.map((word) => el("option", { value: word }, word)),
  );
  return el("label", { class: "row quiet" }, "may", choice);
}

/**
 * A client can be allowed before it has come.
 * @param {App} app
 */
function allowByName({ attempt }) {
  const add = async () => {
    const field = /** @type {HTMLInputElement} */ (byId("remote-name"));
    const name = field.value.trim();
    if (name && (await attempt("remote.allow", { name, level: "look" }))) field.value = "";
  };
  return [
    el(
      "label",
      { class: "row" },
      "Allow by name ",
      el("input", { id: "remote-name", class: "grow", maxlength: 100, autocomplete: "off" }),
      button("Allow to look", { "data-action": "remote-add" }, add),
    ),
    el(
      "p",
      { class: "quiet" },
      "A client may look at tabs and pages, act with mouse and keyboard, or do everything: scripts, cookies, history, requests and the debugger. Lowering a level stops what that client is doing.",
    ),
  ];
}
