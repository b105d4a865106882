/** Where a person pairs this extension with the server, if tabhub has not done it. */

import { pairByCode } from "./code-pairing.js";
import { copyLine } from "../copy.js";
import { button, el, strange } from "../dom.js";

const FORM = "pairing-form";

/** What is shown: nothing yet, a code, or what the server has sent after it was confirmed. */
let code = "";
let problem = "";
/** @type {import("./code-pairing.js").Pairing | null} */
let confirmed = null;
/** @type {AbortController | null} */
let running = null;

/**
 * @param {() => void} saved
 * @param {() => void} paint
 */
export function serverForm(saved, paint) {
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const secret = inputOf(/** @type {HTMLFormElement} */ (event.currentTarget), "secret");
    await chrome.storage.local.set({ port: portOf(), secret: secret.value.trim() });
    saved();
  };
  return el(
    "form",
    { id: FORM, onsubmit: submit },
    el(
      "label",
      {},
      "Port ",
      el("input", {
        name: "port",
        type: "number",
        min: 1,
        max: 65535,
        value: "9515",
        required: true,
      }),
    ),
    codePart(saved, paint),
    el(
      "details",
      {},
      el("summary", {}, "Enter the secret instead"),
      el(
        "p",
        { class: "quiet" },
        "Enter what ",
        el("code", {}, "tabhub config show --show-secret"),
        " prints.",
      ),
      el(
        "label",
        {},
        "Secret ",
        el("input", {
          name: "secret",
          type: "password",
          autocomplete: "off",
          pattern: ".*\\S.*",
          required: true,
        }),
      ),
      el("button", { "data-safe": true, "data-action": "server-save" }, "Save"),
    ),
  );
}

/**
 * @param {() => void} saved
 * @param {() => void} paint
 */
function codePart(saved, paint) {
  const begin = () => void ask(paint);
  const connect = async () => {
    if (confirmed) await chrome.storage.local.set(confirmed);
    stop();
    saved();
  };
  const cancel = () => {
    stop();
    paint();
  };
  return el(
    "div",
    { id: "code-pairing", role: "status" },
    !running &&
      button(
        "Pair with a code",
        { class: "primary", "data-safe": true, "data-action": "pairing-begin" },
        begin,
      ),
    problem && el("p", { class: "note", role: "alert" }, strange(problem)),
    code &&
      !confirmed && [
        el("p", {}, "The code is ", el("strong", { id: "pairing-code" }, code), ". In a terminal:"),
        copyLine(`tabhub extension pair ${code}`),
      ],
    confirmed &&
      el(
        "p",
        {},
        `The server has taken the code ${code}. Press Connect only if you have just given it to `,
        el("code", {}, "tabhub"),
        " in a terminal.",
      ),
    confirmed && button("Connect", { "data-action": "pairing-accept" }, connect),
    running && button("Cancel", { "data-safe": true, "data-action": "pairing-cancel" }, cancel),
  );
}

/** @param {() => void} paint */
async function ask(paint) {
  stop();
  const port = portOf();
  const controller = (running = new AbortController());
  const show = (/** @type {string} */ found) => {
    code = found;
    paint();
  };
  try {
    if (!Number.isInteger(port)) throw new Error("Enter the port of the server.");
    const pairing = await pairByCode(port, show, controller.signal);
    if (running === controller) confirmed = pairing;
  } catch (error) {
    if (running !== controller) return;
    stop();
    problem = /** @type {Error} */ (error).message;
  }
  paint();
}

function stop() {
  running?.abort();
  running = confirmed = null;
  code = problem = "";
}

function portOf() {
  const form = /** @type {HTMLFormElement} */ (document.getElementById(FORM));
  return inputOf(form, "port").valueAsNumber;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function inputOf(form, name) {
  return /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
}
