/**
 * page.drag: presses in one place and releases in another. Where the page makes it a drag of data,
 * the browser would hand it to the system, so it is caught and continued in the page.
 */

import { actAndRest, effectOf, inTurnWithTab, requireArrival } from "./act.js";
import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { send, takenTabs } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { dragData, holdAt, markedData, nextPress, pullTo, releaseAt } from "./trusted-input.js";
import { modifierBits } from "./key-strokes.js";
import { Observations } from "../shared/timing.js";
import { requireStay } from "../shared/known-tabs.js";
import { findPlace, isPoint, toCompare } from "./targets.js";
import { register } from "../shared/tab-state.js";
import { requireConfirmed } from "./asked-targets.js";
import { seek } from "./found-target.js";

const STEPS = 8;
const CAUGHT_MS = 5000;
/** Where in the viewport the start may be scrolled to, tried in order. */
const SCROLLS = [["center"], ["start"], ["end"]];
/** @type {Set<import("../shared/command-errors.js").Reason>} */
const UNSEEN = new Set(["not_visible", "covered_by"]);

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./trusted-input.js").Point} Point */
/** @typedef {import("./targets.js").Place} Place */
/** @typedef {{start: Point, end: Point}} Way */

/** @type {Map<number, Observations<"caught">>} */
const catching = new Map();

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function dragEvent(tabId, _, method, params) {
  if (method === "Input.dragIntercepted") catching.get(tabId)?.note("caught", params.data);
}

/** @param {number} tabId */
function leaveDrags(tabId) {
  void send(tabId, "Input.setInterceptDrags", { enabled: false }).catch(() => {});
}

register({
  name: "drags",
  after: ["attachments"],
  // A drag that ended with the earlier worker would go on catching the person's own drags.
  restore: () => takenTabs().forEach(leaveDrags),
  event: dragEvent,
});

/** @param {Context<Wire.Drag>} context */
export async function drag(context) {
  const modifiers = modifierBits(context.input.modifiers);
  return inTurnWithTab(context, async () => {
    const { input, found } = await withFoundEnds(context);
    const places = await findBoth({ ...context, input });
    const { frame } = places.from;
    const press = { modifiers, number: nextPress() };
    const hand = new Hand({ ...context, input }, places, press);
    /** @type {Way | undefined} */
    let path;
    const prepare = async (/** @type {AbortSignal} */ live) =>
      (path = await aimBoth(places, press.number, live));
    const carry = (/** @type {Way} */ way, /** @type {AbortSignal} */ live) =>
      hand.carry(way, live);
    const outcome = await actAndRest(context, frame, prepare, carry, true);
    if (!isPoint(input.from) || outcome.refusedBy !== undefined) requireArrival(outcome, "press");
    const effect = { ...effectOf(outcome), ...(found.length && { found }) };
    return { effect, trusted: true, path: /** @type {Way} */ (path) };
  });
}

/**
 * The ends that words name, by their refs.
 * @param {Context<Wire.Drag>} context
 */
async function withFoundEnds(context) {
  const input = { ...context.input };
  const found = [];
  for (const end of /** @type {const} */ (["from", "to"])) {
    const { find } = input[end];
    await requireConfirmed(context, input[end]);
    if (find === undefined) continue;
    const meant = await seek(context, find, "");
    input[end] = { ref: meant.ref };
    found.push(meant);
  }
  return { input, found };
}

/** @param {Context<Wire.Drag>} context */
async function findBoth(context) {
  const { tabId, input, signal } = context;
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    return { from: await findPlace(context, input.from), to: await findPlace(context, input.to) };
  });
}

/**
 * Both ends must be in view at the same time: once the start is in place, the end must be visible
 * without further scrolling.
 * @param {{from: Place, to: Place}} places
 * @param {number} press
 * @param {AbortSignal} signal
 * @returns {Promise<Way>}
 */
async function aimBoth({ from, to }, press, signal) {
  for (const scrolls of SCROLLS) {
    await to.aim(signal, { by: "nothing" });
    const start = await from.aim(signal, { scrolls, press });
    const end = await to.aim(signal, { by: "nothing", scrolls: [] }).catch(unlessUnseen);
    signal.throwIfAborted();
    if (end) return { start, end };
  }
  throw new CommandError("not_visible", "The two places cannot be seen at the same time.");
}

/** @param {unknown} error */
function unlessUnseen(error) {
  if (error instanceof CommandError && UNSEEN.has(error.reason)) return null;
  throw error;
}

/** What holds the mouse button down, or the data that is dragged. */
class Hand {
  /** @type {Observations<"caught">} */
  #seen = new Observations();
  #hasEntered = false;
  #tabId;
  #site;
  #places;
  #press;
  #target;

  /**
   * @param {Context<Wire.Drag>} context
   * @param {{from: Place, to: Place}} places
   * @param {import("./trusted-input.js").Held} press
   */
  constructor({ tabId, site, input }, places, press) {
    this.#target = toCompare(input.to);
    this.#tabId = tabId;
    this.#site = site;
    this.#places = places;
    this.#press = press;
  }

  /**
   * @param {Way} way
   * @param {AbortSignal} signal
   */
  async carry({ start, end }, signal) {
    catching.set(this.#tabId, this.#seen);
    let at = start;
    try {
      await Promise.all([
        send(this.#tabId, "Input.setInterceptDrags", { enabled: true }),
        this.#places.to.frame.ask("expectDrop", { number: this.#press.number }),
      ]);
      signal.throwIfAborted();
      await holdAt(this.#tabId, start, this.#press);
      for (at of pathOf(start, end)) {
        await this.#goTo(at);
        signal.throwIfAborted();
        requireStay(this.#tabId, this.#site);
      }
      // If it may not be released there, then where it came from.
      at = start;
      await this.#places.to.frame.ask("requireSame", this.#target);
      await this.#drop(end);
      await releaseAt(this.#tabId, end, this.#press);
    } catch (error) {
      void releaseAt(this.#tabId, at, this.#press).catch(() => {});
      throw error;
    } finally {
      leaveDrags(this.#tabId);
      catching.delete(this.#tabId);
    }
  }

  /** @param {Point} point */
  async #goTo(point) {
    const data = await this.#caught();
    if (!data) return pullTo(this.#tabId, point, this.#press);
    const type = this.#hasEntered ? "dragOver" : "dragEnter";
    this.#hasEntered = true;
    await dragData(this.#tabId, type, point, data, this.#press.modifiers);
  }

  /** The page has seen a drag begin: the browser reports it soon. */
  async #caught() {
    if (!this.#seen.has("caught") && (await this.#places.from.frame.ask("dragging", {}))) {
      await this.#seen.until(CAUGHT_MS, "caught");
    }
    const data = this.#seen.get("caught");
    return data && markedData(data, this.#press.number);
  }

  /** @param {Point} point */
  async #drop(point) {
    const data = await this.#caught();
    if (data) await dragData(this.#tabId, "drop", point, data, this.#press.modifiers);
  }
}

/**
 * The first step is long enough to start a drag, and the last point is reached twice, because some
 * pages read the position in dragover.
 * @param {Point} start
 * @param {Point} end
 * @returns {Point[]}
 */
function pathOf(start, end) {
  const at = (/** @type {number} */ part) => ({
    x: start.x + (end.x - start.x) * part,
    y: start.y + (end.y - start.y) * part,
  });
  const steps = Array.from({ length: STEPS }, (_, i) => at((i + 1) / STEPS));
  return [...steps, end];
}
