/** The panel: a person sees what agents do, and decides what they may do. */

import { pointAt, renderApprovals } from "./approvals.js";
import { byId, patch, strange } from "./dom.js";
import { renderFrame, renderNav, renderViews, shownView } from "./frame.js";
import { applyMessage, START, withRecent } from "./model.js";
import { WorkerPort } from "./port.js";
import { noteInput, noteScroll, restAll, restWhatMoved } from "./press-delay.js";
import { findLookedAt, watchTabs } from "./this-tab.js";
import { VIEWS } from "./views/all.js";

const TICK_MS = 1000;
/** Calls come in hundreds: what they change is shown together. */
const STREAM_MS = 100;
const FRAME_MS = 50;
const STREAM = new Set(["tool.invocationStart", "tool.invocationEnd"]);
const WIDE = matchMedia("(min-width: 880px)");

/** The moment from which on the panel has content, for measurements. */
const CONTENT = "content";
let isMeasured = false;

let model = START;
const port = new WorkerPort(receive, () => void load());

/** @type {App} */
const app = {
  get model() {
    return model;
  },
  get server() {
    return model.server;
  },
  view: named(location.hash.slice(1)) ?? "now",
  get isWide() {
    return WIDE.matches;
  },
  now: Date.now(),
  ask,
  attempt: async (method, params) => (await ask(method, params)) !== null,
  askQuietly: (method, params) => port.ask(method, params).catch(() => null),
  decide: (id, decision, scope, seconds) =>
    port.ask("confirmation.response", { id, decision, scope, seconds }),
  open,
  paint: () => paintSoon(0),
  paintNow: paint,
};

/** @param {string} name */
function named(name) {
  return VIEWS.find(({ id }) => id === name)?.id;
}

// Showing the state: once for everything that comes in a moment.

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let due = Infinity;

/** @param {number} wait */
function paintSoon(wait) {
  const at = performance.now() + wait;
  if (at >= due) return;
  due = at;
  clearTimeout(timer);
  timer = setTimeout(paintInFrame, wait);
}

/** A page that is not seen draws no frames. */
function paintInFrame() {
  let isPainted = false;
  const once = () => {
    if (!isPainted) paint();
    isPainted = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, FRAME_MS);
}

function paint() {
  due = Infinity;
  app.now = Date.now();
  renderFrame(app);
  renderApprovals(app);
  renderNav(app);
  renderViews(app);
  restWhatMoved();
  if (model.server && !isMeasured) performance.mark(CONTENT);
  isMeasured ||= model.server !== null;
}

/** @param {Model} next */
function show(next) {
  model = next;
  paintSoon(0);
}

/**
 * @template {keyof WorkerMessages} N
 * @param {N} method
 * @param {WorkerMessages[N]} params
 */
function receive(method, params) {
  const wasOpen = model.server !== null;
  model = applyMessage(model, method, params);
  if (method === "confirmation.focus") pointAt(/** @type {{id: string}} */ (params).id);
  paintSoon(STREAM.has(method) ? STREAM_MS : 0);
  if (!wasOpen && model.server) connected();
  else if (method === "state") each(({ changed }) => changed?.(app));
}

function connected() {
  void app.askQuietly("calls.recent", {}).then((recent) => {
    if (recent) show(withRecent(model, recent.calls));
  });
  each(({ opened }) => opened?.(app));
}

/** @param {(view: View) => void} act with every view that is shown */
function each(act) {
  const shown = [shownView(app), ...(app.isWide ? ["now"] : [])];
  VIEWS.filter(({ id }) => shown.includes(id)).forEach(act);
}

/** @param {ViewName} view */
function open(view) {
  app.view = view;
  history.replaceState(null, "", `#${view}`);
  each(({ opened }) => opened?.(app));
  // At once: the person waits for it.
  paint();
}

async function load() {
  const wasOpen = model.server !== null;
  // Those that still run are announced again, and what has ended meanwhile is asked for.
  model = { ...model, running: [] };
  try {
    receive("state", await port.ask("config.getState", {}));
    if (wasOpen) connected();
  } catch (error) {
    show({ ...model, server: null, problem: messageOf(error) });
  }
}

/** @type {Ask} */
async function ask(method, params) {
  showError("");
  try {
    return await port.ask(method, params);
  } catch (error) {
    showError(messageOf(error));
    return null;
  }
}

/** @param {string} text */
function showError(text) {
  patch(byId("error"), text && strange(text, { most: 1000 }));
  // It pushes everything down, or up again.
  restWhatMoved();
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

async function look() {
  const lookedAt = await findLookedAt();
  show({ ...model, lookedAt });
}

document.addEventListener("visibilitychange", () => {
  port.reportVisibility();
  paint();
  // The person sees them only now.
  restAll();
});
addEventListener("hashchange", () => open(named(location.hash.slice(1)) ?? app.view));
for (const type of ["wheel", "touchmove", "keydown"]) {
  document.addEventListener(type, noteInput, { capture: true, passive: true });
}
document.addEventListener("scroll", noteScroll, { capture: true, passive: true });
document.addEventListener("toggle", restWhatMoved, { capture: true });
new ResizeObserver(restWhatMoved).observe(document.body);
// A bar of the browser that comes or goes moves the panel as a whole.
addEventListener("resize", restAll);
WIDE.addEventListener("change", () => open(app.view));
setInterval(() => document.visibilityState === "visible" && paintSoon(0), TICK_MS);
watchTabs(() => void look());
port.connect();
void look();
