/** The form for a plugin's settings; their values never come from the server. */

import { brief, button, el, strange } from "../dom.js";
import { addressesOf } from "./plugin-view.js";

const HINT = "Pages that it runs in can read these. An empty field stays as it is.";

/**
 * @param {Panel.PluginShown} plugin
 * @param {Attempt} attempt
 */
export function settingsForm({ name, settings }, attempt) {
  if (!settings.length) return null;
  const save = async (/** @type {MouseEvent} */ { currentTarget }) => {
    const form = /** @type {HTMLElement} */ (currentTarget).closest("details");
    const given = settings.map((setting) => [setting.key, entered(form, setting)]);
    const changed = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const isSaved = await attempt("config.setPluginSettings", { plugin: name, settings: changed });
    if (isSaved) clear(form);
  };
  return el(
    "details",
    { "data-settings": name },
    el("summary", {}, "Settings"),
    el("p", { class: "quiet" }, HINT),
    settings.map(field),
    el(
      "div",
      { class: "choices" },
      button("Save", { "data-action": "plugin-save" }, (event) => void save(event)),
    ),
  );
}

/** @param {Panel.SettingShown} setting */
function field(setting) {
  const { key, label, description, required, isSet } = setting;
  const state = isSet ? "set" : required ? "required" : "not set";
  return el(
    "div",
    { key, class: "field", "data-setting": key },
    el("label", {}, strange(label, { most: 100 }), ` (${state}) `, control(setting)),
    description && el("p", { class: "quiet" }, strange(description, { most: 500 })),
    isSet &&
      !required &&
      el(
        "label",
        { class: "quiet" },
        el("input", { type: "checkbox", "data-remove": true }),
        " remove it",
      ),
  );
}

/** @param {Panel.SettingShown} setting */
function control({ type, options }) {
  if (type === "boolean" || type === "select") {
    const words = type === "boolean" ? ["yes", "no"] : options;
    return el(
      "select",
      { "data-safe": true, "data-value": true },
      ["", ...words].map((word) => el("option", { value: word }, brief(word))),
    );
  }
  const kinds = { string: "password", number: "number", url: "text" };
  const hint = type === "url" ? "https://… or name=https://… name=https://…" : "";
  return el("input", {
    type: kinds[type],
    placeholder: hint,
    autocomplete: "off",
    step: "any",
    "data-value": true,
  });
}

/**
 * @param {Element | null} form
 * @param {Panel.SettingShown} setting
 */
function entered(form, setting) {
  const rows = [...(form?.querySelectorAll("[data-setting]") ?? [])];
  const row = rows.find((one) => one.getAttribute("data-setting") === setting.key);
  const remove = /** @type {HTMLInputElement | null} */ (row?.querySelector("[data-remove]"));
  const input = /** @type {HTMLInputElement | null} */ (row?.querySelector("[data-value]"));
  return remove?.checked ? null : valueOf(setting, input?.value.trim() ?? "");
}

/**
 * What was saved may be a secret: it does not stay in the page.
 * @param {Element | null} form
 */
function clear(form) {
  for (const input of form?.querySelectorAll("[data-value]") ?? []) {
    /** @type {HTMLInputElement} */ (input).value = "";
  }
  for (const box of form?.querySelectorAll("[data-remove]") ?? []) {
    /** @type {HTMLInputElement} */ (box).checked = false;
  }
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
