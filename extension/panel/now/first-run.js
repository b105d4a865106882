/** The first run: three steps, each with its state as it is now. */

import { copyLine } from "../copy.js";
import { button, el } from "../dom.js";
import { icon } from "../icons.js";

const SETTING = "firstRunDone";
let isDone = true;

void chrome.storage.local.get(SETTING).then((stored) => (isDone = stored[SETTING] === true));

/** @typedef {"server" | "agent" | "call"} StepId */

/** @type {Record<StepId, [toDo: string, done: string]>} */
const LABELS = {
  server: ["Finding the server", "Server found"],
  agent: ["An agent connects", "Agent connected"],
  call: ["It makes its first call", "First call made"],
};

/**
 * @param {Model} model
 * @returns {{id: StepId, isDone: boolean}[]}
 */
function stepsOf({ server, running, ended }) {
  const hasCalled = running.length + ended.length > 0;
  return [
    { id: "server", isDone: server !== null },
    { id: "agent", isDone: hasCalled || Boolean(server?.agents.length) },
    { id: "call", isDone: hasCalled },
  ];
}

/**
 * Only the step that is next turns its icon.
 * @param {Model} model
 */
export function stepList(model) {
  const steps = stepsOf(model);
  const next = steps.findIndex((step) => !step.isDone);
  return el(
    "ol",
    { class: "steps" },
    steps.map(({ id, isDone: has }, index) =>
      el(
        "li",
        { class: has ? "is-done" : "", "data-done": has },
        icon(has ? "done" : index === next ? "running" : "cancelled"),
        LABELS[id][has ? 1 : 0],
        el("span", { class: "unseen" }, has ? ": done" : ": not yet"),
      ),
    ),
  );
}

/** @param {App} app */
export function firstRun(app) {
  if (isDone) return null;
  const steps = stepsOf(app.model);
  if (steps.every((step) => step.isDone)) finish();
  const next = steps.find((step) => !step.isDone);
  const close = () => {
    finish();
    app.paint();
  };
  return el(
    "section",
    { id: "first-run", class: "card", "aria-labelledby": "first-run-title" },
    el("h2", { id: "first-run-title" }, next ? "Three steps to begin" : "Everything works"),
    stepList(app.model),
    next?.id === "agent" && [
      el("p", {}, "Run this in a terminal to see how to connect your agent:"),
      copyLine("tabhub connect"),
    ],
    next?.id === "call" && el("p", {}, "Ask your agent: “Which tabs are open in my browser?”"),
    button("Hide", { "data-safe": true, "data-action": "first-run-hide" }, close),
  );
}

function finish() {
  isDone = true;
  void chrome.storage.local.set({ [SETTING]: true });
}
