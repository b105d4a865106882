/** Settings: permissions, what the server is set to, and what only this panel knows. */

import { button, el, strange } from "../dom.js";
import { whenChosen } from "../forms/levels.js";
import { grants, pages, skipping } from "./permissions.js";
import { refreshing } from "./refresh.js";
import { setThumbnails, thumbnailsAreOn } from "../now/tab-strip.js";

const MOST_SHOWN = 300;

const state = {
  /** @type {Panel.ListedSetting[] | null} */
  shown: null,
  words: "",
  /** @type {Map<string, string>} what was wrong with an entered value, by its key */
  problems: new Map(),
  /** @type {string | null} the key of the setting that was saved last */
  saved: null,
};

/** What the number of a setting counts, by the end of its key. */
const UNITS = ["Seconds", "Minutes", "Hours", "Days", "Bytes"];

/** @param {App} app */
async function load(app) {
  const found = await app.askQuietly("settings.list", {});
  if (found) state.shown = found.settings;
  app.paint();
}

/** @type {View} */
export const settings = {
  id: "settings",
  label: "Settings",
  needsServer: true,
  opened: (app) => void load(app),
  changed: refreshing(load),
  render: (app) => {
    const server = /** @type {Panel.State} */ (app.server);
    return [
      grants(app),
      pages(app),
      el(
        "section",
        { "aria-labelledby": "permissions-title" },
        el("h2", { id: "permissions-title" }, "When you would be asked"),
        policy(server),
        skipping(app),
      ),
      panelSettings(app),
      state.shown && serverSettings(state.shown, app),
    ];
  },
};

/** @param {Panel.State} server */
function policy({ policyFile, unattended }) {
  return el(
    "p",
    { id: "policy", class: "quiet" },
    `While you cannot be asked, what needs your yes is ${unattended === "allow" ? "allowed" : "refused"}.`,
    policyFile && [" The policy file ", strange(policyFile), " is in force."],
  );
}

/** @param {App} app */
function panelSettings(app) {
  const change = (/** @type {Event} */ { target }) =>
    void setThumbnails(/** @type {HTMLInputElement} */ (target).checked).then(app.paint);
  return el(
    "section",
    { "aria-labelledby": "panel-settings-title" },
    el("h2", { id: "panel-settings-title" }, "This panel"),
    el(
      "label",
      { class: "row" },
      el("input", {
        id: "show-thumbnails",
        type: "checkbox",
        checked: thumbnailsAreOn(),
        onchange: change,
      }),
      "Small pictures of the tabs that agents use",
    ),
  );
}

/**
 * @param {Panel.ListedSetting[]} shown
 * @param {App} app
 */
function serverSettings(shown, app) {
  const words = state.words.toLowerCase();
  const found = shown.filter(({ key, about }) => `${key} ${about}`.toLowerCase().includes(words));
  return el(
    "section",
    { "aria-labelledby": "server-settings-title" },
    el("h2", { id: "server-settings-title" }, "The server"),
    el("input", {
      id: "setting-words",
      type: "search",
      class: "wide",
      placeholder: "Search settings",
      "aria-label": "Search settings",
      oninput: (/** @type {InputEvent} */ { target }) => {
        state.words = /** @type {HTMLInputElement} */ (target).value.trim();
        app.paint();
      },
    }),
    el(
      "ul",
      { id: "settings", class: "rows" },
      found.slice(0, MOST_SHOWN).map((setting) => settingRow(setting, app)),
    ),
  );
}

/**
 * @param {Panel.ListedSetting} setting
 * @param {App} app
 */
function settingRow(setting, app) {
  const { key, about, choices, lockedBy, type, value, waits } = setting;
  const isDefault = JSON.stringify(value) === JSON.stringify(setting.default);
  const set = async (/** @type {unknown} */ chosen) => {
    const isDone = await app.attempt("settings.set", { key, value: chosen });
    state.saved = isDone ? key : null;
    await load(app);
    return isDone;
  };
  const name = `setting-${key}`;
  const unit = type === "number" && UNITS.find((word) => key.endsWith(word));
  return el(
    "li",
    { key, class: "setting", "data-setting-row": key },
    el(
      "div",
      { class: "row" },
      el("label", { class: "grow", for: name }, strange(key, { tag: "code", most: 100 })),
      control(setting, name, set, app),
      unit && el("span", { class: "quiet" }, unit.toLowerCase()),
      !isDefault &&
        !lockedBy &&
        button("Reset", { "data-action": "setting-default", title: "Back to the default" }, () =>
          set(null),
        ),
    ),
    el("p", { class: "quiet" }, strange(about, { most: 500 })),
    el("p", { class: "saved", role: "status" }, state.saved === key && "Saved."),
    type === "list" &&
      Boolean(choices?.length) &&
      el("p", { class: "quiet" }, "Possible: ", strange(choices.join(", "), { most: 500 }), "."),
    lockedBy && el("p", { class: "quiet" }, "Set by ", strange(lockedBy, { most: 200 }), "."),
    waits && el("p", { class: "warning" }, "The server uses this after its next start."),
    el("p", { class: "note", role: "alert" }, strange(state.problems.get(key) ?? "")),
  );
}

/**
 * @param {Panel.ListedSetting} setting
 * @param {string} id
 * @param {(value: unknown) => Promise<boolean>} set
 * @param {App} app
 */
function control(setting, id, set, app) {
  const { key, type, value, choices, lockedBy } = setting;
  const locked = lockedBy ? { disabled: true, "data-locked": true } : {};
  const same = { id, ...locked };
  if (type === "boolean") {
    const take = async (/** @type {HTMLInputElement} */ input) => {
      const isDone = await set(input.checked);
      // What was refused does not stay chosen.
      if (!isDone) input.checked = value === true;
    };
    return el("input", {
      ...same,
      "data-entry": "boolean",
      type: "checkbox",
      "data-grants": true,
      checked: value === true,
      onchange: changed(key, take, app),
    });
  }
  if (type === "choice") {
    return el(
      "select",
      {
        ...same,
        "data-entry": "choice",
        value: String(value),
        onchange: whenChosen(String(value), set),
      },
      (choices ?? []).map((choice) => el("option", { value: String(choice) }, String(choice))),
    );
  }
  const kind = type === "number" ? "number" : "text";
  return el("input", {
    ...same,
    "data-entry": "text",
    type: kind,
    step: "any",
    value: textOf(value),
    size: 16,
    onchange: changed(key, (input) => set(entered(setting, input)), app),
  });
}

/** @param {unknown} value */
function textOf(value) {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * @param {Panel.ListedSetting} setting
 * @param {HTMLInputElement} input
 * @returns {unknown} null for the default
 */
function entered({ type, default: usual }, input) {
  const { value, validity } = input;
  // The value of a number's field is empty too while what stands in it is no number.
  if (validity.badInput) throw new Error("This must be a number.");
  if (value.trim() === "") {
    // A text may be empty.
    if (type === "text" && usual !== null) return value;
    input.value = textOf(usual);
    return null;
  }
  if (type === "number") return Number(value);
  return type === "list" ? listOf(value) : value;
}

/** @param {string} text */
function listOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('This must be a list in JSON, such as ["a", "b"].');
  }
}

/**
 * @param {string} key
 * @param {(input: HTMLInputElement) => unknown} take
 * @param {App} app
 */
function changed(key, take, app) {
  return (/** @type {Event} */ { target, isTrusted }) => {
    if (!isTrusted) return;
    state.problems.delete(key);
    try {
      void take(/** @type {HTMLInputElement} */ (target));
    } catch (error) {
      state.problems.set(key, /** @type {Error} */ (error).message);
      app.paint();
    }
  };
}
