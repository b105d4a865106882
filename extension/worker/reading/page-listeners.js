/**
 * Tells the content scripts which elements have listeners, where the debugger is attached already.
 * Nothing is changed in the page: its listeners are listed by the debugger, and what jQuery and
 * React know of delegated ones is looked up without side effects.
 */

import { isTaken, send, sendTo } from "../debugger/debugger.js";
import { frameIds, worldOf } from "../debugger/isolated-worlds.js";
import { framesOf, mainFrame } from "../frames/frames.js";
import { GROUP, handOver, handOverFirst } from "./element-handover.js";
import { siteOf } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";

/** Kinds, as bits; the content scripts have the same. */
const [PRESS, DRAG, DROP] = [1, 2, 4];
/** @type {[type: string, handler: string, kind: number][]} events, and their handlers in React */
const EVENTS = [
  ["click", "onClick", PRESS],
  ["dblclick", "onDoubleClick", PRESS],
  ["mousedown", "onMouseDown", PRESS],
  ["mouseup", "onMouseUp", PRESS],
  ["pointerdown", "onPointerDown", PRESS],
  ["pointerup", "onPointerUp", PRESS],
  ["touchstart", "onTouchStart", PRESS],
  ["touchend", "onTouchEnd", PRESS],
  ["dragstart", "onDragStart", DRAG],
  ["drag", "onDrag", DRAG],
  ["drop", "onDrop", DROP],
];
const KINDS = new Map(EVENTS.map(([type, , kind]) => [type, kind]));
/** React listens at its root to everything that there is. */
const TYPES_OF_ROOT = 20;
const MOST_ROOTS = 8;
const REACT_ROOT = "__reactContainer$";
const MOST_FRAMES = 8;
const MOST_DELEGATED = 200;
/** Listing more would keep the page and all other agents waiting for seconds. */
const MOST_LISTENERS = 200_000;
/** Elements with the same listeners are handed over together; that many of each are compared. */
const MOST_PLACES = 100;
const COUNT_METRIC = "JSEventListeners";
/** Listeners that a page adds later are found when it is read later. */
const AGAIN_MS = 1000;
/** Looking takes at most a twentieth of the time: the page does nothing else meanwhile. */
const REST = 20;
/** The page may have been busy with something else. */
const MOST_REST_MS = 10_000;
/** A look that has not ended by then never will. */
const MOST_LOOK_MS = 30_000;
const WAIT_MS = 300;
const ASK_MS = 300;
/** The tab's own document answers as soon as it can be read. */
const ASK_MAIN_MS = 2000;
const EVALUATE_MS = 200;
/**
 * What the page's own libraries know; runs in the page's world, where it may change nothing, not
 * even variables that an inner function would share. Where that is checked, each call of a built-in
 * function takes long, and a property next to nothing.
 * @param {string} react where React keeps the properties of an element
 * @param {typeof EVENTS} types
 * @param {number} most delegated handlers
 */
function ofLibraries(react, types, most) {
  const page = /** @type {any} */ (window);
  const jquery = page.jQuery && page.jQuery.expando ? `${page.jQuery.expando}1` : "";
  if (!react && !jquery) return null;
  const all = /** @type {any} */ (document.querySelectorAll("*"));
  const handled = [];
  const delegated = [];
  for (let i = -1; i < all.length; i++) {
    const element = i < 0 ? document : all[i];
    const props = react && element[react];
    const events = jquery && element[jquery] && element[jquery].events;
    let kind = 0;
    for (let j = 0; j < types.length && (props || events); j++) {
      if (props && props[types[j][1]]) kind |= types[j][2];
      const handlers = (events && events[types[j][0]]) || [];
      for (let k = 0; k < handlers.length && delegated.length < most; k++) {
        const selector = handlers[k].selector;
        if (selector)
          delegated[delegated.length] = { root: i, selector: `${selector}`, kind: types[j][2] };
      }
    }
    if (kind) handled[handled.length] = [i, kind];
  }
  return { total: all.length, handled, delegated };
}

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./element-handover.js").Heard} Heard */
/** @typedef {import("./element-handover.js").Place} Place */
/**
 * @typedef {object} Asked
 * @property {number} askedAt
 * @property {boolean} isRunning
 * @property {number} tookMs how long the page was kept busy
 * @property {boolean} isAtLoad
 * @property {boolean} isTooMuch whether listing would take too long, and was left out
 * @property {string} elements how many each frame had; empty if not all were reached
 * @property {Set<number>} nodes those that are known
 * @property {Promise<void>} asking
 */

/** @type {WeakMap<Frame, Asked>} by the tab's document */
const asked = new WeakMap();

/**
 * A read never attaches the debugger, and does not wait long for it: whether the page has too many
 * elements or listeners to list them may be known only when it has been read.
 * @param {Frame} main
 * @returns {Promise<{isTooMuch: boolean}>}
 */
export async function learnListeners(main) {
  if (!isTaken(main.tabId)) return { isTooMuch: false };
  const before = asked.get(main);
  await before?.asking;
  const record = before && (await isFresh(main, before)) ? before : ask(main);
  await record.asking;
  return record;
}

/**
 * Right after a page has loaded, an application may draw the rest of it.
 * @param {Frame} main
 * @param {Asked} before
 */
async function isFresh(main, before) {
  if (before.isRunning && Date.now() - before.askedAt < MOST_LOOK_MS) return true;
  if (isDue(before)) return false;
  return (
    !before.isAtLoad || `${await counted(main.tabId, "countElements", {})}` === before.elements
  );
}

/** @param {Asked} before */
function isDue({ askedAt, tookMs }) {
  return Date.now() - askedAt > Math.min(Math.max(AGAIN_MS, tookMs * REST), MOST_REST_MS);
}

/**
 * @param {number} tabId
 * @param {string} type
 * @param {object} body
 * @returns {Promise<(number | null | undefined)[]>} how many elements each frame has; null for too
 *   many, undefined for a frame that does not answer
 */
function counted(tabId, type, body) {
  const asking = framesOf(tabId).map((frame, i) =>
    frame.ask(type, body, i ? ASK_MS : ASK_MAIN_MS).catch(() => undefined),
  );
  return Promise.all(asking);
}

/**
 * @param {Frame} main
 * @param {boolean} [isAtLoad]
 */
function ask(main, isAtLoad = false) {
  const nodes = asked.get(main)?.nodes ?? new Set();
  /** @type {Asked} */
  const record = {
    askedAt: Date.now(),
    isRunning: true,
    tookMs: 0,
    isAtLoad,
    isTooMuch: false,
    elements: "",
    nodes,
    asking: Promise.resolve(),
  };
  const learning = learn(main.tabId, record).finally(() => (record.isRunning = false));
  record.asking = within(WAIT_MS, learning).catch(() => {});
  asked.set(main, record);
  return record;
}

/**
 * @param {number} tabId
 * @param {Asked} record
 */
async function learn(tabId, record) {
  const word = crypto.randomUUID();
  const [counts, hasMany] = await Promise.all([
    counted(tabId, "expectListeners", { word }),
    hasTooMany(tabId),
  ]);
  // A page as large as that would take seconds.
  record.isTooMuch = hasMany || counts.includes(null);
  // A frame that does not answer goes without; the tab's own document tells how much there is.
  if (record.isTooMuch || counts[0] === undefined) return;
  // Frames in other processes are left alone: one that has just begun may never load after this.
  if (await learnIn(tabId, undefined, word, record)) record.elements = `${counts}`;
}

/**
 * Whether the tab's process, which it may share with others, has more listeners than can be listed
 * in a moment: the debugger would send each of them, and a page can add millions.
 * @param {number} tabId
 */
async function hasTooMany(tabId) {
  // In a page that is busy the question would overtake the order.
  await send(tabId, "Performance.enable");
  const { metrics = [] } = await send(tabId, "Performance.getMetrics");
  void send(tabId, "Performance.disable").catch(() => {});
  const found = metrics.find((/** @type {{name: string}} */ { name }) => name === COUNT_METRIC);
  return found !== undefined && found.value > MOST_LISTENERS;
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} word
 * @param {Asked} record
 * @returns {Promise<boolean>} whether every frame was reached
 */
async function learnIn(tabId, session, word, record) {
  const { nodes } = record;
  const began = Date.now();
  const ofMain = session === undefined ? listenersIn(tabId, session) : null;
  ofMain?.catch(() => {}).then(() => (record.tookMs = Date.now() - began));
  const { frameTree } = await sendTo(tabId, session, "Page.getFrameTree");
  const frames = frameIds(frameTree).slice(0, MOST_FRAMES);
  const places = frames.map((frameId, i) => {
    return { tabId, session, frameId, ofMain: i === 0 ? ofMain : null, word, nodes };
  });
  const done = await Promise.allSettled(places.map(learnInFrame));
  const rest = done.map((one) => one.status === "fulfilled" && one.value?.().catch(() => {}));
  void Promise.all(rest)
    .then(() => sendTo(tabId, session, "Runtime.releaseObjectGroup", { objectGroup: GROUP }))
    .catch(() => {});
  return done.every(({ status }) => status === "fulfilled");
}

/** @typedef {{type: string, backendNodeId?: number, scriptId: string, lineNumber: number, columnNumber: number}} Listener */
/** @typedef {Listener[]} Listeners */

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {number} [contextId] of a frame; else the main one is meant
 * @returns {Promise<Listeners>}
 */
async function listenersIn(tabId, session, contextId) {
  const where = contextId === undefined ? {} : { contextId };
  // If the root were in a group of objects, each handler would be added as one, for seconds.
  const root = { expression: "document", ...where };
  const { objectId } = (await sendTo(tabId, session, "Runtime.evaluate", root)).result;
  try {
    const whole = { objectId, depth: -1, pierce: true };
    return (await sendTo(tabId, session, "DOMDebugger.getEventListeners", whole)).listeners;
  } finally {
    void sendTo(tabId, session, "Runtime.releaseObject", { objectId }).catch(() => {});
  }
}

/** @typedef {{frameId: string, ofMain: Promise<Listeners> | null}} InFrame */

/**
 * @param {Place & InFrame} place `ofMain`: the listeners of the tab's main frame, if it is that
 * @returns {Promise<(() => Promise<void>) | undefined>} hands over what is left, if there is any
 */
async function learnInFrame(place) {
  const { tabId, session, frameId, nodes, ofMain } = place;
  const world = worldOf(tabId, session, frameId);
  const listeners = await (ofMain ?? listenersIn(tabId, session, await world));
  const { heard, roots } = byNode(listeners);
  const isDelegating = listeners.some(({ type }) => KINDS.has(type));
  const delegated = isDelegating && ofMain ? delegatedIn(tabId, roots).catch(() => {}) : null;
  const fresh = heard.filter(({ id }) => !nodes.has(id));
  const contextId = await world;
  const later = fresh.length ? await handOverFirst(place, contextId, fresh) : [];
  // What listens for others has to be known before the others.
  const ofOthers = await delegated;
  if (ofOthers) await framesOf(tabId)[0]?.ask("learnListeners", ofOthers, ASK_MS);
  return later.length ? async () => void (await handOver(place, contextId, later)) : undefined;
}

/** @param {Listeners} listeners */
function byNode(listeners) {
  /** @type {Map<number, Listeners>} */
  const ofNodes = new Map();
  for (const listener of listeners) {
    if (listener.backendNodeId === undefined) continue;
    const ofNode = ofNodes.get(listener.backendNodeId);
    if (ofNode) ofNode.push(listener);
    else ofNodes.set(listener.backendNodeId, [listener]);
  }
  /** @type {Map<string, Heard[]>} */
  const groups = new Map();
  const roots = [];
  for (const [id, ofNode] of ofNodes) {
    const types = new Set(ofNode.map(({ type }) => type));
    const kind = [...types].reduce((all, type) => all | (KINDS.get(type) ?? 0), 0);
    const isRoot = types.size >= TYPES_OF_ROOT;
    if (isRoot) roots.push(id);
    if (!kind || isRoot) continue;
    const compared = ofNode.slice(0, MOST_PLACES);
    const place = compared.map((one) => [one.type, one.scriptId, one.lineNumber, one.columnNumber]);
    const alike = groups.get(`${place}`) ?? [];
    groups.set(`${place}`, alike);
    alike.push({ id, kind, alike });
  }
  return { heard: [...groups.values()].flat(), roots };
}

/**
 * @param {number} tabId
 * @param {number[]} roots nodes that listen to as much as the root of React does
 */
async function delegatedIn(tabId, roots) {
  const given = [await reactKey(tabId, roots), EVENTS, MOST_DELEGATED];
  const { result, exceptionDetails } = await sendTo(tabId, undefined, "Runtime.evaluate", {
    expression: `(${ofLibraries})(${given.map((one) => JSON.stringify(one))})`,
    throwOnSideEffect: true,
    returnByValue: true,
    timeout: EVALUATE_MS,
    silent: true,
  });
  return exceptionDetails ? null : result.value;
}

/**
 * @param {number} tabId
 * @param {number[]} roots
 * @returns {Promise<string>} where React keeps the properties of an element; empty without React
 */
async function reactKey(tabId, roots) {
  for (const backendNodeId of roots.slice(0, MOST_ROOTS)) {
    // It may have gone meanwhile.
    const names = await namesIn(tabId, backendNodeId).catch(() => []);
    const root = names.map(String).find((name) => name.startsWith(REACT_ROOT));
    if (root) return `__reactProps$${root.slice(REACT_ROOT.length)}`;
  }
  return "";
}

/**
 * @param {number} tabId
 * @param {number} backendNodeId
 * @returns {Promise<unknown[]>} the names of a node's own properties; none for a frame's
 */
async function namesIn(tabId, backendNodeId) {
  const named = { backendNodeId, objectGroup: GROUP };
  const { object } = await sendTo(tabId, undefined, "DOM.resolveNode", named);
  const { result } = await sendTo(tabId, undefined, "Runtime.callFunctionOn", {
    objectId: object.objectId,
    functionDeclaration: "function () { return window === top ? Object.keys(this) : []; }",
    throwOnSideEffect: true,
    returnByValue: true,
  });
  return Array.isArray(result.value) ? result.value : [];
}

/** @type {WeakSet<Frame>} the tabs' documents that have loaded */
const loaded = new WeakSet();

/** @param {Frame} main */
async function askAtLoad(main) {
  const before = asked.get(main);
  // An application that changes its address has loaded nothing.
  if (before && loaded.has(main) && !isDue(before)) return;
  loaded.add(main);
  await before?.asking;
  await ask(main, true).asking;
}

register({
  name: "listeners",
  // Those that a page has when it has loaded need not be handed over when it is read. An
  // application may add others right after that.
  updated: (tabId, { status }, { url }) => {
    // A new tab is blank for a moment: our scripts would be injected only to look there.
    if (status !== "complete" || !isTaken(tabId) || siteOf(url) === "") return;
    void mainFrame(tabId)
      .then((main) => askAtLoad(main))
      .catch(() => {});
  },
});
