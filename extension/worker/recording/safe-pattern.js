/**
 * Regular expressions that cannot hang. An agent's expression is searched for in a page's text, and
 * with some pairs JavaScript's own matcher would take forever. This one follows all paths through
 * the expression at once, so its time is at most proportional to expression times text. It supports
 * JavaScript's syntax except lookaround and backreferences.
 */

import { CommandError } from "../shared/command-errors.js";

const MOST_CHARS = 1000;
const MOST_STATES = 5000;
const MOST_MS = 2000;
const PLAIN = /^[^()*+?{}[\]^$\\.]*$/;
const ATOM =
  /\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|p\{[^}]*\}|P\{[^}]*\}|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;
const REPEAT = /(?:\*|\+|\?|\{(\d+)(,(\d*))?\})\??/y;
const GROUP = /\((?:\?(?::|<[A-Za-z_$][\w$]*>))?/y;
const WORD = /\w/;

/**
 * A state of the machine: it takes a character, checks a position, or branches.
 * @typedef {object} State
 * @property {((char: string) => boolean) | null} takes
 * @property {((before: string, after: string) => boolean) | null} holds
 * @property {State[]} next
 * @property {number} mark the last round it was in
 */

/** @typedef {(next: State) => State} Build builds the states that lead to a state */

/**
 * @param {string} source
 * @returns {(text: string) => boolean}
 */
export function matcher(source) {
  if (source.length > MOST_CHARS) refuse(`is longer than ${MOST_CHARS} characters`);
  checkSyntax(source);
  const deadline = Date.now() + MOST_MS;
  const words = PLAIN.test(source) ? source.split("|") : null;
  if (words) return (text) => words.some((word) => text.includes(word));
  const machine = new Machine(new Reader(source).read());
  return (text) => {
    if (Date.now() > deadline) refuse("takes too long");
    return machine.finds(text);
  };
}

/** @param {string} source */
function checkSyntax(source) {
  try {
    new RegExp(source, "u");
  } catch {
    try {
      new RegExp(source);
    } catch (error) {
      refuse(`is not a regular expression: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/**
 * @param {string} why
 * @returns {never}
 */
function refuse(why) {
  throw new CommandError("invalid_arguments", `The pattern ${why}.`);
}

class Reader {
  #source;
  #at = 0;
  #states = 0;

  /** @param {string} source */
  constructor(source) {
    this.#source = source;
  }

  read() {
    const build = this.#choice();
    const end = this.#state({});
    return { start: build(end), end };
  }

  /** @returns {Build} */
  #choice() {
    const ways = [this.#sequence()];
    while (this.#take("|")) ways.push(this.#sequence());
    if (ways.length === 1) return ways[0];
    return (next) => this.#state({ next: ways.map((way) => way(next)) });
  }

  /** @returns {Build} */
  #sequence() {
    /** @type {Build[]} */
    const parts = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at])) {
      parts.push(this.#repeated(this.#part()));
    }
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  /** @returns {Build} */
  #part() {
    const group = this.#match(GROUP);
    if (!group) return this.#atom();
    if (this.#source[this.#at] === "?") refuse("looks ahead or behind, which is not known here");
    const inside = this.#choice();
    this.#take(")");
    return inside;
  }

  /** @returns {Build} */
  #atom() {
    const [atom] = this.#match(ATOM) ?? refuse("cannot be read");
    if (atom === "^") return this.#place((before) => before === "");
    if (atom === "$") return this.#place((before, after) => after === "");
    if (atom === "\\b") return this.#place(isEdge);
    if (atom === "\\B") return this.#place((before, after) => !isEdge(before, after));
    if (/^\\(?:[1-9]|k)/.test(atom)) refuse("refers back, which is not known here");
    const takes = charTest(atom);
    return (next) => this.#state({ takes, next: [next] });
  }

  /**
   * @param {(before: string, after: string) => boolean} holds
   * @returns {Build}
   */
  #place(holds) {
    return (next) => this.#state({ holds, next: [next] });
  }

  /**
   * @param {Build} part
   * @returns {Build}
   */
  #repeated(part) {
    const found = this.#match(REPEAT);
    if (!found) return part;
    const [least, most] = boundsOf(found);
    return (next) => {
      let state = most === Infinity ? this.#loop(part, next) : next;
      const optional = most === Infinity ? 0 : most - least;
      for (let i = 0; i < optional; i++) state = this.#state({ next: [part(state), next] });
      return this.#rounds(part, least, state);
    };
  }

  /**
   * @param {Build} part
   * @param {number} count
   * @param {State} next
   */
  #rounds(part, count, next) {
    let state = next;
    for (let i = 0; i < count; i++) {
      const before = part(state);
      // An empty part makes no state, so repeating it would never end.
      if (before === state) break;
      state = before;
    }
    return state;
  }

  /**
   * @param {Build} part
   * @param {State} next
   */
  #loop(part, next) {
    const fork = this.#state({ next: [next] });
    fork.next.unshift(part(fork));
    return fork;
  }

  /**
   * @param {Partial<State>} parts
   * @returns {State}
   */
  #state(parts) {
    if (++this.#states > MOST_STATES) refuse("is too large");
    return { takes: null, holds: null, next: [], mark: -1, ...parts };
  }

  /** @param {string} char */
  #take(char) {
    const found = this.#source[this.#at] === char;
    if (found) this.#at++;
    return found;
  }

  /** @param {RegExp} what */
  #match(what) {
    what.lastIndex = this.#at;
    const found = what.exec(this.#source);
    if (found) this.#at = what.lastIndex;
    return found;
  }
}

/** @param {RegExpExecArray} repeat */
function boundsOf([text, least, comma, most]) {
  if (text[0] === "*") return [0, Infinity];
  if (text[0] === "+") return [1, Infinity];
  if (text[0] === "?") return [0, 1];
  const from = Number(least);
  return [from, comma === undefined ? from : most ? Number(most) : Infinity];
}

/**
 * @param {string} before
 * @param {string} after
 */
function isEdge(before, after) {
  return WORD.test(before) !== WORD.test(after);
}

/**
 * Whether one character matches; results are cached.
 * @param {string} atom
 */
function charTest(atom) {
  const one = charExpression(atom);
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (/** @type {string} */ char) => {
    const answer = known.get(char) ?? one.test(char);
    known.set(char, answer);
    return answer;
  };
}

/** @param {string} atom */
function charExpression(atom) {
  const source = /^[{}\]]$/.test(atom) ? `\\${atom}` : atom;
  try {
    return new RegExp(`^(?:${source})$`, "u");
  } catch {
    return new RegExp(`^(?:${source})$`);
  }
}

class Machine {
  #start;
  #end;
  #round = 0;

  /** @param {{start: State, end: State}} machine */
  constructor({ start, end }) {
    this.#start = start;
    this.#end = end;
  }

  /** @param {string} text */
  finds(text) {
    /** @type {State[]} */
    let states = [];
    let before = "";
    for (const char of [...text, ""]) {
      this.#round++;
      /** @type {State[]} */
      const now = [];
      for (const state of [...states, this.#start]) this.#enter(state, before, char, now);
      if (this.#end.mark === this.#round) return true;
      states = now.flatMap((state) => (char && state.takes?.(char) ? state.next : []));
      before = char;
    }
    return false;
  }

  /**
   * All states that are reachable without taking a character.
   * @param {State} first
   * @param {string} before
   * @param {string} after
   * @param {State[]} found
   */
  #enter(first, before, after, found) {
    const waiting = [first];
    for (let state = waiting.pop(); state; state = waiting.pop()) {
      if (state.mark === this.#round) continue;
      state.mark = this.#round;
      if (state.takes) found.push(state);
      else if (!state.holds || state.holds(before, after)) waiting.push(...state.next);
    }
  }
}
