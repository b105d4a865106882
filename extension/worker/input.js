/** Trusted input, sent by the debugger. */

import { CommandError } from "./errors.js";
import { send } from "./debugger.js";

const BUTTONS = new Map([
  ["left", 1],
  ["right", 2],
  ["middle", 4],
]);
const MODIFIERS = new Map([
  ["alt", 1],
  ["ctrl", 2],
  ["meta", 4],
  ["cmd", 4],
  ["shift", 8],
]);

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{button: string, buttons: number, clickCount: number, modifiers: number}} Press */

/**
 * @param {any} input
 * @returns {Press}
 */
export function pressOf({ button = "left", clickCount = 1, modifiers = [] }) {
  const buttons = BUTTONS.get(button);
  if (!buttons) refuse(`button must be one of ${[...BUTTONS.keys()].join(", ")}.`);
  if (![1, 2, 3].includes(clickCount)) refuse("clickCount must be 1, 2 or 3.");
  if (!Array.isArray(modifiers)) refuse("modifiers must be a list.");
  return { button, buttons: buttons ?? 0, clickCount, modifiers: modifierBits(modifiers) };
}

/** @param {unknown[]} names */
function modifierBits(names) {
  return names.reduce((/** @type {number} */ bits, name) => {
    const bit = MODIFIERS.get(String(name).toLowerCase());
    if (!bit) refuse(`modifiers may be ${[...MODIFIERS.keys()].join(", ")}.`);
    return bits | (bit ?? 0);
  }, 0);
}

/** @param {string} message */
function refuse(message) {
  throw new CommandError("invalid_arguments", message);
}

/**
 * @param {number} tabId
 * @param {string} type
 * @param {object} params
 */
function mouse(tabId, type, params) {
  return send(tabId, "Input.dispatchMouseEvent", { type, ...params });
}

/**
 * Everything is sent at once: waiting for each acknowledgement costs a frame.
 * @param {number} tabId
 * @param {Point} point
 * @param {Press} press
 */
export async function clickAt(tabId, point, { button, buttons, modifiers, clickCount: count }) {
  const sent = [move(tabId, point, modifiers)];
  for (let clickCount = 1; clickCount <= count; clickCount++) {
    const params = { ...point, modifiers, button, clickCount };
    sent.push(mouse(tabId, "mousePressed", { ...params, buttons }));
    sent.push(mouse(tabId, "mouseReleased", { ...params, buttons: 0 }));
  }
  await Promise.all(sent);
}

/**
 * @param {number} tabId
 * @param {Point} point
 * @param {number} [modifiers]
 */
export function move(tabId, point, modifiers = 0) {
  return mouse(tabId, "mouseMoved", { ...point, modifiers, button: "none", buttons: 0 });
}

/**
 * @param {number} tabId
 * @param {string} text
 */
export async function insertText(tabId, text) {
  await send(tabId, "Input.insertText", { text });
}

/** @param {number} tabId */
export async function deleteSelection(tabId) {
  const key = { key: "Backspace", code: "Backspace", windowsVirtualKeyCode: 8 };
  await Promise.all([
    send(tabId, "Input.dispatchKeyEvent", { type: "rawKeyDown", ...key }),
    send(tabId, "Input.dispatchKeyEvent", { type: "keyUp", ...key }),
  ]);
}
