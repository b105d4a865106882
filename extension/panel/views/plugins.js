/** Plugins: those that there are, and how new ones are found and installed. */

import { button, el, strange } from "../dom.js";
import { icon } from "../icons.js";
import { reviewPart } from "../plugins/plugin-review.js";
import { logsPart } from "../plugins/plugin-logs.js";
import { settingsForm } from "../plugins/plugin-settings.js";
import { readinessTexts, reviewText, versionText, warningText } from "../plugins/plugin-view.js";

const MOST_SHOWN = 100;
const MOST_TABS = 20;

const state = {
  /** @type {Panel.PluginResult[] | null} what the last search has found */
  found: null,
};

/** @type {View} */
export const plugins = {
  id: "plugins",
  label: "Plugins",
  needsServer: true,
  render: (app) => {
    const server = /** @type {Panel.State} */ (app.server);
    // Older servers do not send what has failed.
    const { plugins: all, failedPlugins = [] } = server;
    return [
      el(
        "ul",
        { id: "plugins" },
        all.slice(0, MOST_SHOWN).map((plugin) => pluginRow(plugin, app)),
      ),
      all.length > MOST_SHOWN &&
        el("p", { class: "quiet" }, `${all.length - MOST_SHOWN} more: “tabhub plugin list”.`),
      !all.length && el("p", { class: "quiet" }, "No plugin is installed."),
      el("ul", { id: "failed-plugins" }, failedPlugins.map(failedRow)),
      search(app),
    ];
  },
};

/**
 * @param {Panel.PluginShown} plugin
 * @param {App} app
 */
function pluginRow(plugin, app) {
  const { name, title, folder, source, latestVersion, description } = plugin;
  const { attempt } = app;
  const server = /** @type {Panel.State} */ (app.server);
  const warning = warningText(plugin);
  const review = reviewText(plugin);
  return el(
    "li",
    { key: name, class: "card", "data-plugin": name },
    el("h3", {}, strange(title, { most: 100 }), " ", strange(name, { tag: "code", most: 100 })),
    el("p", { class: "quiet" }, strange(versionText(plugin), { most: 400 })),
    warning && el("p", { class: "warning" }, icon("warning"), " ", strange(warning)),
    reviewPart(plugin, app),
    description && el("p", {}, strange(description, { most: 400 })),
    review && el("p", { class: "quiet" }, strange(review)),
    readinessTexts(plugin, server)
      .slice(0, MOST_TABS)
      .map((text) => el("p", { class: "quiet" }, strange(text, { most: 300 }))),
    settingsForm(plugin, attempt),
    logsPart(plugin, app),
    el(
      "div",
      { class: "choices" },
      latestVersion &&
        action(`Fetch ${latestVersion}`, "plugin-update", () =>
          attempt("plugin.updateFromRegistry", { name }),
        ),
      action("Open its folder", "plugin-folder", () => attempt("folder.open", { path: folder })),
      source === "installed" &&
        action("Remove", "plugin-remove", () => attempt("plugin.remove", { name }), name),
    ),
  );
}

/**
 * @param {string} label
 * @param {string} id
 * @param {() => unknown} press
 * @param {string} [of]
 */
function action(label, id, press, of = "") {
  return button(label, { key: id, "data-action": id, of }, press);
}

/** @param {Panel.FailedPluginShown} failed */
function failedRow({ folder, message }) {
  return el(
    "li",
    { key: folder, "data-failed": folder, class: "note" },
    strange(folder, { tag: "code", most: 300 }),
    " ",
    strange(message, { most: 500 }),
  );
}

/** @param {App} app */
function search(app) {
  const { ask, attempt } = app;
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!event.isTrusted) return;
    const words = /** @type {HTMLFormElement} */ (event.currentTarget).querySelector("input");
    const found = await ask("plugin.search", { query: words?.value ?? "" });
    if (found) state.found = found.results;
    app.paint();
  };
  return el(
    "section",
    { "aria-labelledby": "plugin-search-title" },
    el("h2", { id: "plugin-search-title" }, "Find plugins in the npm registry"),
    el(
      "form",
      { class: "row search", onsubmit: submit },
      el("input", {
        id: "plugin-words",
        type: "search",
        class: "grow",
        placeholder: "Such as notes or calendar",
        "aria-label": "Find plugins in the npm registry",
      }),
      el("button", { "data-safe": true, "data-action": "plugin-search" }, "Search"),
    ),
    el(
      "ul",
      { id: "plugin-results", class: "rows" },
      (state.found ?? []).map((result) => resultRow(result, attempt)),
    ),
    el("p", { class: "quiet", role: "status" }, state.found?.length === 0 && "None was found."),
    action("Check for updates", "plugin-check", () => attempt("plugin.checkUpdates", {})),
  );
}

/**
 * @param {Panel.PluginResult} result
 * @param {Attempt} attempt
 */
function resultRow({ name, version, description }, attempt) {
  return el(
    "li",
    { key: name, class: "row", "data-result": name },
    el(
      "span",
      { class: "grow" },
      strange(name, { tag: "code", most: 100 }),
      " ",
      strange(version, { most: 40 }),
      " ",
      strange(description, { className: "quiet", most: 300 }),
    ),
    action("Install", "plugin-install", () => attempt("plugin.install", { name }), name),
  );
}
