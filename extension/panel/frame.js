/** What is always in sight: the connection, what runs, the brake, notices, and the views. */

import { button, byId, el, patch, say, strange } from "./dom.js";
import { icon } from "./icons.js";
import { noConnection } from "./views/no-connection.js";
import { figure } from "./units.js";
import { bannersOf, canBeStopped, waitingOf } from "./view.js";
import { VIEWS } from "./views/all.js";

/** @type {Record<string, (attempt: Attempt) => Promise<boolean>>} */
const COMMANDS = {
  "stop-all": (attempt) => attempt("agents.stop", { stopped: true }),
  "resume-all": (attempt) => attempt("agents.stop", { stopped: false }),
  "skip-off": (attempt) => attempt("config.setSkipPermissions", { skip: false }),
};

/** @param {App} app */
export function renderFrame(app) {
  const { server, model, attempt } = app;
  const connection = byId("connection");
  say(connection, server ? "Connected" : model.problem);
  connection.title = server ? "" : model.problem;
  connection.classList.toggle("is-open", Boolean(server));
  const running = model.running.length;
  say(byId("running"), server ? `${running} running` : "");
  byId("running").classList.toggle("is-busy", running > 0);
  const waiting = waitingOf(server);
  say(byId("questions"), waiting ? ` · ${figure(waiting)} waiting` : "");
  // A problem is already displayed.
  say(byId("mismatch"), server ? model.mismatch : "");
  patch(
    byId("banner"),
    model.permissions.map((one) => permissionBanner(one, app)),
    bannersOf(model).map((one) => banner(one, attempt)),
  );
  patch(
    byId("stop"),
    canBeStopped(model) &&
      button([icon("stop"), el("span", {}, "Stop everything")], { "data-action": "stop-all" }, () =>
        COMMANDS["stop-all"](attempt),
      ),
  );
}

/**
 * @param {ReturnType<typeof bannersOf>[number]} shown
 * @param {Attempt} attempt
 */
function banner({ action, label, text }, attempt) {
  const press = () => COMMANDS[action](attempt);
  return el(
    "p",
    { key: action, class: "row banner", role: "alert" },
    icon("warning"),
    strange(text, { tag: "span", className: "grow" }),
    label && button(label, { "data-action": action }, press),
  );
}

/**
 * The browser asks only directly after a press, so nothing may be awaited before.
 * @param {WantedPermission} wanted
 * @param {App} app
 */
function permissionBanner({ name, why }, { ask }) {
  const decline = () => ask("permissions.decline", { name });
  const allow = async () => {
    const permissions = /** @type {any} */ ([name]);
    if (!(await chrome.permissions.request({ permissions }))) await decline();
  };
  return el(
    "p",
    { key: `permission-${name}`, class: "row banner", role: "alert" },
    icon("warning"),
    el("span", { class: "grow" }, `An agent wants to ${why}. Your browser has to allow it first.`),
    button("Allow in the browser", { "data-action": "permission-allow" }, allow),
    button("Not now", { "data-action": "decline" }, decline),
  );
}

// The views: tabs with a panel each.

/** @param {App} app */
export function shownView({ view, isWide }) {
  return isWide && view === "now" ? "tabs" : view;
}

/** @param {App} app */
export function renderNav(app) {
  const nav = byId("nav");
  const next = byId(app.isWide ? "view-tabs" : "notices");
  // In the order in which it is seen; nothing that comes and goes is above it in a side panel.
  if (nav.nextElementSibling !== next) next.before(nav);
  const views = VIEWS.filter(({ id }) => !app.isWide || id !== "now");
  patch(
    nav,
    views.map((view) => tab(view, app)),
  );
}

/**
 * @param {View} view
 * @param {App} app
 */
function tab({ id, label }, app) {
  const isShown = shownView(app) === id;
  return button(
    [icon(id), el("span", {}, label)],
    {
      key: id,
      id: `tab-${id}`,
      role: "tab",
      "data-view": id,
      "data-safe": true,
      "aria-selected": String(isShown),
      "aria-controls": `view-${id}`,
      tabindex: isShown ? "0" : "-1",
      onkeydown: (/** @type {KeyboardEvent} */ event) => move(event, app),
    },
    () => app.open(id),
  );
}

/** @type {Record<string, (at: number, count: number) => number>} */
const KEYS = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/**
 * @param {KeyboardEvent} event
 * @param {App} app
 */
function move(event, app) {
  const tabs = /** @type {HTMLElement[]} */ ([...byId("nav").children]);
  const at = tabs.indexOf(/** @type {HTMLElement} */ (event.currentTarget));
  const next = tabs[KEYS[event.key]?.(at, tabs.length)];
  if (!next) return;
  event.preventDefault();
  app.open(/** @type {ViewName} */ (next.dataset.view));
  next.focus();
}

/**
 * Only what is shown is rendered; the others keep what the person has entered in them.
 * @param {App} app
 */
export function renderViews(app) {
  const open = shownView(app);
  for (const view of VIEWS) {
    const place = byId(`view-${view.id}`);
    const isShown = view.id === open || (app.isWide && view.id === "now");
    const isTab = view.id !== "now" || !app.isWide;
    place.hidden = !isShown;
    place.setAttribute("role", isTab ? "tabpanel" : "region");
    place.setAttribute(isTab ? "aria-labelledby" : "aria-label", isTab ? `tab-${view.id}` : "Now");
    place.removeAttribute(isTab ? "aria-label" : "aria-labelledby");
    place.tabIndex = 0;
    if (!isShown) continue;
    // In two columns it is said once, on the left.
    const isBesides = app.isWide && view.id !== "now";
    const isMissing = !app.server && view.needsServer;
    patch(
      place,
      isMissing && !isBesides && el("div", { key: "no-connection" }, noConnection(app)),
      isMissing && isBesides && el("p", { key: "none", class: "quiet" }, "There is no connection."),
      contentOf(view, app, isMissing),
    );
  }
}

/** @type {Map<ViewName, Described>} what each view has shown last */
const contents = new Map();

/**
 * Without a connection a view is only hidden: what is half typed in it, and by what it is filtered,
 * are there again afterwards.
 * @param {View} view
 * @param {App} app
 * @param {boolean} isMissing
 */
function contentOf(view, app, isMissing) {
  if (!isMissing) contents.set(view.id, el("div", { key: "view" }, view.render(app)));
  const content = contents.get(view.id);
  return content && { ...content, attributes: { hidden: isMissing } };
}
