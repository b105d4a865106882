/** Tools: find one, set what it may do, read about it and try it. */

import { brief, button, el, strange } from "../dom.js";
import { levelChoice, whenChosen } from "../forms/levels.js";
import { familiesOf, leftOutText, matchingTools } from "../view.js";
import { openTrial, trial } from "./tool-trial.js";

/** @typedef {Panel.ToolShown["effective"]} Level */

/** Rows that are shown at once: a press shows as many again. */
const PAGE = 40;

const state = {
  words: "",
  /** @type {Level | ""} */
  level: "",
  /** @type {Map<string, number>} how many rows of each open group are shown */
  open: new Map(),
  /** @type {string | null} the tool whose details are shown */
  chosen: null,
};

/** @type {View} */
export const tools = {
  id: "tools",
  label: "Tools",
  needsServer: true,
  render: (app) => {
    const server = /** @type {Panel.State} */ (app.server);
    const isSearch = Boolean(state.words.trim() || state.level);
    const found = matchingTools(server.tools, state.words).filter(
      ({ effective }) => !state.level || effective === state.level,
    );
    const groups = isSearch ? [{ family: "", tools: found }] : familiesOf({ tools: found });
    return [
      searchForm(server.tools.length, app),
      el(
        "p",
        { class: "quiet", role: "status" },
        isSearch ? `${found.length} of ${server.tools.length} tools` : "",
      ),
      el(
        "div",
        { id: "tools" },
        groups.map((group) => groupOf(group, isSearch, app)),
      ),
      el("p", { class: "quiet" }, leftOutText(server)),
    ];
  },
};

/**
 * @param {number} all
 * @param {App} app
 */
function searchForm(all, app) {
  const levels = ["off", "ask", "auto"].map((level) => el("option", { value: level }, level));
  return el(
    "div",
    { class: "row search" },
    el("input", {
      id: "tool-words",
      type: "search",
      class: "grow",
      placeholder: `Search ${all} tools`,
      "aria-label": "Search tools",
      oninput: (/** @type {InputEvent} */ { target }) => {
        state.words = /** @type {HTMLInputElement} */ (target).value;
        state.open.delete("");
        app.paint();
      },
    }),
    el(
      "select",
      {
        id: "shown-level",
        "data-safe": true,
        "aria-label": "Show tools with this level",
        onchange: (/** @type {Event} */ { target }) => {
          state.level = /** @type {Level | ""} */ (/** @type {HTMLSelectElement} */ (target).value);
          app.paint();
        },
      },
      el("option", { value: "" }, "any level"),
      levels,
    ),
  );
}

/**
 * @param {ReturnType<typeof familiesOf>[number]} group
 * @param {boolean} isSearch then it is open
 * @param {App} app
 */
function groupOf({ family, tools: its }, isSearch, app) {
  const count = isSearch ? (state.open.get("") ?? PAGE) : (state.open.get(family) ?? 0);
  const toggle = () => {
    if (count) state.open.delete(family);
    else state.open.set(family, PAGE);
    app.paint();
  };
  const more = () => {
    state.open.set(isSearch ? "" : family, count + PAGE);
    app.paint();
  };
  return el(
    "section",
    { key: family, "data-family": family },
    !isSearch &&
      button(
        [strange(family || "Pages", { most: 100 }), ` · ${its.length}`],
        {
          class: "fold",
          "data-safe": true,
          "data-action": "tool-family",
          "aria-expanded": String(count > 0),
        },
        toggle,
      ),
    count > 0 &&
      el(
        "ul",
        { class: "rows" },
        its.slice(0, count).map((tool) => toolRow(tool, app)),
      ),
    count > 0 &&
      its.length > count &&
      button(
        `Show more (${its.length - count})`,
        { "data-safe": true, "data-action": "more" },
        more,
      ),
  );
}

/**
 * @param {Panel.ToolShown} tool
 * @param {App} app
 */
function toolRow({ name, title, plugin, permission, effective }, app) {
  const otherwise = permission === null ? `default (${effective})` : "default";
  const isChosen = state.chosen === name;
  const set = (/** @type {Level | null} */ level) =>
    app.attempt("config.setToolPermission", { plugin, tool: name, permission: level });
  const choose = () => {
    state.chosen = isChosen ? null : name;
    openTrial(name);
    app.paint();
  };
  return el(
    "li",
    { key: name, "data-tool-row": name },
    el(
      "div",
      { class: "row" },
      button(
        [
          el("span", { class: "cut block" }, strange(title, { most: 100 })),
          strange(name, { tag: "code", className: "cut block", most: 100 }),
        ],
        {
          class: "grow plain opens",
          "data-safe": true,
          "data-action": "tool-details",
          "aria-expanded": String(isChosen),
        },
        choose,
      ),
      levelChoice(permission, otherwise, {
        "data-tool": name,
        "aria-label": `Permission of ${brief(name)}`,
        onchange: whenChosen(permission, set),
      }),
    ),
    isChosen && trial(name, app),
  );
}
