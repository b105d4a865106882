/** Approvals and pairing requests: what waits for the person's decision. */

import { hold, release } from "./press-delay.js";
import { button, el, marked, strange } from "./dom.js";
import { chosenLevel, levelChoice } from "./permissions.js";
import { timeLeft, waysToAllow } from "./view.js";

const LONG = 300;
/** @type {[string, number][]} */
const ENDS = [
  ["never", 0],
  ["in an hour", 3600],
  ["in a day", 86_400],
  ["in a week", 604_800],
];

/** @typedef {(decision: Decision, scope?: Scope, seconds?: number) => Promise<Panel.ConfirmationOutcome>} Decide */

/**
 * @param {Panel.Confirmation} request
 * @param {Decide} decide
 */
export function approval(request, decide) {
  const note = el("p", { class: "note", role: "alert" });
  const duration = durations();
  const article = el(
    "article",
    { "data-confirmation": request.id, "aria-label": "Approval" },
    who(request),
    what(request),
    where(request),
    parameters(request.parameters),
    el("p", { class: "rule" }, "Asked because: ", strange(request.rule)),
    el(
      "p",
      {},
      el("time", { "data-expires": request.expiresAt }, timeLeft(request.expiresAt, Date.now())),
    ),
    el("label", { class: "row hint" }, "A yes that lasts ends ", duration),
    el("div", { class: "buttons" }, ...buttons(request, (...answer) => send(...answer))),
    note,
  );
  /** @type {(decision: Decision, scope?: Scope) => Promise<void>} */
  const send = async (decision, scope) => {
    hold(article);
    try {
      const lasts = scope !== undefined && scope !== "once";
      const seconds = lasts ? Number(duration.value) || undefined : undefined;
      const { accepted, outcome } = await decide(decision, scope, seconds);
      if (!accepted) note.textContent = `This was decided before: ${outcome}.`;
    } catch (error) {
      note.replaceChildren(strange(/** @type {Error} */ (error).message));
      release(article);
    }
  };
  return article;
}

function durations() {
  const choices = ENDS.map(([label, seconds]) => el("option", { value: seconds }, label));
  return /** @type {HTMLSelectElement} */ (el("select", { "data-ends": true }, ...choices));
}

/** @param {Panel.Confirmation} request */
function who({ client, agent }) {
  const called = agent && agent !== client ? [" calls itself ", strange(agent)] : [];
  return el("p", { class: "who" }, strange(client, { tag: "strong" }), ...called);
}

/** @param {Panel.Confirmation} request */
function what({ title, tool }) {
  return el("h3", {}, strange(title), " ", strange(tool, { tag: "code" }));
}

/** @param {Panel.Confirmation} request */
function where({ tab, origin }) {
  const place = el("p", { class: "where" });
  if (origin) place.append("on ", strange(origin, { tag: "strong", className: "address" }));
  if (!tab) return place;
  place.append(
    el("br"),
    strange(tab.title),
    el("br"),
    strange(tab.url, { tag: "span", className: "address" }),
  );
  return place;
}

/** @param {Record<string, unknown>} given */
function parameters(given) {
  const entries = Object.entries(given);
  if (!entries.length) return el("p", { class: "hint" }, "No parameters.");
  return el("dl", { "aria-label": "Parameters" }, ...entries.flatMap(parameter));
}

/** @param {[string, unknown]} entry */
function parameter([name, value]) {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value, null, 2);
  const size = text.length > LONG ? ` · ${text.length.toLocaleString()} characters` : "";
  const shown = isText ? strange(text, { tag: "pre" }) : json(text);
  // It must be focusable so that the keyboard can scroll it.
  if (size) shown.tabIndex = 0;
  return [el("dt", {}, strange(name), size), el("dd", {}, shown)];
}

/**
 * Line breaks in it are ours: JSON escapes those of its texts.
 * @param {string} text
 */
function json(text) {
  const lines = text.split("\n").map((line) => el("span", { class: "line" }, ...marked(line)));
  return el("pre", { class: "strange json" }, ...lines);
}

/**
 * @param {Panel.Confirmation} request
 * @param {(decision: Decision, scope?: Scope) => void} send
 */
function buttons(request, send) {
  const allow = waysToAllow(request).map(({ scope, label }) =>
    button(label, { "data-scope": scope }, () => send("allow", scope)),
  );
  return [...allow, button("Deny", { "data-decision": "deny" }, () => send("deny"))];
}

/**
 * @param {ParentNode} place
 * @param {number} now
 */
export function tick(place, now) {
  for (const time of place.querySelectorAll("[data-expires]")) {
    time.textContent = timeLeft(Number(time.getAttribute("data-expires")), now);
  }
}

// Pages that want to offer tools without the extension wait for pairing.

/**
 * @param {Panel.WaitingPage} request
 * @param {Attempt} attempt
 */
export function pairingRow({ origin, code, level }, attempt) {
  // Only an origin that was paired before there were levels has none.
  const choice = levelChoice(level, level ? null : "default", { "data-level": origin });
  const pair = (/** @type {boolean} */ allowed) =>
    attempt("page.pair", { origin, code, allowed, level: chosenLevel(choice) });
  return el(
    "li",
    { "data-pairing": origin },
    el("p", {}, strange(origin, { tag: "strong" })),
    el(
      "p",
      { class: "hint" },
      "Allow it only if the page shows the code ",
      strange(code, { tag: "code" }),
      ".",
    ),
    el("label", { class: "row" }, el("span", { class: "grow" }, "Calls of agents to it"), choice),
    el(
      "div",
      { class: "buttons" },
      button("Allow", { "data-action": "pair" }, () => pair(true)),
      button("Not now", { "data-action": "decline" }, () => pair(false)),
    ),
  );
}
