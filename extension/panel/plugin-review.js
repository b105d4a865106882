/** The review of a plugin: what it is, what has changed in it, its source, and the approval. */

import { button, el, strange } from "./dom.js";
import { factsOf, fileText } from "./plugin-view.js";

/** @typedef {import("./render.js").Ask} Ask */

/**
 * @param {Panel.PluginShown} plugin
 * @param {Ask} ask
 * @returns {HTMLElement[]} nothing for a plugin that is reviewed as it is
 */
export function reviewPart({ name, review, waitingVersion }, ask) {
  if (review === "reviewed" && !waitingVersion) return [];
  const place = el("div", { "data-review": name });
  const show = async () => {
    const shown = await ask("plugin.getReview", { plugin: name });
    if (shown) place.replaceChildren(...contents(shown, ask));
  };
  const open = button("Review it", { "data-action": "plugin-review" }, () => void show());
  return [el("div", { class: "buttons" }, open), place];
}

/**
 * @param {Panel.ReviewShown} shown
 * @param {Ask} ask
 * @returns {HTMLElement[]}
 */
function contents(shown, ask) {
  const facts = factsOf(shown).flatMap(([term, text]) => [
    el("dt", {}, term),
    el("dd", {}, strange(text)),
  ]);
  return [
    el("p", {}, strange(shown.description)),
    el("dl", {}, ...facts),
    toolList(shown),
    ...shown.files.map((file) => fileRow(shown.plugin, file, ask)),
    el("p", {}, shown.warning),
    el("div", { class: "buttons" }, ...approvals(shown, ask)),
  ];
}

/** @param {Panel.ReviewShown} shown */
function toolList({ tools }) {
  const rows = tools.map(({ name, description }) =>
    el("li", {}, strange(name, { tag: "code" }), " ", strange(description)),
  );
  const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
  return el("details", {}, el("summary", {}, count), el("ul", {}, ...rows));
}

/**
 * @param {string} plugin
 * @param {Panel.ReviewFile} file
 * @param {Ask} ask
 */
function fileRow(plugin, file, ask) {
  const { name, changes, sha256 } = file;
  const row = el("details", { "data-file": name }, el("summary", {}, strange(fileText(file))));
  if (sha256) row.append(el("p", { class: "hint" }, `SHA-256 ${sha256}`));
  if (changes.length) row.append(el("pre", { "data-changes": name }, strange(changes.join("\n"))));
  if (sha256) row.append(sourcePart(plugin, name, ask));
  return row;
}

/**
 * The source, one part at a press: a whole adapter would hold up the panel.
 * @param {string} plugin
 * @param {string} file
 * @param {Ask} ask
 */
function sourcePart(plugin, file, ask) {
  const text = el("pre", { "data-source": file, hidden: true });
  let offset = 0;
  const read = async () => {
    const part = await ask("plugin.getSource", { plugin, file, offset });
    if (!part) return;
    text.hidden = false;
    text.append(strange(part.text, { tag: "span" }));
    if (part.next === null) more.remove();
    else offset = part.next;
  };
  const more = button("Read it", { "data-action": "plugin-source" }, () => void read());
  return el("div", {}, text, more);
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
    button(label, { "data-approve": level }, () => {
      void ask("plugin.approve", { plugin, sha256, level });
    }),
  );
}
