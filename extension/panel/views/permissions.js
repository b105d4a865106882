/** What was allowed before, what pages may do, and skipping permissions. */

import { brief, button, el, strange } from "../dom.js";
import { levelChoice, whenChosen } from "../forms/levels.js";
import { icon } from "../icons.js";
import { grantText } from "../view.js";

const MOST_SHOWN = 100;
let isAsked = false;

/**
 * Skipping is switched on only after a confirmation, off at once.
 * @param {App} app
 */
export function skipping(app) {
  const skip = Boolean(app.server?.skipPermissions);
  const set = (/** @type {boolean} */ wanted) =>
    void app.attempt("config.setSkipPermissions", { skip: wanted });
  const ask = (/** @type {boolean} */ wanted) => {
    isAsked = wanted;
    app.paint();
  };
  const press = (/** @type {MouseEvent} */ event) => {
    // The box shows the server's state, not the click.
    event.preventDefault();
    if (!event.isTrusted) return;
    if (skip) set(false);
    else ask(true);
  };
  return [
    el(
      "label",
      { class: "row" },
      el("input", { id: "skip", type: "checkbox", checked: skip, onclick: press }),
      skip ? "Skip permissions" : "Skip permissions…",
    ),
    el(
      "p",
      { class: "warning" },
      icon("warning"),
      " While it is on, agents act without asking you. Only for a browser in which nothing is yours.",
    ),
    isAsked &&
      el(
        "div",
        {
          id: "skip-confirm",
          class: "card",
          role: "alertdialog",
          "aria-label": "Skip permissions",
        },
        el(
          "p",
          {},
          "Agents will act without asking you: they can send, buy, delete and change things in your name. Only what is switched off stays off. This holds for every agent and every browser, until you switch it off again or the server ends.",
        ),
        el(
          "div",
          { class: "choices" },
          button("Skip permissions", { "data-action": "skip-confirm", class: "warning" }, () => {
            set(true);
            ask(false);
          }),
          button("Cancel", { "data-safe": true, "data-action": "skip-cancel" }, () => ask(false)),
        ),
      ),
  ];
}

/** @param {App} app */
export function grants({ server, attempt }) {
  const all = server?.grants ?? [];
  if (!all.length) return null;
  return el(
    "section",
    { key: "grants", "aria-labelledby": "grants-title" },
    el("h2", { id: "grants-title" }, "Allowed before"),
    el(
      "ul",
      { id: "grants", class: "rows" },
      all.slice(0, MOST_SHOWN).map((grant) =>
        el(
          "li",
          { key: grant.id, class: "row", "data-grant": grant.id },
          strange(grantText(grant), { className: "grow", most: 400 }),
          button("Revoke", { "data-action": "revoke", of: grantText(grant) }, () =>
            attempt("grant.revoke", { id: grant.id }),
          ),
        ),
      ),
    ),
    all.length > MOST_SHOWN && el("p", { class: "quiet" }, `${all.length - MOST_SHOWN} more.`),
  );
}

/** @param {App} app */
export function pages({ server, attempt }) {
  // Older servers do not send them.
  const all = server?.pages ?? [];
  if (!all.length) return null;
  return el(
    "section",
    { key: "pages", "aria-labelledby": "pages-title" },
    el("h2", { id: "pages-title" }, "Pages connected without the extension"),
    el(
      "ul",
      { id: "pages", class: "rows" },
      all.slice(0, MOST_SHOWN).map((page) => pageRow(page, attempt)),
    ),
    el(
      "p",
      { class: "quiet" },
      "These pages offer tools to agents through the server directly. The level says whether agents may call them. In tabs that this extension sees, the other rules decide.",
    ),
  );
}

/**
 * @param {Panel.AllowedPage} page
 * @param {Attempt} attempt
 */
function pageRow({ origin, level }, attempt) {
  // A pattern stands for many origins, and each is judged as in any browser.
  const locked = origin.endsWith("*") ? { disabled: true, "data-locked": true } : {};
  const set = (/** @type {typeof level} */ chosen) =>
    attempt("config.setPageLevel", { origin, level: chosen });
  return el(
    "li",
    { key: origin, class: "row", "data-page": origin },
    strange(origin, { className: "grow", most: 300 }),
    levelChoice(level, "default", {
      "data-action": "page-level",
      "aria-label": `Level of ${brief(origin)}`,
      onchange: whenChosen(level, set),
      ...locked,
    }),
  );
}
