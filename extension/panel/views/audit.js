/** Audit: what was done, by agents and by the person, with filters, details and export. */

import { brief, button, el, strange } from "../dom.js";
import { icon } from "../icons.js";
import { ago, duration, figure, moment, size } from "../units.js";
import { capital, reasonText } from "../view.js";
import { filters } from "./audit-filters.js";
import { download } from "./audit-export.js";

const PAGE = 50;
const MOST_PARTS = 100;
const MOST_CLIENTS = 200;

/** @typedef {import("./audit-filters.js").Filter} Filter */

/** @type {Filter} */
const EVERYTHING = { client: null, tool: null, outcome: null, text: null, who: null };

const state = {
  filter: EVERYTHING,
  /** @type {Panel.AuditRow[] | null} */
  rows: null,
  /** @type {Panel.AuditRows["next"]} where older rows begin */
  next: null,
  /** @type {Panel.AuditRows["next"][]} where this page and the newer ones begin; null: the newest */
  pages: [null],
  /** @type {string | null} the row whose details are shown */
  chosen: null,
  /** How many requests were sent: only the answer of the last one counts. */
  asked: 0,
  progress: "",
  /** @type {Set<string>} the clients that have a token, or were in a row */
  clients: new Set(),
};

/**
 * A page may be empty although older rows fit: the server looks for half a second at a time.
 * @param {App} app
 */
async function load(app) {
  const turn = ++state.asked;
  let before = state.pages[state.pages.length - 1];
  /** @type {Panel.AuditRow[]} */
  const rows = [];
  for (let part = 0; part < MOST_PARTS; part++) {
    const limit = PAGE - rows.length;
    const found = await app.ask("audit.list", { ...state.filter, limit, before });
    if (turn !== state.asked || !found) return;
    rows.push(...found.rows);
    before = found.next;
    if (before === null || rows.length >= PAGE) break;
  }
  state.rows = rows;
  state.next = before;
  for (const { client } of rows) know(client);
  app.paint();
}

/** @param {string} client */
function know(client) {
  if (client && state.clients.size < MOST_CLIENTS) state.clients.add(client);
}

/** @param {App} app */
async function loadClients(app) {
  const found = await app.askQuietly("clients.list", {});
  for (const { name } of found?.clients ?? []) know(name);
  app.paint();
}

/** @param {App} app */
function clientsOf(app) {
  const here = (app.server?.agents ?? []).map(({ client }) => client);
  return [...new Set([...here, ...state.clients])].sort();
}

/**
 * @param {Partial<Filter>} change
 * @param {App} app
 */
function filterBy(change, app) {
  state.filter = { ...state.filter, ...change };
  state.pages = [null];
  void load(app);
}

/** @type {View} */
export const audit = {
  id: "audit",
  label: "Audit",
  needsServer: true,
  opened: (app) => {
    void loadClients(app);
    // A page that the person has turned to stays.
    if (state.pages.length === 1) void load(app);
  },
  render: (app) => [
    filters(clientsOf(app), (change) => filterBy(change, app)),
    actions(app),
    el(
      "ol",
      { id: "audit", class: "rows" },
      (state.rows ?? []).map((row) => auditRow(row, app)),
    ),
    state.rows?.length === 0 && el("p", { class: "quiet" }, "Nothing fits."),
    pager(app),
  ],
};

/**
 * @param {Panel.AuditRow} row
 * @param {App} app
 */
function auditRow(row, app) {
  const { id, time, who, client, tool, words, title, outcome, durationMs, bytes } = row;
  const isChosen = state.chosen === String(id);
  const isYou = who === "you";
  // A no of the person was done, and yet nothing that looks like success.
  const look = outcome === "done" && row.denied ? "refused" : outcome;
  const facts = [
    !isYou && brief(client || who, 60),
    brief(reasonText(row), 60),
    // The time of a refused call is that of the question.
    !isYou && outcome !== "refused" && duration(durationMs),
    bytes !== null && outcome === "done" && size(bytes),
  ].filter(Boolean);
  const choose = () => {
    state.chosen = isChosen ? null : String(id);
    app.paint();
  };
  return el(
    "li",
    { key: id, "data-row": id, "data-outcome": outcome, class: `is-${look}` },
    button(
      [
        el("span", { class: "state" }, icon(look), el("span", { class: "unseen" }, outcome)),
        el(
          "span",
          { class: "grow" },
          el(
            "span",
            { class: "two-lines" },
            strange(capital(words || title || tool), { most: 300 }),
          ),
          el(
            "span",
            { class: "cut block quiet" },
            el("time", { title: moment(time) }, ago(time, app.now)),
            facts.map((fact) => [" · ", strange(String(fact))]),
          ),
        ),
      ],
      {
        class: "row plain",
        "data-safe": true,
        "data-action": "audit-details",
        "aria-expanded": String(isChosen),
      },
      choose,
    ),
    isChosen && details(row),
  );
}

/** @param {Panel.AuditRow} row */
function details({
  time,
  who,
  tool,
  tab,
  site,
  outcome,
  reason,
  message,
  times,
  rule,
  arguments: given,
}) {
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {}, null, 2);
  /** @type {[string, string][]} */
  const facts = [
    ["When", moment(time)],
    ["Who", who],
    ["Tool", tool],
    ["Tab", tab === null || tab === undefined ? "" : String(tab)],
    ["Site", site ?? ""],
    ["Outcome", reason ? `${outcome}: ${reason}` : outcome],
    ["Message", message ?? ""],
    ["Times", times > 1 ? figure(times) : ""],
    ["Because", rule ?? ""],
  ];
  return el(
    "div",
    { class: "card" },
    el(
      "dl",
      { class: "facts" },
      facts
        .filter(([, value]) => value)
        .map(([term, value]) => [el("dt", {}, term), el("dd", {}, strange(value, { most: 500 }))]),
    ),
    strange(text, {
      tag: "pre",
      most: 20_000,
      attributes: { tabindex: "0" },
    }),
  );
}

/**
 * @param {typeof state.pages} pages
 * @param {App} app
 */
function turn(pages, app) {
  state.pages = pages;
  void load(app);
}

/** @param {App} app */
function pager(app) {
  const safe = { "data-safe": true };
  return el(
    "div",
    { class: "choices" },
    state.pages.length > 1 &&
      button("Newer", { ...safe, key: "newer", "data-action": "audit-newer" }, () =>
        turn(state.pages.slice(0, -1), app),
      ),
    state.next !== null &&
      button("Older", { ...safe, key: "older", "data-action": "audit-older" }, () =>
        turn([...state.pages, state.next], app),
      ),
  );
}

/** @param {App} app */
function actions(app) {
  const save = (/** @type {"ndjson" | "csv"} */ format) => async () => {
    await download(format, state.filter, app, (progress) => {
      state.progress = progress;
      app.paint();
    });
  };
  return el(
    "div",
    { class: "choices" },
    button(
      state.pages.length === 1 ? "Refresh" : "Newest",
      { "data-safe": true, "data-action": "audit-newest" },
      () => turn([null], app),
    ),
    button("Export NDJSON", { "data-safe": true, "data-action": "export-ndjson" }, save("ndjson")),
    button("Export CSV", { "data-safe": true, "data-action": "export-csv" }, save("csv")),
    el("span", { class: "quiet", role: "status" }, state.progress),
  );
}
