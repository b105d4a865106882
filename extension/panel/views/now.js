/** Now: which agents there are, what each looks at, and every call as it runs. */

import { brief, button, el, strange } from "../dom.js";
import { ago, count } from "../units.js";
import { agentsOf, workOf } from "../view.js";
import { calls } from "../now/calls.js";
import { firstRun } from "../now/first-run.js";
import { strip, wantThumbnails } from "../now/tab-strip.js";

/** @typedef {ReturnType<typeof agentsOf>[number]} Agent */

/** @type {View} */
export const now = {
  id: "now",
  label: "Now",
  needsServer: true,
  opened: wantThumbnails,
  changed: wantThumbnails,
  render: (app) => {
    const server = /** @type {Panel.State} */ (app.server);
    const agents = agentsOf(server);
    const work = workOf(app.model);
    return [
      firstRun(app),
      strip(app),
      el(
        "section",
        { "aria-labelledby": "agents-title" },
        el("h2", { id: "agents-title" }, "Agents"),
        el(
          "ul",
          { id: "agents", class: "rows" },
          agents.map((agent) => agentRow(agent, work.get(agent.session), app)),
        ),
        !agents.length && el("p", { class: "quiet" }, "No agent is connected."),
      ),
      calls(app),
    ];
  },
};

/**
 * @param {Agent} agent
 * @param {string | undefined} doing
 * @param {App} app
 */
function agentRow(agent, doing, { attempt, now: time }) {
  const { session, name, client, color, paused, answering, tabs, connected, lastSeen } = agent;
  const called = name === client ? null : [" ", strange(client, { className: "quiet", most: 100 })];
  const isGone = connected === false;
  const isBusy = doing !== undefined;
  const facts = [
    isGone && (lastSeen ? `away, last seen ${ago(lastSeen, time)}` : "away"),
    count(tabs.length, "tab"),
    paused && "paused",
    answering && !isBusy && "answering you",
  ];
  const act = paused ? "resume" : "pause";
  return el(
    "li",
    { key: session, "data-session": session, class: isGone ? "row is-away" : "row" },
    el("span", {
      class: isBusy ? "swatch is-busy" : "swatch",
      "data-color": color,
      title: brief(doing),
      "aria-hidden": "true",
    }),
    el(
      "span",
      { class: "grow" },
      el("span", { class: "cut block" }, strange(name, { tag: "strong", most: 100 }), called),
      el(
        "span",
        { class: "cut block quiet" },
        facts.filter(Boolean).join(" · "),
        isBusy && [" · now: ", strange(doing, { most: 100 })],
      ),
    ),
    // Who is away does nothing that could be paused.
    (!isGone || paused) &&
      button(paused ? "Resume" : "Pause", { key: act, "data-action": act, of: name }, () =>
        attempt("agent.pause", { session, paused: !paused }),
      ),
  );
}
