/** Skipping permissions: switched on only after a confirmation, off at once. */

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
