/** Trusted input, sent by the debugger. */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { send } from "../debugger/debugger.js";
import { saver, register } from "../shared/tab-state.js";
import { SHIFT, keyEvents, modifierBits } from "./key-strokes.js";

const STORED = "mouse";
const BUTTONS = new Map([
  ["left", 1],
  ["right", 2],
  ["middle", 4],
]);

/**
 * A mouse has no such pressure: it carries the number of a press, and a frame that does not expect
 * this number refuses the press.
 */
const PRESS_UNIT = 2 ** -20;
const MOST_PRESSES = 1000;
/** Numbers of an earlier worker may still be expected somewhere. */
let lastPress = Math.floor(Math.random() * MOST_PRESSES);
const DROP_TYPE = "application/x-tabhub-drop-";

/** @typedef {{x: number, y: number}} Point */
/**
 * @typedef {object} Press
 * @property {string} button
 * @property {number} buttons
 * @property {number} clickCount
 * @property {number} modifiers
 * @property {number} number which its frame expects
 */

/**
 * @param {Pick<Wire.Click, "button" | "clickCount" | "modifiers">} input
 * @returns {Press}
 */
export function pressOf({ button = "left", clickCount = 1, modifiers }) {
  const buttons = BUTTONS.get(button);
  if (!buttons) refuse(`button must be one of ${[...BUTTONS.keys()].join(", ")}.`);
  if (![1, 2, 3].includes(clickCount)) refuse("clickCount must be 1, 2 or 3.");
  const bits = modifiers?.length === 0 ? 0 : modifierBits(modifiers);
  return { button, buttons: buttons ?? 0, clickCount, modifiers: bits, number: nextPress() };
}

export function nextPress() {
  lastPress = (lastPress % MOST_PRESSES) + 1;
  return lastPress;
}

/** @param {number} number */
function marked(number) {
  return { force: 0.5, tangentialPressure: number * PRESS_UNIT };
}

/** @param {string} message */
function refuse(message) {
  throw new CommandError("invalid_arguments", message);
}

/** @type {Map<number, Point>} where the mouse was left in each tab */
const places = new Map();
const save = saver(STORED, () => [...places]);

async function restorePlaces() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, point] of Array.isArray(stored) ? stored : []) places.set(tabId, point);
}

/**
 * @param {number} tabId
 * @param {string} type
 * @param {Point & Record<string, unknown>} params
 */
function mouse(tabId, type, params) {
  places.set(tabId, { x: params.x, y: params.y });
  save();
  return input(tabId, "Input.dispatchMouseEvent", { type, ...params });
}

/**
 * Where it leads to another program (mailto:), the browser takes the debugger away before it
 * answers. The page says whether the input has arrived.
 * @param {number} tabId
 * @param {string} method
 * @param {object} params
 */
async function input(tabId, method, params) {
  try {
    await send(tabId, method, params);
  } catch (error) {
    if (!/^Detached while handling/.test(messageOf(error))) throw error;
  }
}

/**
 * Everything is sent at once: waiting for each acknowledgement costs a frame.
 * @param {number} tabId
 * @param {Point} point
 * @param {Press} press
 */
export async function clickAt(tabId, point, press) {
  const { button, buttons, modifiers, clickCount: count, number } = press;
  const sent = [...stir(tabId), move(tabId, point, modifiers)];
  for (let clickCount = 1; clickCount <= count; clickCount++) {
    const params = { ...point, modifiers, button, clickCount, ...marked(number) };
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
function move(tabId, point, modifiers = 0) {
  return mouse(tabId, "mouseMoved", { ...point, modifiers, button: "none", buttons: 0 });
}

/**
 * Real mice move before they are elsewhere, and what has opened under a resting mouse waits for
 * that: lists of suggestions ignore the first position.
 * @param {number} tabId
 */
function stir(tabId) {
  const at = places.get(tabId);
  // The browser merges equal movements, so this one differs.
  return at ? [move(tabId, { x: at.x + 1, y: at.y }, SHIFT)] : [];
}

/**
 * The browser drops a movement to where the mouse already is.
 * @param {number} tabId
 * @param {Point} point
 */
export async function hoverAt(tabId, { x, y }) {
  await Promise.all([...stir(tabId), move(tabId, { x: x + 1, y }), move(tabId, { x, y })]);
}

/**
 * @param {number} tabId
 * @param {import("./key-strokes.js").Stroke} stroke
 */
export async function strike(tabId, stroke) {
  const sent = keyEvents(stroke).map((event) => input(tabId, "Input.dispatchKeyEvent", event));
  await Promise.all(sent);
}

/**
 * @param {number} tabId
 * @param {Point} point
 * @param {Point} by
 */
export function turnWheel(tabId, point, by) {
  return mouse(tabId, "mouseWheel", { ...point, deltaX: by.x, deltaY: by.y });
}

/** @typedef {{modifiers: number, number: number}} Held the press of a drag */

/** @param {Held} press */
const held = ({ modifiers, number }) => {
  return { modifiers, button: "left", clickCount: 1, ...marked(number) };
};

/**
 * @param {number} tabId
 * @param {Point} point
 * @param {Held} press
 */
export async function holdAt(tabId, point, press) {
  const params = { ...point, ...held(press), buttons: 1 };
  await Promise.all([move(tabId, point, press.modifiers), mouse(tabId, "mousePressed", params)]);
}

/**
 * @param {number} tabId
 * @param {Point} point
 * @param {Held} press
 */
export async function pullTo(tabId, point, press) {
  await mouse(tabId, "mouseMoved", { ...point, ...held(press), buttons: 1 });
}

/**
 * @param {number} tabId
 * @param {Point} point
 * @param {Held} press
 */
export async function releaseAt(tabId, point, press) {
  await mouse(tabId, "mouseReleased", { ...point, ...held(press), buttons: 0 });
}

/**
 * @param {number} tabId
 * @param {"dragEnter" | "dragOver" | "drop"} type
 * @param {Point} point
 * @param {object} data
 * @param {number} modifiers
 */
export async function dragData(tabId, type, point, data, modifiers) {
  await send(tabId, "Input.dispatchDragEvent", { type, ...point, data, modifiers });
}

/**
 * A page could move another frame to where data is dropped: one that does not expect it refuses.
 * Files are not marked, because pages take every item beside them for a file too.
 * @param {{items: object[]}} data
 * @param {number} number
 */
export function markedData({ items, ...data }, number) {
  const mark = { mimeType: DROP_TYPE + number, data: String(number) };
  return { ...data, items: [...items, mark] };
}

register({
  name: "mouse",
  restore: restorePlaces,
  forget: (tabId) => void (places.delete(tabId) && save()),
  describe: () => [...places],
});
