/** A command that the person copies into a terminal. */

import { button, el, strange } from "./dom.js";
import { icon } from "./icons.js";

const SAID_MS = 2000;

/** @param {string} command */
export function copyLine(command) {
  return el(
    "div",
    { class: "command row", "data-command": command },
    strange(command, { tag: "code", className: "grow", attributes: { tabindex: "0" } }),
    button(
      [icon("copy"), el("span", { class: "unseen" }, "Copy the command")],
      { class: "plain", "data-safe": true, "data-action": "copy", title: "Copy" },
      ({ currentTarget }) => void copy(command, /** @type {HTMLElement} */ (currentTarget)),
    ),
  );
}

/**
 * @param {string} command
 * @param {HTMLElement} pressed
 */
async function copy(command, pressed) {
  try {
    await navigator.clipboard.writeText(command);
    pressed.title = "Copied";
  } catch {
    pressed.title = "It could not be copied";
  }
  pressed.classList.add("is-done");
  setTimeout(() => pressed.classList.remove("is-done"), SAID_MS);
}
