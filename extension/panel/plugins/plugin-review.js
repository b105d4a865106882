/** The review of a plugin: what it is, what has changed in it, its source, and the approval. */

import { button, el, strange } from "../dom.js";
import { count } from "../units.js";
import { factsOf, fileText } from "./plugin-view.js";

/** Lines that are shown at once: a press shows as many again. */
const PAGE = 300;

/**
 * @typedef {object} Review what the person has opened
 * @property {string} of which state of the plugin
 * @property {Panel.ReviewShown} shown
 * @property {Map<string, number>} lines how many changed lines of each file are shown
 * @property {Map<string, {parts: string[], next: number | null}>} sources what was read of each file
 */

/** @type {Map<string, Review>} by the plugin's name */
const reviews = new Map();

/**
 * @param {Panel.PluginShown} plugin
 * @param {App} app
 * @returns {Child} nothing for a plugin that is reviewed as it is
 */
export function reviewPart(plugin, app) {
  const { name, review, waitingVersion, version, reviewedVersion } = plugin;
  const of = JSON.stringify([review, waitingVersion, version, reviewedVersion]);
  const isOver = review === "reviewed" && !waitingVersion;
  // What was shown of an earlier state says nothing about this one.
  if (isOver || reviews.get(name)?.of !== of) reviews.delete(name);
  if (isOver) return null;
  const open = reviews.get(name);
  const show = async () => {
    const shown = await app.ask("plugin.getReview", { plugin: name });
    if (shown) reviews.set(name, { of, shown, lines: new Map(), sources: new Map() });
    app.paint();
  };
  return [
    el(
      "div",
      { class: "choices" },
      button(
        `Review ${waitingVersion ?? version}`,
        { "data-action": "plugin-review", class: "primary" },
        show,
      ),
    ),
    el("div", { "data-review": name }, open && contents(open, app)),
  ];
}

/**
 * @param {Review} review
 * @param {App} app
 */
function contents(review, app) {
  const { shown } = review;
  const facts = factsOf(shown).map(([term, text]) => [
    el("dt", {}, term),
    el("dd", {}, strange(text, { most: 1000 })),
  ]);
  return [
    el("p", {}, strange(shown.description, { most: 1000 })),
    el("dl", {}, facts),
    toolList(shown),
    shown.files.map((file) => fileRow(review, file, app)),
    el("p", {}, strange(shown.warning)),
    el("div", { class: "choices" }, approvals(shown, app.ask)),
  ];
}

/** @param {Panel.ReviewShown} shown */
function toolList({ tools }) {
  const rows = tools.map(({ name, description }) =>
    el(
      "li",
      {},
      strange(name, { tag: "code", most: 100 }),
      " ",
      strange(description, { most: 500 }),
    ),
  );
  return el("details", {}, el("summary", {}, count(tools.length, "tool")), el("ul", {}, rows));
}

/**
 * @param {Review} review
 * @param {Panel.ReviewFile} file
 * @param {App} app
 */
function fileRow(review, file, app) {
  const { name, changes, sha256 } = file;
  return el(
    "details",
    { key: name, "data-file": name },
    el("summary", {}, strange(fileText(file))),
    sha256 && el("p", { class: "quiet" }, `SHA-256 ${sha256}`),
    changes.length > 0 && diff(review, file, app),
    sha256 && source(review, name, app),
  );
}

/**
 * @param {Review} review
 * @param {Panel.ReviewFile} file
 * @param {App} app
 */
function diff({ lines }, { name, changes }, app) {
  const most = lines.get(name) ?? PAGE;
  const more = () => {
    lines.set(name, most + PAGE);
    app.paint();
  };
  return el(
    "div",
    {},
    el(
      "pre",
      { "data-changes": name, class: "diff", tabindex: "0" },
      changes.slice(0, most).map(line),
    ),
    changes.length > most &&
      button(
        `Show more (${changes.length - most} lines)`,
        { "data-safe": true, "data-action": "more-lines" },
        more,
      ),
  );
}

const SIGNS = new Map([
  ["+", "is-added"],
  ["-", "is-removed"],
  ["@", "is-place"],
]);

/** @param {string} text of a diff */
function line(text) {
  const look = SIGNS.get(text[0]) ?? "";
  return strange(text, { tag: "span", className: `line ${look}`.trim(), most: 5000 });
}

/**
 * The source, one part at a press: a whole adapter would hold up the panel.
 * @param {Review} review
 * @param {string} file
 * @param {App} app
 */
function source({ shown, sources }, file, app) {
  const known = sources.get(file);
  const read = async () => {
    const offset = known?.next ?? 0;
    const part = await app.ask("plugin.getSource", { plugin: shown.plugin, file, offset });
    if (part) sources.set(file, { parts: [...(known?.parts ?? []), part.text], next: part.next });
    app.paint();
  };
  const label = known ? "Read more" : "Read it";
  return el(
    "div",
    {},
    known &&
      el(
        "pre",
        { "data-source": file, tabindex: "0" },
        known.parts.map((part) => strange(part, { tag: "span", most: Infinity })),
      ),
    known?.next !== null &&
      button(label, { "data-safe": true, "data-action": "plugin-source" }, read),
  );
}

/**
 * Approves exactly the files that are shown: the server compares their digests.
 * @param {Panel.ReviewShown} shown
 * @param {Ask} ask
 */
function approvals({ plugin, files }, ask) {
  const sha256 = files.flatMap((file) => file.sha256 || []);
  /** @type {["ask" | "auto", string][]} */
  const levels = [
    ["ask", "Approve, and ask me about its calls"],
    ["auto", "Approve, and let its calls run"],
  ];
  return levels.map(([level, label]) =>
    button(label, { key: level, "data-approve": level }, () => {
      void ask("plugin.approve", { plugin, sha256, level });
    }),
  );
}
