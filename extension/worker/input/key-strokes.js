/** Keys by name and character, in the US keyboard layout. */

import { CommandError } from "../shared/command-errors.js";

// Modifier keys, and the debugger's bits for them.

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
function modifierBit(name) {
  return BITS.get(name.toLowerCase()) ?? 0;
}

/**
 * @param {unknown} names
 * @returns {number}
 */
export function modifierBits(names = []) {
  if (!Array.isArray(names)) throw modifierRefusal();
  return names.reduce((bits, name) => {
    const bit = modifierBit(String(name));
    if (!bit) throw modifierRefusal();
    return bits | bit;
  }, 0);
}

function modifierRefusal() {
  return new CommandError("invalid_arguments", "modifiers is a list of ctrl, shift, alt, meta.");
}

/** More keys than this in one call are a mistake. */
const MOST_STROKES = 500;

/**
 * @typedef {{key: string, code: string, windowsVirtualKeyCode: number, text?: string}} Key
 * @typedef {{key: Key, modifiers: number}} Stroke
 */

/** @type {[names: string, key: string, number: number, text?: string][]} */
const NAMED = [
  ["enter return", "Enter", 13, "\r"],
  ["tab", "Tab", 9],
  ["escape esc", "Escape", 27],
  ["backspace", "Backspace", 8],
  ["delete del", "Delete", 46],
  ["insert", "Insert", 45],
  ["arrowleft left", "ArrowLeft", 37],
  ["arrowup up", "ArrowUp", 38],
  ["arrowright right", "ArrowRight", 39],
  ["arrowdown down", "ArrowDown", 40],
  ["home", "Home", 36],
  ["end", "End", 35],
  ["pageup", "PageUp", 33],
  ["pagedown", "PageDown", 34],
  ["contextmenu", "ContextMenu", 93],
];

/** @type {[bit: number, key: string, number: number][]} in the order they are pressed */
const MODIFIER_KEYS = [
  [2, "Control", 17],
  [1, "Alt", 18],
  [SHIFT, "Shift", 16],
  [4, "Meta", 91],
];

/** @type {[characters: string, code: string, number: number][]} without and with shift */
const SYMBOLS = [
  [";:", "Semicolon", 186],
  ["=+", "Equal", 187],
  [",<", "Comma", 188],
  ["-_", "Minus", 189],
  [".>", "Period", 190],
  ["/?", "Slash", 191],
  ["`~", "Backquote", 192],
  ["[{", "BracketLeft", 219],
  ["\\|", "Backslash", 220],
  ["]}", "BracketRight", 221],
  ["'\"", "Quote", 222],
  ["  ", "Space", 32],
];
const SHIFTED_DIGITS = ")!@#$%^&*(";

/** @type {Map<string, Key>} */
const named = new Map();
/** @type {Map<string, Key>} */
const typed = new Map();
/** @type {Map<string, string>} what a character becomes with shift */
const shifted = new Map();

for (const [names, key, windowsVirtualKeyCode, text] of NAMED) {
  const made = { key, code: key, windowsVirtualKeyCode, ...(text && { text }) };
  for (const name of names.split(" ")) named.set(name, made);
}
for (let n = 1; n <= 12; n++) {
  named.set(`f${n}`, { key: `F${n}`, code: `F${n}`, windowsVirtualKeyCode: 111 + n });
}
for (const [characters, code, number] of SYMBOLS) addTyped(characters, code, number);
for (let n = 0; n <= 9; n++) addTyped(`${n}${SHIFTED_DIGITS[n]}`, `Digit${n}`, 48 + n);
for (const letter of "abcdefghijklmnopqrstuvwxyz") {
  const upper = letter.toUpperCase();
  addTyped(letter + upper, `Key${upper}`, upper.charCodeAt(0));
}
named.set("space", /** @type {Key} */ (typed.get(" ")));

/**
 * @param {string} characters
 * @param {string} code
 * @param {number} windowsVirtualKeyCode
 */
function addTyped(characters, code, windowsVirtualKeyCode) {
  for (const text of characters) typed.set(text, { key: text, code, windowsVirtualKeyCode, text });
  shifted.set(characters[0] ?? "", characters[1] ?? "");
}

/**
 * Keys and chords such as "Enter" or "ctrl+a", separated by spaces.
 * @param {unknown} keys
 * @param {number} held modifiers that are held down all the time
 * @param {unknown} repeat
 * @returns {Stroke[]}
 */
export function strokesOf(keys, held, repeat = 1) {
  if (typeof keys !== "string" || keys === "") throw refusal("key is missing.");
  if (!Number.isInteger(repeat) || Number(repeat) < 1) throw refusal("repeat is 1 or more.");
  const chords = keys.trim() ? keys.trim().split(/\s+/) : ["Space"];
  const strokes = chords.map((chord) => strokeOf(chord, held));
  if (strokes.length * Number(repeat) > MOST_STROKES) {
    throw refusal(`These are more than ${MOST_STROKES} keys.`);
  }
  return Array.from({ length: Number(repeat) }, () => strokes).flat();
}

/**
 * @param {string} chord
 * @param {number} held
 * @returns {Stroke}
 */
function strokeOf(chord, held) {
  const parts = partsOf(chord);
  const name = parts.pop() ?? "";
  const modifiers = parts.reduce((bits, part) => bits | requireModifier(part, chord), held);
  const own = modifierBit(name);
  if (own) return { key: modifierKey(own), modifiers };
  return { key: keyOf(name, modifiers, chord), modifiers };
}

/**
 * @param {string} character
 * @returns {Stroke | undefined} undefined if the keyboard has no such key
 */
export function typedStroke(character) {
  const key = character === "\n" ? named.get("enter") : typed.get(character);
  return key && { key, modifiers: 0 };
}

/** @param {string} chord */
function partsOf(chord) {
  if (chord === "+") return ["+"];
  return chord.endsWith("++") ? [...chord.slice(0, -2).split("+"), "+"] : chord.split("+");
}

/**
 * @param {string} name
 * @param {string} chord
 */
function requireModifier(name, chord) {
  return modifierBit(name) || fail(chord);
}

/**
 * @param {string} name
 * @param {number} modifiers
 * @param {string} chord
 * @returns {Key}
 */
function keyOf(name, modifiers, chord) {
  const known = named.get(name.toLowerCase());
  if (known) return known;
  const isOne = [...name].length === 1;
  return isOne ? characterKey(name, modifiers) : fail(chord);
}

/**
 * People write "Ctrl+A" for what is typed without shift.
 * @param {string} character
 * @param {number} modifiers
 * @returns {Key}
 */
function characterKey(character, modifiers) {
  const isCommand = (modifiers & ~SHIFT) !== 0;
  const base = isCommand ? character.toLowerCase() : character;
  const text = modifiers & SHIFT ? (shifted.get(base) ?? base) : base;
  return typed.get(text) ?? { key: text, code: "", windowsVirtualKeyCode: 0, text };
}

/** @param {number} bit */
function modifierKey(bit) {
  const [, key, number] = MODIFIER_KEYS.find(([own]) => own === bit) ?? [0, "", 0];
  return { key, code: `${key}Left`, windowsVirtualKeyCode: number };
}

/** @param {number} modifiers */
function heldKeys(modifiers) {
  return MODIFIER_KEYS.map(([bit]) => bit).filter((bit) => bit & modifiers);
}

/**
 * Marks our keys: a frame that does not expect them refuses them. On a real keyboard, only keys
 * that come in pairs have it.
 */
const LEFT = { location: 1 };

/**
 * One stroke as the debugger's events: modifiers down, the key, modifiers up.
 * @param {Stroke} stroke
 * @returns {object[]}
 */
export function keyEvents({ key, modifiers }) {
  const held = heldKeys(modifiers);
  let bits = 0;
  const down = held.map((bit) => {
    bits |= bit;
    return { type: "rawKeyDown", modifiers: bits, ...modifierKey(bit), ...LEFT };
  });
  const up = held.toReversed().map((bit) => {
    bits &= ~bit;
    return { type: "keyUp", modifiers: bits, ...modifierKey(bit), ...LEFT };
  });
  const { text, ...bare } = key;
  return [
    ...down,
    { ...pressOf(key, modifiers), modifiers, ...LEFT },
    { type: "keyUp", modifiers, ...bare, ...LEFT },
    ...up,
  ];
}

/**
 * The events of the key that ends a text, or of the one that deletes. Enter is not among them: pages
 * send what was written when they get it.
 * @param {string} text
 * @returns {object[]}
 */
export function lastKeyEvents(text) {
  const last = [...text.trimEnd()].at(-1);
  const deletion = /** @type {Key} */ (named.get("backspace"));
  const key = last === undefined ? deletion : characterKey(last, 0);
  return text && last === undefined ? [] : keyEvents({ key, modifiers: 0 });
}

/**
 * With a modifier other than shift, a key is a command and writes nothing.
 * @param {Key} key
 * @param {number} modifiers
 */
function pressOf({ text, ...bare }, modifiers) {
  const writes = text !== undefined && (modifiers & ~SHIFT) === 0;
  return writes ? { type: "keyDown", ...bare, text } : { type: "rawKeyDown", ...bare };
}

/**
 * @param {string} chord
 * @returns {never}
 */
function fail(chord) {
  throw refusal(
    `"${chord}" is not a key. There are Enter, Tab, Escape, Backspace, Delete, Space, arrows, Home, End, PageUp, PageDown, F1 to F12 and single characters, with modifiers as in ctrl+shift+a.`,
  );
}

/** @param {string} message */
function refusal(message) {
  return new CommandError("invalid_arguments", message);
}
