/** The calls: those that run and those that have ended, the newest first. */

import { brief, button, el, strange } from "../dom.js";
import { icon } from "../icons.js";
import { ago, duration, moment, size } from "../units.js";
import { callsOf, reasonText, tabTitle } from "../view.js";

const MOST_SHOWN = 60;

/** @type {{rows: Call[], list: Element} | null} what stays while the person points at one of them */
let frozen = null;

/** @param {App} app */
export function calls(app) {
  const all = callsOf(app.model);
  // A list that has gone is not left by the pointer.
  if (!frozen?.list.isConnected) frozen = null;
  else frozen.rows = stayed(all, frozen.rows);
  const rows = frozen?.rows ?? listedOf(all);
  const waiting = newerThan(rows[0], all);
  const freeze = (/** @type {Event} */ { currentTarget }) => {
    frozen ??= { rows, list: /** @type {Element} */ (currentTarget) };
  };
  const thaw = (/** @type {MouseEvent | FocusEvent} */ { currentTarget, relatedTarget }) => {
    const list = /** @type {HTMLElement} */ (currentTarget);
    if (relatedTarget instanceof Node && list.contains(relatedTarget)) return;
    frozen = null;
    app.paint();
  };
  const stay = {
    onpointerenter: freeze,
    onpointerleave: thaw,
    onfocusin: freeze,
    onfocusout: thaw,
  };
  return el(
    "section",
    { "aria-labelledby": "calls-title" },
    el(
      "div",
      { class: "row" },
      el("h2", { id: "calls-title", class: "grow" }, "Calls"),
      el("span", { class: "quiet" }, waiting > 0 && `${waiting} newer`),
    ),
    el(
      "ol",
      { id: "calls", class: "rows", ...stay },
      rows.map((call) => callRow(call, app)),
    ),
    !rows.length && el("p", { class: "quiet" }, "No call yet."),
  );
}

/**
 * What runs is shown however many calls have come after it: it can be cancelled.
 * @param {Call[]} all
 */
function listedOf(all) {
  return all.filter(({ outcome }, index) => index < MOST_SHOWN || !outcome);
}

/**
 * Nothing moves under the pointer, but what has ended says so; what is too old to be known stays.
 * @param {Call[]} all
 * @param {Call[]} rows
 */
function stayed(all, rows) {
  const byId = new Map(all.map((call) => [call.id, call]));
  return rows.map((call) => byId.get(call.id) ?? call);
}

/**
 * @param {Call | undefined} first
 * @param {Call[]} all
 */
function newerThan(first, all) {
  const at = all.findIndex(({ id }) => id === first?.id);
  return at < 0 ? all.length : at;
}

/**
 * @param {Call} call
 * @param {App} app
 */
function callRow(call, { server, attempt, now }) {
  const { id, title, tool, client, tabId, outcome, durationMs, bytes, startedAt } = call;
  const state = outcome ?? "running";
  const place = server ? tabTitle(server, tabId) : "";
  const ran = outcome ? durationMs : startedAt && now - startedAt;
  const facts = [
    brief(reasonText(call), 60),
    // The time of a refused call is that of the question.
    ran !== undefined && outcome !== "refused" && duration(ran),
    outcome === "done" && bytes !== undefined && size(bytes),
  ].filter(Boolean);
  return el(
    "li",
    { key: id, class: `row call is-${state}`, "data-call": id, "data-outcome": state },
    el(
      "span",
      { class: "state", title: state },
      icon(state),
      el("span", { class: "unseen" }, state),
    ),
    el(
      "span",
      { class: "grow" },
      el(
        "span",
        { class: "cut block", title: brief(tool) },
        strange(title || tool, { most: 100 }),
        place && [" ", strange(place, { className: "quiet", most: 100 })],
      ),
      el(
        "span",
        { class: "cut block quiet" },
        client && strange(client, { most: 60 }),
        startedAt && [
          " · ",
          el("time", { title: moment(startedAt) }, outcome ? ago(startedAt, now) : "running"),
        ],
        facts.map((fact) => ` · ${fact}`),
      ),
    ),
    !outcome &&
      button("Cancel", { "data-action": "cancel-call", of: title || tool }, () =>
        attempt("call.cancel", { id }),
      ),
  );
}
