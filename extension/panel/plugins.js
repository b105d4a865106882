/** The plugins that there are, their settings, and how new ones are found and installed. */

import { button, byId, el, fill, strange } from "./dom.js";
import { reviewPart } from "./plugin-review.js";
import { addressesOf, readinessTexts, reviewText, versionText } from "./plugin-view.js";

/** @typedef {import("./render.js").Ask} Ask */

/**
 * @param {Panel.PluginShown} plugin
 * @param {Attempt} attempt
 * @param {Ask} ask
 */
export function pluginRow(plugin, attempt, ask) {
  const { name, title, folder, source, latestVersion } = plugin;
  const act = /** @type {[string, string, () => void][]} */ ([
    ["Open its folder", "plugin-folder", () => void attempt("folder.open", { path: folder })],
  ]);
  if (latestVersion) {
    const update = () => void attempt("plugin.updateFromRegistry", { name });
    act.unshift([`Fetch ${latestVersion}`, "plugin-update", update]);
  }
  if (source === "installed") {
    act.push(["Remove", "plugin-remove", () => void attempt("plugin.remove", { name })]);
  }
  return el(
    "li",
    { class: "card", "data-plugin": name },
    el("h3", {}, strange(title), " ", strange(name, { tag: "code" })),
    el("p", { class: "hint" }, strange(versionText(plugin))),
    el("p", {}, strange(reviewText(plugin))),
    ...reviewPart(plugin, ask),
    ...readinessTexts(plugin).map((text) => el("p", { class: "hint" }, strange(text))),
    ...settingsForm(plugin, attempt),
    el("div", { class: "buttons" }, ...act.map(([label, id, press]) => action(label, id, press))),
  );
}

/**
 * @param {string} label
 * @param {string} id
 * @param {() => void} press
 */
function action(label, id, press) {
  return button(label, { "data-action": id }, press);
}

/**
 * @param {Panel.FailedPluginShown} failed
 */
export function failedRow({ folder, message }) {
  return el(
    "li",
    { "data-failed": folder },
    strange(folder, { tag: "code" }),
    " ",
    strange(message),
  );
}

/**
 * The form for a plugin's settings; their values never come from the server.
 * @param {Panel.PluginShown} plugin
 * @param {Attempt} attempt
 */
function settingsForm({ name, settings }, attempt) {
  if (!settings.length) return [];
  const fields = settings.map(field);
  const save = () => {
    const given = fields.map(({ key, value }) => [key, value()]);
    const changed = given.filter(([, value]) => value !== undefined);
    void attempt("config.setPluginSettings", {
      plugin: name,
      settings: Object.fromEntries(changed),
    });
  };
  const hint = "Pages that it runs in can read these. An empty field stays as it is.";
  return [
    el(
      "details",
      { "data-settings": name },
      el("summary", {}, "Settings"),
      el("p", { class: "hint" }, hint),
      ...fields.map(({ row }) => row),
      el("div", { class: "buttons" }, action("Save", "plugin-save", save)),
    ),
  ];
}

/** @param {Panel.SettingShown} setting */
function field(setting) {
  const { key, label, description, required, isSet } = setting;
  const input = control(setting);
  const state = isSet ? "set" : required ? "required" : "not set";
  const remove = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  const row = el(
    "div",
    { "data-setting": key },
    el("label", {}, strange(label), ` (${state}) `, input),
    ...(description ? [el("p", { class: "hint" }, strange(description))] : []),
    ...(isSet && !required ? [el("label", { class: "hint" }, remove, " remove it")] : []),
  );
  return { key, row, value: () => (remove.checked ? null : valueOf(setting, input.value.trim())) };
}

/**
 * @param {Panel.SettingShown} setting
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
function control({ type, options }) {
  if (type === "boolean" || type === "select") {
    const words = type === "boolean" ? ["yes", "no"] : options;
    const choice = /** @type {HTMLSelectElement} */ (el("select"));
    choice.append(new Option("", ""), ...words.map((word) => new Option(word)));
    return choice;
  }
  const kinds = { string: "password", number: "number", url: "text" };
  const hint = type === "url" ? "https://… or name=https://… name=https://…" : "";
  const attributes = { type: kinds[type], placeholder: hint, autocomplete: "off", step: "any" };
  return /** @type {HTMLInputElement} */ (el("input", attributes));
}

/**
 * @param {Panel.SettingShown} setting
 * @param {string} text
 * @returns {unknown} undefined: nothing was entered
 */
function valueOf({ type }, text) {
  if (!text) return undefined;
  if (type === "number") return Number(text);
  if (type === "boolean") return text === "yes";
  return type === "url" ? addressesOf(text) : text;
}

/**
 * Makes the search for new plugins work.
 * @param {Ask} ask
 * @param {Attempt} attempt
 */
export function readyPluginSearch(ask, attempt) {
  const words = /** @type {HTMLInputElement} */ (byId("plugin-words"));
  const search = async () => {
    const found = await ask("plugin.search", { query: words.value });
    if (!found) return;
    fill(byId("plugin-results"), found.results, "name", (result) => resultRow(result, attempt));
    byId("plugin-none").hidden = found.results.length > 0;
  };
  words.addEventListener("keydown", ({ key, isTrusted }) => {
    if (isTrusted && key === "Enter") void search();
  });
  byId("plugin-search").append(
    action("Search", "plugin-search", search),
    action("Check for updates", "plugin-check", () => void attempt("plugin.checkUpdates", {})),
  );
}

/**
 * @param {Panel.PluginResult} result
 * @param {Attempt} attempt
 */
function resultRow({ name, version, description }, attempt) {
  const install = () => void attempt("plugin.install", { name });
  const text = el("span", { class: "grow" }, strange(name, { tag: "code" }), ` ${version} `);
  text.append(strange(description));
  return el(
    "li",
    { class: "row", "data-result": name },
    text,
    action("Install", "plugin-install", install),
  );
}
