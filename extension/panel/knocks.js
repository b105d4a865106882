/** Pages that wait to be let in. */

import { button, el, strange } from "./dom.js";

/**
 * @param {PairingRequest} request
 * @param {Attempt} attempt
 */
export function pairingRow({ origin, code }, attempt) {
  const pair = (/** @type {boolean} */ allowed) => attempt("page.pair", { origin, code, allowed });
  return el(
    "li",
    { "data-knock": origin },
    el("p", {}, strange(origin, { tag: "strong" })),
    el("p", { class: "hint" }, "The page shows the code ", strange(code, { tag: "code" }), "."),
    el(
      "div",
      { class: "buttons" },
      button("Allow", { "data-action": "let-in" }, () => pair(true)),
      button("Not now", { "data-action": "keep-out" }, () => pair(false)),
    ),
  );
}
