/** One tool: what it says about itself, and a form to try it. */

import { brief, el, strange } from "../dom.js";
import { fieldsOf, readFields } from "../forms/schema-form.js";
import { count } from "../units.js";

const MOST_TEXT = 20_000;
const MOST_TABS = 100;
const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,/;

/** @typedef {{described: Panel.ToolDescribed | null, problem: string, result: Panel.ToolRan | null, isRunning: boolean}} Trial */

/** @type {Map<string, Trial>} by the name of the tool */
const trials = new Map();

/**
 * @param {string} name
 * @param {App} app
 */
export function trial(name, app) {
  const known = trials.get(name) ?? begin(name, app);
  const { described, result, isRunning, problem } = known;
  if (!described) return el("p", { key: "loading", class: "quiet" }, problem || "Loading…");
  const { description, readOnly, careful, toolsets, inputSchema, needsTab, secretArguments } =
    described;
  const facts = [
    readOnly ? "reads only" : "can change something",
    careful && "asks each time",
    toolsets?.length ? `toolset ${toolsets.join(", ")}` : "",
  ];
  const run = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!event.isTrusted || known.isRunning) return;
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    await tryOut(name, known, form, app);
  };
  return el(
    "div",
    { key: "trial", class: "card trial", "data-trial": name },
    strange(description, { tag: "p", className: "prose", most: MOST_TEXT }),
    el("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
    el(
      "form",
      { class: "fields", onsubmit: run },
      fieldsOf(inputSchema, secretArguments),
      needsTab && tabChoice(app),
      !readOnly &&
        el(
          "p",
          { class: "quiet" },
          "It acts for real, and nobody is asked: your press is the yes.",
        ),
      el(
        "button",
        { class: "primary", "data-action": "tool-run" },
        isRunning ? "Running" : readOnly ? "Run" : "Run for real",
      ),
    ),
    el("p", { class: "note", role: "alert" }, strange(problem)),
    result && resultOf(result),
  );
}

/**
 * The person opens it again: what could not be described then may be now.
 * @param {string} name
 */
export function openTrial(name) {
  if (!trials.get(name)?.described) trials.delete(name);
}

/**
 * @param {string} name
 * @param {App} app
 */
function begin(name, app) {
  /** @type {Trial} */
  const fresh = { described: null, problem: "", result: null, isRunning: false };
  trials.set(name, fresh);
  void app.ask("tool.describe", { tool: name }).then((described) => {
    if (described) fresh.described = described;
    else fresh.problem = "The server does not describe this tool.";
    app.paint();
  });
  return fresh;
}

/** @param {App} app */
function tabChoice({ server }) {
  const tabs = (server?.tabs ?? []).slice(0, MOST_TABS);
  return el(
    "label",
    { class: "field" },
    "Tab",
    el(
      "select",
      { name: "tabhub tab", "data-safe": true },
      el("option", { value: "" }, "none, or the tool's own"),
      tabs.map(({ tabId, title, url }) =>
        el("option", { key: tabId, value: tabId }, `${brief(title || url, 60)} (${tabId})`),
      ),
    ),
  );
}

/**
 * @param {string} name
 * @param {Trial} known
 * @param {HTMLFormElement} form
 * @param {App} app
 */
async function tryOut(name, known, form, app) {
  known.problem = "";
  try {
    const given = readFields(form, known.described?.inputSchema);
    const chosen = new FormData(form).get("tabhub tab");
    known.isRunning = true;
    app.paint();
    known.result = await app.ask("tool.run", {
      tool: name,
      arguments: given,
      tabId: chosen ? Number(chosen) : null,
    });
  } catch (error) {
    known.problem = /** @type {Error} */ (error).message;
  }
  known.isRunning = false;
  app.paint();
}

/** @param {Panel.ToolRan} result */
function resultOf({ isError, text, image }) {
  const isPicture = image && PICTURE.test(image);
  return el(
    "div",
    { class: isError ? "result is-error" : "result", role: "status" },
    el("p", { class: "quiet" }, isError ? "It failed:" : `${count(text.length, "character")}:`),
    strange(text, { tag: "pre", most: MOST_TEXT, attributes: { tabindex: "0" } }),
    isPicture && el("img", { src: image, alt: "The picture that the tool returned" }),
  );
}
