/** Which tool may do what, and what was allowed before. */

import { button, byId, el, strange } from "./dom.js";
import { grantText } from "./view.js";

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
  const choice = /** @type {HTMLSelectElement} */ (
    el("select", { "data-tool": name, "aria-label": `Permission of ${name}` })
  );
  const otherwise = permission === null ? `default (${effective})` : "default";
  choice.append(
    new Option(otherwise, ""),
    ...["off", "ask", "auto"].map((level) => new Option(level)),
  );
  choice.value = permission ?? "";
  choice.addEventListener("change", async ({ isTrusted }) => {
    const chosen = /** @type {Panel.ToolShown["effective"] | ""} */ (choice.value);
    const params = { plugin, tool: name, permission: chosen || null };
    const isDone = isTrusted && (await attempt("config.setToolPermission", params));
    if (!isDone) choice.value = permission ?? "";
  });
  const text = el("span", { class: "grow" }, strange(title), " ", strange(name, { tag: "code" }));
  return el("li", { class: "row" }, text, choice);
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
