/** What a plugin has logged. */

import { button, el, strange } from "../dom.js";
import { clock } from "../units.js";

const MOST_LINES = 200;

/** @type {Map<string, Panel.PluginLogLine[]>} by the plugin's name */
const logs = new Map();

/**
 * @param {Panel.PluginShown} plugin
 * @param {App} app
 */
export function logsPart({ name }, app) {
  const lines = logs.get(name);
  const read = async () => {
    const found = await app.ask("plugin.logs", { plugin: name });
    if (found) logs.set(name, found.lines.slice(-MOST_LINES));
    app.paint();
  };
  return el(
    "details",
    { "data-logs": name },
    el("summary", {}, "Logs"),
    button(lines ? "Refresh" : "Read", { "data-safe": true, "data-action": "plugin-logs" }, read),
    lines &&
      el(
        "pre",
        { tabindex: "0" },
        lines.map(({ time, level, text }) =>
          el(
            "span",
            { class: `line is-${level}` },
            `${clock(time)} `,
            strange(`${level} ${text}`, { tag: "span", most: 1000 }),
          ),
        ),
      ),
    lines?.length === 0 && el("p", { class: "quiet" }, "It has logged nothing."),
  );
}
