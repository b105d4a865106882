/** Approvals and pairing requests: what waits for the person's decision, above every view. */

import { hold, release } from "./press-delay.js";
import { brief, button, byId, el, patch, say, strange } from "./dom.js";
import { chosenLevel, levelChoice } from "./forms/levels.js";
import { forgetParameters, parameters } from "./parameters.js";
import { figure } from "./units.js";
import { addressParts, headline, shownOf, timeLeft, waitingOf, waysToAllow } from "./view.js";

const MOST_CARDS = 20;
/** @type {[string, number][]} */
const ENDS = [
  ["never", 0],
  ["in an hour", 3600],
  ["in a day", 86_400],
  ["in a week", 604_800],
];

/** @type {Set<string>} the cards in the page */
let cards = new Set();
/** @type {Map<string, string>} what became of a decision, by the request */
const notes = new Map();

/** @type {string | null} the request that the person wants to see, until it is shown */
let pointed = null;

/** @param {string} id */
export function pointAt(id) {
  pointed = id;
}

/** @param {App} app */
export function renderApprovals(app) {
  const requests = app.server?.confirmations ?? [];
  const knocks = app.server?.knocks ?? [];
  const shown = shownOf(requests, cards, MOST_CARDS, pointed);
  const fresh = shown.filter(({ id }) => !cards.has(id) || id === pointed);
  cards = new Set(shown.map(({ id }) => id));
  forget(requests);
  const place = byId("approvals");
  const hadFocus = place.contains(document.activeElement);
  patch(
    place,
    shown.map((request) => card(request, app)),
  );
  const more = requests.length - shown.length;
  patch(byId("approvals-more"), more > 0 && `${figure(more)} more wait.`);
  patch(
    byId("pairing"),
    knocks.map((request) => pairingRow(request, app)),
  );
  const waiting = waitingOf(app.server);
  say(byId("approvals-title"), `Waiting for you · ${figure(waiting)}`);
  byId("waiting").hidden = !waiting;
  byId("pairing-section").hidden = !knocks.length;
  if (hadFocus && document.activeElement === document.body) byId("approvals-title").focus();
  announce(fresh, requests);
  focusPointed();
}

function focusPointed() {
  const found = pointed && cardOf(pointed);
  if (!found) return;
  pointed = null;
  found.focus();
}

/** @param {string} id */
function cardOf(id) {
  return [...document.querySelectorAll("article")].find(
    ({ dataset }) => dataset.confirmation === id,
  );
}

/** @param {Panel.Confirmation[]} requests that still wait */
function forget(requests) {
  const ids = new Set(requests.map(({ id }) => id));
  for (const id of notes.keys()) if (!ids.has(id)) notes.delete(id);
  forgetParameters(ids);
  if (outlined !== null && !ids.has(outlined)) outlined = null;
}

/** @type {Panel.Confirmation[]} those that screen readers were told of last, while they wait */
let announced = [];

/**
 * @param {Panel.Confirmation[]} fresh
 * @param {Panel.Confirmation[]} requests that still wait
 */
function announce(fresh, requests) {
  const ids = new Set(requests.map(({ id }) => id));
  announced = fresh.length ? fresh : announced.filter(({ id }) => ids.has(id));
  const lines = announced.map((request) =>
    el("span", {}, strange(request.client), " asks: ", strange(headline(request)), " "),
  );
  patch(byId("status"), lines);
}

/**
 * @param {Panel.Confirmation} request
 * @param {App} app
 */
function card(request, app) {
  const { id, expiresAt, rule, why } = request;
  const [main, ...others] = waysToAllow(request);
  const answer = (/** @type {Decision} */ decision, /** @type {Scope} */ scope) =>
    void send(request, decision, scope, app);
  return el(
    "article",
    {
      key: id,
      "data-confirmation": id,
      "aria-labelledby": `question-${id}`,
      tabindex: "-1",
      ...watch(request, app),
    },
    el("h3", { id: `question-${id}` }, strange(headline(request), { most: 400 })),
    el(
      "p",
      { class: "row facts" },
      el("span", { class: "cut" }, who(request)),
      el("time", { class: "quiet" }, timeLeft(expiresAt, app.now)),
    ),
    where(request),
    parameters(request, app),
    el(
      "p",
      { class: "quiet two-lines", title: brief(rule, 300) },
      "Asked because ",
      strange(why ?? rule, { most: 300 }),
    ),
    el(
      "div",
      { class: "choices" },
      main && allowButton(main, "primary", answer),
      button("Deny", { "data-decision": "deny", class: "deny" }, () => answer("deny", "once")),
      others.length > 0 && otherWays(others, answer),
    ),
    el("p", { class: "note", role: "alert" }, strange(notes.get(id) ?? "")),
  );
}

/**
 * @param {{scope: Scope, label: string}} way
 * @param {string} look
 * @param {(decision: Decision, scope: Scope) => void} answer
 */
function allowButton({ scope, label }, look, answer) {
  return button(label, { key: scope, "data-scope": scope, class: look }, () =>
    answer("allow", scope),
  );
}

/**
 * @param {{scope: Scope, label: string}[]} ways
 * @param {(decision: Decision, scope: Scope) => void} answer
 */
function otherWays(ways, answer) {
  const ends = ENDS.map(([label, seconds]) => el("option", { value: seconds }, label));
  return el(
    "details",
    { class: "menu", "data-other-ways": true },
    el("summary", { class: "like-button" }, "Allow more…"),
    el(
      "div",
      { class: "menu-items" },
      ways.map((way) => allowButton(way, "", answer)),
      el(
        "label",
        { class: "row quiet" },
        "A yes that lasts ends ",
        el("select", { "data-ends": true }, ends),
      ),
    ),
  );
}

/**
 * @param {Panel.Confirmation} request
 * @param {Decision} decision
 * @param {Scope} scope
 * @param {App} app
 */
async function send({ id }, decision, scope, app) {
  const article = cardOf(id);
  if (!article) return;
  const ends = /** @type {HTMLSelectElement | null} */ (article.querySelector("[data-ends]"));
  const isAllowed = decision === "allow";
  const lasts = isAllowed && scope !== "once";
  const seconds = lasts ? Number(ends?.value) || undefined : undefined;
  hold(article);
  try {
    const { accepted, outcome } = await app.decide(
      id,
      decision,
      isAllowed ? scope : undefined,
      seconds,
    );
    if (!accepted) notes.set(id, `This was decided before: ${outcome}.`);
  } catch (error) {
    notes.set(id, /** @type {Error} */ (error).message);
    release(article);
  }
  app.paint();
}

// While the person looks at a card, the page outlines what it is about.

/** @type {string | null} the request whose element is outlined */
let outlined = null;

/**
 * @param {Panel.Confirmation} request
 * @param {App} app
 */
function watch({ id, hasTarget }, app) {
  if (!hasTarget) return {};
  const show = () => {
    if (outlined === id) return;
    outlined = id;
    void app.askQuietly("confirmation.outline", { id, shown: true });
  };
  const hide = (/** @type {Event & {relatedTarget?: EventTarget | null}} */ event) => {
    const article = /** @type {HTMLElement} */ (event.currentTarget);
    const isInside = event.relatedTarget instanceof Node && article.contains(event.relatedTarget);
    if (isInside || article.matches(":hover, :focus-within") || outlined !== id) return;
    outlined = null;
    void app.askQuietly("confirmation.outline", { id, shown: false });
  };
  return { onfocusin: show, onpointerenter: show, onfocusout: hide, onpointerleave: hide };
}

/** @param {Panel.Confirmation} request */
function who({ client, agent }) {
  const called = ["(calls itself “", strange(agent, { most: 100 }), "”)"];
  const isOther = agent && agent !== client;
  return [strange(client, { tag: "strong", most: 100 }), isOther && [" ", ...called]];
}

/** @param {Panel.Confirmation} request */
function where({ tab, origin }) {
  if (!tab && !origin) return null;
  const [host, rest] = addressParts(tab?.url || origin);
  return el(
    "p",
    { class: "where quiet", title: brief(host + rest, 300) },
    strange(host, { tag: "span", className: "address host", most: 300 }),
    el(
      "span",
      { class: "cut" },
      strange(rest, { tag: "span", className: "address", most: 500 }),
      tab && [" ", strange(tab.title, { most: 200 })],
    ),
  );
}

// Pages that want to offer tools without the extension wait for pairing.

/**
 * @param {Panel.WaitingPage} request
 * @param {App} app
 */
function pairingRow({ origin, code, level }, { attempt }) {
  // Only an origin that was paired before there were levels has none.
  const choice = levelChoice(level, level ? null : "default", { "data-level": origin });
  const pair = (/** @type {MouseEvent} */ event, /** @type {boolean} */ allowed) => {
    const row = /** @type {HTMLElement} */ (event.currentTarget).closest("li");
    const select = /** @type {HTMLSelectElement} */ (row?.querySelector("select"));
    void attempt("page.pair", { origin, code, allowed, level: chosenLevel(select) });
  };
  return el(
    "li",
    { key: code, "data-pairing": origin },
    el("p", {}, strange(origin, { tag: "strong" })),
    el(
      "p",
      { class: "quiet" },
      "Allow it only if the page shows the code ",
      strange(code, { tag: "code" }),
      ".",
    ),
    el("label", { class: "row" }, el("span", { class: "grow" }, "Calls of agents to it"), choice),
    el(
      "div",
      { class: "choices" },
      button("Allow", { "data-action": "pair", class: "primary" }, (event) => pair(event, true)),
      button("Not now", { "data-action": "decline" }, (event) => pair(event, false)),
    ),
  );
}
