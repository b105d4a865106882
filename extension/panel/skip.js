/** Skipping permissions: on only after a second word, off at once. */

import { button, byId } from "./dom.js";

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
    // What it shows is what the server says, not what was pressed.
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
