/** A text as it is typed: keys where the keyboard has them, inserted where it has not. */

import { CommandError } from "./shared/command-errors.js";
import { typedStroke } from "./input/key-strokes.js";

/** What is longer is inserted line by line, as if it were pasted. */
const LONGEST_TYPED = 300;

/** @typedef {string | import("./input/key-strokes.js").Stroke} Piece a string is to be inserted */

/**
 * @param {string} text
 * @param {boolean} canInsert whether what gets it is a field for text
 * @returns {Piece[]}
 */
export function piecesOf(text, canInsert) {
  const lines = text.replace(/\r\n?/g, "\n");
  const isLong = lines.length > LONGEST_TYPED;
  if (isLong && !canInsert) throw tooLong();
  const parts = isLong ? lines.split(/(\n)/).filter(Boolean) : [...lines];
  return joined(parts.map((part) => typedStroke(part) ?? requireInsert(part, canInsert)));
}

/**
 * @param {string} part
 * @param {boolean} canInsert
 */
function requireInsert(part, canInsert) {
  if (canInsert) return part;
  const message = `What has the focus is no field for text, and no key writes "${part}".`;
  throw new CommandError("invalid_arguments", message);
}

/**
 * What is inserted in one go: a letter and its accent belong together.
 * @param {Piece[]} pieces
 * @returns {Piece[]}
 */
function joined(pieces) {
  /** @type {Piece[]} */
  const result = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (typeof piece === "string" && typeof last === "string")
      result[result.length - 1] = last + piece;
    else result.push(piece);
  }
  return result;
}

function tooLong() {
  const message = `What has the focus is no field for text: give at most ${LONGEST_TYPED} characters.`;
  return new CommandError("invalid_arguments", message);
}
