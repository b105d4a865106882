/** The keys that are held down while something else is pressed, and the debugger's bits for them. */

import { CommandError } from "./shared/command-errors.js";

const ALT = 1;
const CTRL = 2;
const META = 4;
export const SHIFT = 8;

/** @type {Map<string, number>} */
const BITS = new Map([
  ["alt", ALT],
  ["option", ALT],
  ["ctrl", CTRL],
  ["control", CTRL],
  ["meta", META],
  ["cmd", META],
  ["command", META],
  ["win", META],
  ["windows", META],
  ["shift", SHIFT],
]);

/** @param {string} name */
export function modifierBit(name) {
  return BITS.get(name.toLowerCase()) ?? 0;
}

/**
 * @param {unknown} names
 * @returns {number}
 */
export function modifierBits(names = []) {
  if (!Array.isArray(names)) throw refusal();
  return names.reduce((bits, name) => {
    const bit = modifierBit(String(name));
    if (!bit) throw refusal();
    return bits | bit;
  }, 0);
}

function refusal() {
  return new CommandError("invalid_arguments", "modifiers is a list of ctrl, shift, alt, meta.");
}
