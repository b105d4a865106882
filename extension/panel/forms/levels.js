/** The choice of a level: whether a call runs, is asked about, or is refused. */

import { el } from "../dom.js";

/** @typedef {Panel.ToolShown["effective"]} Level */

const LEVELS = [
  ["off", "off"],
  ["ask", "ask"],
  ["auto", "auto"],
];

/**
 * @param {Level | null} level
 * @param {string | null} otherwise what stands for no level, if that can be chosen
 * @param {import("../dom.js").Attributes} attributes
 */
export function levelChoice(level, otherwise, attributes) {
  return el(
    "select",
    { ...attributes, value: level ?? "" },
    otherwise !== null && el("option", { value: "" }, otherwise),
    LEVELS.map(([value, label]) => el("option", { value }, label)),
  );
}

/** @param {HTMLSelectElement} choice */
export const chosenLevel = ({ value }) => /** @type {Level | ""} */ (value) || null;

/**
 * What to do when the person chooses; what was not accepted is taken back.
 * @template {string} T
 * @param {T | null} before
 * @param {(chosen: T | null) => Promise<boolean>} set
 */
export function whenChosen(before, set) {
  return async (/** @type {Event} */ { isTrusted, currentTarget }) => {
    const choice = /** @type {HTMLSelectElement} */ (currentTarget);
    const isDone = isTrusted && (await set(/** @type {T | ""} */ (choice.value) || null));
    if (!isDone) choice.value = before ?? "";
  };
}
