/** Clients: who may connect, when each was last seen, and how to connect another. */

import { copyLine } from "../copy.js";
import { button, el, strange } from "../dom.js";
import { ago, figure } from "../units.js";
import { refreshing } from "./refresh.js";

const state = {
  /** @type {Panel.ClientList | null} */
  shown: null,
  /** @type {string | null} the client whose token would be revoked: asked about first */
  asked: null,
};

/** What a word in a row means, for who points at it. */
const ABOUT = {
  main: "This is you: the secret opens everything on this server. “tabhub config rotate-secret” replaces it.",
  readOnly: "It may use only tools that change nothing.",
  toolsets: "Groups of tools: this client may use no others.",
};

/** @param {App} app */
async function load(app) {
  const shown = await app.askQuietly("clients.list", {});
  if (shown) state.shown = shown;
  app.paint();
}

/** @type {View} */
export const clients = {
  id: "clients",
  label: "Clients",
  needsServer: true,
  opened: (app) => void load(app),
  changed: refreshing(load),
  render: (app) => {
    const { shown } = state;
    if (!shown) return [el("p", { class: "quiet" }, "This server does not list its clients.")];
    return [
      el(
        "ul",
        { id: "clients", class: "rows" },
        shown.clients.map((client) => clientRow(client, app)),
      ),
      !shown.clients.length && el("p", { class: "quiet" }, "No client has a token yet."),
      el(
        "section",
        { "aria-labelledby": "connect-title" },
        el("h2", { id: "connect-title" }, "Connect an agent"),
        el(
          "dl",
          { class: "commands" },
          shown.connect.map(({ agent, command }) => [
            el("dt", { key: `name ${agent}` }, strange(agent, { most: 100 })),
            el("dd", { key: `command ${agent}` }, copyLine(command)),
          ]),
        ),
      ),
    ];
  },
};

/**
 * @param {Panel.ClientShown} client
 * @param {App} app
 */
function clientRow(
  { name, kind, created, lastSeen, sessions, toolsets, readOnly, revocable },
  app,
) {
  const isAsked = state.asked === name;
  const times = sessions > 1 ? ` ${figure(sessions)} times` : "";
  /** @type {[text: string, about?: string][]} */
  const facts = [
    [sessions ? `connected${times} now` : `last seen ${ago(lastSeen, app.now)}`],
    kind === "main"
      ? ["has the main secret", ABOUT.main]
      : [created ? `token made ${ago(created, app.now)}` : ""],
    [readOnly ? "may only read" : "", ABOUT.readOnly],
    [toolsets?.length ? `only the tools of ${toolsets.join(", ")}` : "", ABOUT.toolsets],
  ];
  const ask = (/** @type {string | null} */ asked) => {
    state.asked = asked;
    app.paint();
  };
  const revoke = async () => {
    if (await app.attempt("client.revoke", { name })) state.asked = null;
    void load(app);
  };
  return el(
    "li",
    { key: name, class: "row", "data-client-row": name },
    el("span", {
      class: `dot ${sessions ? "is-there" : ""}`,
      "aria-hidden": "true",
    }),
    el(
      "span",
      { class: "grow" },
      strange(name, { tag: "strong", className: "cut block", most: 100 }),
      el(
        "span",
        { class: "block quiet" },
        facts
          .filter(([text]) => text)
          .map(([text, about], index) => [
            index > 0 && " · ",
            strange(text, { attributes: { title: about } }),
          ]),
      ),
    ),
    revocable &&
      !isAsked &&
      button(
        "Revoke…",
        { key: "ask", "data-safe": true, "data-action": "client-ask", of: name },
        () => ask(name),
      ),
    isAsked && [
      button(
        "Revoke its token",
        { key: "revoke", "data-action": "client-revoke", class: "deny" },
        revoke,
      ),
      button("Keep", { key: "keep", "data-safe": true, "data-action": "client-keep" }, () =>
        ask(null),
      ),
    ],
  );
}
