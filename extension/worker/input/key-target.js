/** Which frame keys are meant for, and whether they arrive there. */

import { askMinting, framesOf, lateSites, mainFrame } from "../frames/frames.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { lastActed } from "./act.js";
import { focusedDocument } from "./hand.js";
import { SHIFT } from "./key-strokes.js";

/** A frame that takes the focus again and again keeps keys from arriving. */
const MOST_TRIES = 4;
const LOOK_MS = 500;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./key-strokes.js").Stroke} Stroke */
/** @typedef {string | Stroke} Piece a string is to be inserted */

/**
 * For keys without a target: the frame that has the focus, unless it has taken it from the one in
 * which the agent acted last. Frames of one site may move the focus between them.
 * @param {number} tabId
 * @returns {Promise<Frame>}
 */
export async function meantFrame(tabId) {
  const focused = await focusedFrame(tabId);
  const last = lastActed(tabId) ?? (await mainFrame(tabId));
  if (focused === last || focused.site === last.site) return focused;
  if (await last.ask("regainField", {})) return last;
  throw await taken(tabId, "Click the field first: the focus is in a frame of another site.", 0);
}

/**
 * The same, without moving the focus, also while the tab is not in front.
 * @param {number} tabId
 * @returns {Promise<Frame>}
 */
export async function receivingFrame(tabId) {
  const focused = await focusedDocument(tabId);
  const last = lastActed(tabId) ?? (await mainFrame(tabId));
  if (focused === last || focused.site === last.site) return focused;
  return (await last.ask("hasField", {})) ? last : focused;
}

/**
 * @param {number} tabId
 * @returns {Promise<Frame>}
 */
async function focusedFrame(tabId) {
  const main = await mainFrame(tabId);
  if (await main.ask("focused", {})) return main;
  const others = framesOf(tabId).filter((frame) => frame !== main);
  const found = others.map((frame) => frame.ask("focused", {}).catch(() => false));
  return others[(await Promise.all(found)).indexOf(true)] ?? main;
}

/**
 * Whether the field that had the focus last is a sensitive one, in any frame: what was meant for it
 * may have gone elsewhere.
 * @param {number} tabId
 */
export async function isSecretMeant(tabId) {
  const asked = framesOf(tabId).map((frame) => frame.ask("wasSecret", {}, LOOK_MS));
  return (await Promise.allSettled(asked)).some(isSecret);
}

/**
 * A frame that does not answer may have such a field.
 * @param {PromiseSettledResult<boolean>} answer
 */
function isSecret(answer) {
  if ("value" in answer) return answer.value;
  return answer.reason instanceof CommandError && answer.reason.reason === "timeout";
}

/**
 * @param {number} tabId
 * @param {string} why
 * @param {number} typed
 */
async function taken(tabId, why, typed) {
  const what = typed ? `${typed} keys were typed, the rest was not` : "Nothing was typed";
  const main = await mainFrame(tabId);
  const on = await askMinting(main, "where", { isNow: true }, LOOK_MS).catch(() => "");
  const which = on ? ` (${quoted(on)})` : "";
  const data = { coveredBy: "another frame", typed };
  return new CommandError(
    "covered_by",
    `Another frame${which} has the focus. ${what}. ${why}`,
    data,
  );
}

export function blocked() {
  const message = "The focus is in a frame where this tool is not allowed: no more keys were sent.";
  return new CommandError("navigated_away", message);
}

/**
 * @param {number} tabId
 * @param {number} typed
 */
function unsafe(tabId, typed) {
  const message =
    "A frame of another site could read the keys, and what has the focus is no field for text.";
  return taken(tabId, message, typed);
}

/** Sends the keys of one call, and makes sure that each of them arrives. */
export class KeyTarget {
  /** How many characters and other keys have arrived, in all frames. */
  typed = 0;
  hasWritten = false;
  #arrived = 0;
  #hand;
  #reach;

  /**
   * @param {import("./hand.js").Handed} context
   * @param {Frame} frame which expects keys already
   */
  constructor({ hand, reach }, frame) {
    this.#hand = hand;
    this.#reach = reach;
    this.frame = frame;
  }

  /** Whether no other frame could receive keys, and nothing has to be asked. */
  get #isAlone() {
    return !this.#hand.trusted || framesOf(this.frame.tabId).length <= 1;
  }

  /** Frames whose page has removed our listeners could read keys that are not meant for them. */
  get #isSafe() {
    const { tabId, site } = this.frame;
    return !this.#hand.trusted || [...lateSites(tabId)].every((one) => one === site);
  }

  /**
   * Sends one piece: as a key, unless another frame could read it; then its text is inserted.
   * @param {Piece} piece
   * @param {{isText?: boolean, isLast: boolean}} how isText: what has the focus is a field for text
   */
  async send(piece, { isText, isLast }) {
    for (let tries = 1; ; tries++) {
      const text = typeof piece === "string" || !this.#isSafe ? textOf(piece) : undefined;
      if (text !== undefined && !isText) throw await unsafe(this.frame.tabId, this.typed);
      if (text !== undefined) return this.#write(text);
      if (await this.#struck(/** @type {Stroke} */ (piece), isLast)) return;
      const why = "A frame that takes the focus again and again is in the way.";
      if (tries === MOST_TRIES || !(await this.#regain()))
        throw await taken(this.frame.tabId, why, this.typed);
    }
  }

  /**
   * @param {unknown} error
   * @returns {unknown} the same, and how much had been typed
   */
  counted(error) {
    if (error instanceof CommandError) error.data = { ...error.data, typed: this.typed };
    return error;
  }

  /** @param {string} text */
  async #write(text) {
    await this.#hand.write(this.frame, text);
    this.typed += [...text].length;
    this.hasWritten = true;
  }

  /**
   * @param {Stroke} stroke
   * @param {boolean} isLast
   * @returns {Promise<boolean>} whether it has arrived
   */
  async #struck(stroke, isLast) {
    await this.#hand.strike(this.frame, stroke);
    const state = this.#isAlone ? undefined : await this.#state(isLast);
    if (state?.keys === this.#arrived && !isModifier(stroke)) return false;
    this.typed++;
    if (state) this.#arrived = state.keys;
    if (state?.isHere === false && !isLast) await this.#follow();
    return true;
  }

  /**
   * @param {boolean} isLast the last key may have made the page navigate
   * @returns {Promise<{keys: number, isHere: boolean} | undefined>}
   */
  async #state(isLast) {
    return this.frame.ask("keys", {}).catch((error) => {
      if (!isLast) throw error;
    });
  }

  /** The focus is in another frame now, for the next key. */
  async #follow() {
    const next = await focusedFrame(this.frame.tabId);
    if (!this.#reach.allows(next)) throw blocked();
    if (next.site !== this.frame.site) {
      if (await this.#regain()) return;
      const why = "It is of another site: click the field there.";
      throw await taken(this.frame.tabId, why, this.typed);
    }
    await this.stop();
    await next.ask("expectKeys", {});
    this.frame = next;
    this.#arrived = 0;
  }

  /** @returns {Promise<boolean>} */
  #regain() {
    return this.frame.ask("regain", {});
  }

  /** The frame refuses keys again. */
  async stop() {
    await this.frame.ask("refuseKeys", {}).catch(() => {});
  }
}

/**
 * @param {Piece} piece
 * @returns {string | undefined} what it writes, other than a new line
 */
function textOf(piece) {
  if (typeof piece === "string") return piece;
  const isCommand = (piece.modifiers & ~SHIFT) !== 0;
  return isCommand || piece.key.key === "Enter" ? undefined : piece.key.text;
}

/** @param {Stroke} stroke */
function isModifier({ key }) {
  return /^(?:Control|Alt|Shift|Meta)$/.test(key.key);
}
