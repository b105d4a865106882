/** Which tool may do what, and what was allowed before. */

import { button, byId, el, strange } from "./dom.js";
import { grantText } from "./view.js";

/** @typedef {Panel.ToolShown["effective"]} Level */

/**
 * @param {ReturnType<typeof import("./view.js").familiesOf>[number]} group
 * @param {Attempt} attempt
 */
export function familyTools({ family, tools }, attempt) {
  return el(
    "details",
    { "data-family": family },
    el("summary", {}, strange(family), ` · ${tools.length}`),
    el("ul", {}, ...tools.map((tool) => toolRow(tool, attempt))),
  );
}

/**
 * @param {Panel.ToolShown} tool
 * @param {Attempt} attempt
 */
function toolRow({ name, title, plugin, permission, effective }, attempt) {
  const attributes = { "data-tool": name, "aria-label": `Permission of ${name}` };
  const otherwise = permission === null ? `default (${effective})` : "default";
  const choice = levelChoice(permission, otherwise, attributes);
  whenChosen(choice, permission, (level) =>
    attempt("config.setToolPermission", { plugin, tool: name, permission: level }),
  );
  const text = el("span", { class: "grow" }, strange(title), " ", strange(name, { tag: "code" }));
  return el("li", { class: "row" }, text, choice);
}

/**
 * @param {Panel.AllowedPage} page
 * @param {Attempt} attempt
 */
export function pageRow({ origin, level }, attempt) {
  const choice = levelChoice(level, "default", { "aria-label": `Level of ${origin}` });
  // A pattern stands for many origins, and each is judged as in any browser.
  choice.disabled = origin.endsWith("*");
  whenChosen(choice, level, (chosen) => attempt("config.setPageLevel", { origin, level: chosen }));
  const text = strange(origin, { className: "grow" });
  return el("li", { class: "row", "data-page": origin }, text, choice);
}

/**
 * @param {Level | null} level
 * @param {string | null} otherwise what stands for no level, if that can be chosen
 * @param {Record<string, string>} attributes
 */
export function levelChoice(level, otherwise, attributes) {
  const choice = /** @type {HTMLSelectElement} */ (el("select", attributes));
  const levels = ["off", "ask", "auto"].map((word) => new Option(word));
  if (otherwise) choice.append(new Option(otherwise, ""));
  choice.append(...levels);
  choice.value = level ?? "";
  return choice;
}

/** @param {HTMLSelectElement} choice */
export const chosenLevel = ({ value }) => /** @type {Level | ""} */ (value) || null;

/**
 * @param {HTMLSelectElement} choice
 * @param {Level | null} before
 * @param {(level: Level | null) => Promise<boolean>} set
 */
function whenChosen(choice, before, set) {
  choice.addEventListener("change", async ({ isTrusted }) => {
    const isDone = isTrusted && (await set(chosenLevel(choice)));
    if (!isDone) choice.value = before ?? "";
  });
}

/**
 * @param {Panel.GrantShown} grant
 * @param {Attempt} attempt
 */
export function grantRow(grant, attempt) {
  const revoke = () => attempt("grant.revoke", { id: grant.id });
  return el(
    "li",
    { class: "row", "data-grant": grant.id },
    strange(grantText(grant), { className: "grow" }),
    button("Revoke", { "data-action": "revoke" }, revoke),
  );
}

// Skipping permissions is switched on only after a confirmation, off at once.

/** @param {Attempt} attempt */
export function readySkip(attempt) {
  const box = /** @type {HTMLInputElement} */ (byId("skip"));
  const question = byId("skip-confirm");
  const set = (/** @type {boolean} */ skip) => void attempt("config.setSkipPermissions", { skip });
  const close = () => {
    question.hidden = true;
    box.focus();
  };
  box.addEventListener("click", (event) => {
    // The box shows the server's state, not the click.
    event.preventDefault();
    if (!event.isTrusted) return;
    question.hidden = !box.checked;
    if (!box.checked) set(false);
  });
  byId("skip-buttons").append(
    button("Skip permissions", { "data-action": "skip-confirm" }, () => {
      set(true);
      close();
    }),
    button("Cancel", { "data-action": "skip-cancel" }, close),
  );
}
