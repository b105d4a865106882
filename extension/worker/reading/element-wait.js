/** page.wait: waits until a frame has the element, frames of later documents included. */

import { onAbort, unlessAborted } from "../shared/timing.js";
import { undrawnNote } from "../debugger/awake-tabs.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { askMinting, framesOf, mainFrame, onFrame } from "../frames/frames.js";
import { watchLoads } from "../shared/tab-events.js";
import { numberOr } from "../shared/number-limits.js";
import { getTab, requireKnownSite } from "../shared/known-tabs.js";
import { awaitWords } from "../input/found-target.js";
import { findTarget } from "../input/targets.js";

const DEFAULT_MS = 10_000;
const LOOK_MS = 2000;
/** A waiting frame answers by itself; this limit is for one that does not. */
const SPARE_MS = 3000;

let nextId = 1;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */

/** @param {Context<Wire.WaitForElement>} context */
export function waitForElement(context) {
  const { find, ref } = context.input;
  return unlessDialog(context.tabId, context.signal, (ended) => {
    if (find !== undefined) return waitForWords({ ...context, signal: ended }, find);
    if (ref === undefined) return new Wait(context).run(ended);
    return unlessAborted(ended, () => waitForRef(context, ended));
  });
}

/**
 * @param {Context<Wire.WaitForElement>} context
 * @param {string} find
 */
async function waitForWords(context, find) {
  const { tabId, input, signal } = context;
  const maxMs = timeoutOf(input.timeoutMs);
  const found = await awaitWords(context, find, maxMs);
  if (!found) {
    const message = `Nothing on the page matched ${quoted(find)} within ${maxMs} ms.${undrawnNote(tabId)}`;
    throw new CommandError("timeout", message);
  }
  const named = { ref: found.ref, visible: input.visible, timeoutMs: LOOK_MS };
  return waitForRef({ ...context, input: named }, signal);
}

/** @param {unknown} ms */
const timeoutOf = (ms) => numberOr(ms, 0, DEFAULT_MS);

/**
 * For a known element, only its own document has to be asked.
 * @param {Context<Wire.WaitForElement>} context
 * @param {AbortSignal} ended
 */
async function waitForRef({ tabId, input, reach }, ended) {
  const { ref, visible, timeoutMs } = input;
  const maxMs = timeoutOf(timeoutMs);
  const id = nextId++;
  const { frame, how } = await findTarget(tabId, { ref }, reach);
  const stop = onAbort(ended, () => void frame.ask("stopWaiting", { id }).catch(() => {}));
  const body = { ...how, visible: Boolean(visible), id, maxMs };
  const found = await askMinting(frame, "wait", body, maxMs + SPARE_MS).finally(stop);
  // Something may have changed without an event.
  const element = found ?? (await askMinting(frame, "look", body, LOOK_MS));
  if (element) return { element };
  const message = `${ref} could not be seen within ${maxMs} ms.${undrawnNote(tabId)}`;
  throw new CommandError("timeout", message);
}

class Wait {
  #id = nextId++;
  #context;
  #wanted;
  #timeoutMs;
  /** @type {PromiseWithResolvers<object | null>} */
  #outcome = Promise.withResolvers();
  /** @type {Set<Frame>} */
  #watched = new Set();

  /** @param {Context<Wire.WaitForElement>} context */
  constructor(context) {
    const { selector, visible, timeoutMs } = context.input;
    this.#context = context;
    this.#wanted = { selector: String(selector), visible: Boolean(visible) };
    this.#timeoutMs = timeoutOf(timeoutMs);
  }

  /** @param {AbortSignal} ended */
  async run(ended) {
    const { tabId } = this.#context;
    const stopListening = onFrame((frame) => frame.tabId === tabId && void this.#enter(frame));
    const stopFollowing = watchLoads(tabId, ({ step }) => step === "failed" && this.#requireTab());
    const timer = setTimeout(() => this.#outcome.resolve(null), this.#timeoutMs);
    const stopHearing = onAbort(ended, (reason) => this.#outcome.reject(reason));
    try {
      void this.#begin();
      const found = await this.#outcome.promise;
      // The first frame to answer need not be the first on the page, and something may have changed
      // without an event.
      const element = (await this.#look()) ?? found;
      if (element) return { element };
      throw this.#tooLong();
    } finally {
      clearTimeout(timer);
      stopListening();
      stopFollowing();
      stopHearing();
      for (const frame of this.#watched) frame.ask("stopWaiting", { id: this.#id }).catch(() => {});
    }
  }

  /** A busy page may answer later; a protected one never does. */
  async #begin() {
    const { tabId } = this.#context;
    for (const frame of framesOf(tabId)) void this.#enter(frame);
    await mainFrame(tabId).catch((error) => {
      if (error instanceof CommandError && error.reason === "needs_person")
        this.#outcome.reject(error);
    });
  }

  #requireTab() {
    getTab(this.#context.tabId).catch((error) => this.#outcome.reject(error));
  }

  /** @param {Frame} frame */
  async #enter(frame) {
    const { tabId, site, reach } = this.#context;
    try {
      requireKnownSite(tabId, site);
      if (!reach.allows(frame)) await reach.explore(framesOf(tabId), site);
    } catch (error) {
      return this.#outcome.reject(error);
    }
    if (reach.allows(frame)) await this.#watch(frame);
  }

  /** @param {Frame} frame */
  async #watch(frame) {
    const maxMs = this.#timeoutMs + SPARE_MS;
    this.#watched.add(frame);
    try {
      const body = { ...this.#wanted, id: this.#id, maxMs };
      const found = await askMinting(frame, "wait", body, maxMs + SPARE_MS);
      if (found) this.#outcome.resolve(found);
    } catch (error) {
      // If a frame has gone, the others still have to be searched.
      const isAsked = error instanceof CommandError && error.reason === "invalid_arguments";
      if (isAsked) this.#outcome.reject(error);
    }
  }

  async #look() {
    const look = (/** @type {Frame} */ frame) =>
      askMinting(frame, "look", this.#wanted, LOOK_MS).catch(() => null);
    const { tabId, reach } = this.#context;
    const frames = framesOf(tabId).filter((frame) => reach.allows(frame));
    const found = await Promise.all(frames.map(look));
    return found.find((element) => element !== null);
  }

  #tooLong() {
    const { selector, visible } = this.#wanted;
    const what = `Nothing ${visible ? "visible " : ""}on the page matched ${selector}`;
    const note = undrawnNote(this.#context.tabId);
    return new CommandError("timeout", `${what} within ${this.#timeoutMs} ms.${note}`);
  }
}
