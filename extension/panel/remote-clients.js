/** Agents on other machines: which clients there are, and what each may do. */

import { LEVELS, remoteText } from "../worker/shared/remote-settings.js";
import { button, byId, el, fill, strange } from "./dom.js";

/** @typedef {RemoteShown["clients"][number]} Client */

/** What the person's one button does, by the state in which it is shown. */
const END = { action: "remote-end", label: "End all", isEnded: true };
const SWITCHES = {
  ended: { action: "remote-resume", label: "Connect again", isEnded: false },
  refused: { action: "remote-options", label: "Options", isEnded: null },
};

/**
 * @param {RemoteShown} remote
 * @param {Attempt} attempt
 */
export function renderRemote(remote, attempt) {
  const { state, clients, isManaged } = remote;
  byId("remote-section").hidden = state === "none";
  const text = remoteText(remote);
  // A screen reader reads a text aloud each time it is set.
  if (byId("remote-state").textContent !== text) byId("remote-state").textContent = text;
  const shown = state === "ended" || state === "refused" ? SWITCHES[state] : END;
  fill(byId("remote-switch"), [shown], "action", ({ action, label, isEnded }) =>
    button(label, { "data-action": action }, () =>
      isEnded === null
        ? void chrome.runtime.openOptionsPage()
        : attempt("remote.setEnded", { isEnded }),
    ),
  );
  const rows = clients.map(({ name, level }) => ({ name, level, isManaged }));
  fill(byId("remote-clients"), rows, "name", (row) => clientRow(row, attempt));
  clients.forEach(({ connections }, index) => showConnections(index, connections));
  byId("remote-none").hidden = clients.length > 0;
  byId("remote-managed").hidden = !isManaged;
  byId("remote-more").hidden = isManaged;
}

/**
 * The name is shown whole: of a part, another client could have the same.
 * @param {Pick<Client, "name" | "level"> & {isManaged: boolean}} client
 * @param {Attempt} attempt
 */
function clientRow({ name, level, isManaged }, attempt) {
  return el(
    "li",
    { class: "row", "data-client": name, "data-level": level ?? "" },
    el("span", { class: "grow" }, strange(shownName(name)), el("span", { class: "there hint" })),
    ...(isManaged ? [] : [levelSelect(name, level, attempt)]),
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
 * The row stays as it is: a client that comes and goes could otherwise keep the person from using it.
 * @param {number} index of the row
 * @param {number} connections
 */
function showConnections(index, connections) {
  const there = byId("remote-clients").children[index].querySelector(".there");
  const text = connections > 1 ? ` · connected ${connections} times` : " · connected";
  if (there) there.textContent = connections ? text : "";
}

/**
 * @param {string} name
 * @param {RemoteLevel | null} level
 * @param {Attempt} attempt
 */
function levelSelect(name, level, attempt) {
  const attributes = { "aria-label": `What ${name} may do` };
  const choice = /** @type {HTMLSelectElement} */ (el("select", attributes));
  choice.append(new Option("nothing", ""), ...LEVELS.map((word) => new Option(word)));
  choice.value = level ?? "";
  choice.addEventListener("change", async ({ isTrusted }) => {
    const chosen = /** @type {RemoteLevel | ""} */ (choice.value) || null;
    const isDone = isTrusted && (await attempt("remote.allow", { name, level: chosen }));
    if (!isDone) choice.value = level ?? "";
  });
  return choice;
}

/**
 * A client can be allowed before it has come.
 * @param {Attempt} attempt
 */
export function readyRemote(attempt) {
  const field = /** @type {HTMLInputElement} */ (byId("remote-name"));
  const add = async () => {
    const name = field.value.trim();
    if (name && (await attempt("remote.allow", { name, level: "look" }))) field.value = "";
  };
  byId("remote-add").append(button("Allow to look", { "data-action": "remote-add" }, add));
}
