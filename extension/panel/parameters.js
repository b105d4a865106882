/** The parameters of a call that waits: folded, with a preview, and in full when they are opened. */

import { button, el, marked, strange } from "./dom.js";
import { figure } from "./units.js";

const LONG = 300;
const TALL = 12;
/** More of a parameter is shown on request: a large one would hold up the panel. */
const MOST_TEXT = 4000;
const MOST_PREVIEW = 300;
/** What names an element for agents says nothing to a person: the headline names it. */
const REF = "ref";
/** In place of what may be a password, as in the headline. */
const DOTS = "••••••";
const LINE_END = /\r\n?|\n/g;
/** A line end that an agent types is the key Enter, which may submit what it is typed into. */
const ENTER = "↵";

/** @type {Set<string>} parameters that the person wants to see, by request and name */
const whole = new Set();

/** @param {Set<string>} waiting the requests that still wait */
export function forgetParameters(waiting) {
  for (const name of whole) if (!waiting.has(name.slice(0, name.indexOf(" ")))) whole.delete(name);
}

/**
 * @param {Panel.Confirmation} request
 * @param {App} app
 */
export function parameters(request, app) {
  const { tool, secrets = [] } = request;
  const entries = Object.entries(request.parameters);
  const name = strange(tool, { tag: "code", className: "tool", most: 100 });
  if (!entries.length) return el("p", { class: "quiet" }, name, " without parameters");
  const telling = entries.filter(([name]) => name !== REF);
  const preview = telling
    .map(([name, value]) => `${name}: ${secrets.includes(name) ? dots(value) : textOf(value)}`)
    .join(", ");
  return el(
    "details",
    { class: "parameters" },
    el("summary", {}, name, preview && previewOf(preview)),
    el(
      "dl",
      { "aria-label": "Parameters" },
      entries.map((entry) => parameter(request, entry, app)),
    ),
  );
}

/** @param {string} text */
function previewOf(text) {
  const line = text.replace(LINE_END, ENTER).replace(/\s+/g, " ");
  return strange(line, { tag: "code", className: "preview", most: MOST_PREVIEW });
}

/** @param {unknown} value */
function dots(value) {
  return typeof value === "string" && value.search(LINE_END) >= 0 ? DOTS + ENTER : DOTS;
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * @param {Panel.Confirmation} request
 * @param {[string, unknown]} entry
 * @param {App} app
 */
function parameter({ id, secrets = [] }, [name, value], app) {
  const place = `${id} ${name}`;
  const isWanted = whole.has(place);
  const show = (/** @type {string} */ label) =>
    button(label, { "data-safe": true, "data-action": "whole" }, () => {
      whole.add(place);
      app.paint();
    });
  const term = strange(name, { most: 200 });
  if (secrets.includes(name) && !isWanted) {
    return [el("dt", {}, term), el("dd", {}, el("pre", {}, dots(value)), show("Show it"))];
  }
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value, null, 2);
  const size = text.length > LONG ? ` · ${figure(text.length)} characters` : "";
  const isCut = text.length > MOST_TEXT && !isWanted;
  const most = isCut ? MOST_TEXT : Infinity;
  // It must be focusable so that the keyboard can scroll it.
  const isTall = text.split("\n", TALL).length === TALL;
  const attributes = size || isTall ? { tabindex: "0" } : {};
  const shown = isText
    ? strange(text, { tag: "pre", most, attributes })
    : json(isCut ? `${text.slice(0, most)}…` : text, attributes);
  return [el("dt", {}, term, size), el("dd", {}, shown, isCut && show("Show all of it"))];
}

/**
 * Line breaks in it are ours: JSON escapes those of its texts.
 * @param {string} text
 * @param {import("./dom.js").Attributes} attributes
 */
function json(text, attributes) {
  const lines = text
    .split("\n")
    .map((line) => el("span", { class: "line" }, marked(line, Infinity)));
  return el("pre", { class: "strange json", ...attributes }, lines);
}
