import assert from "node:assert/strict";
import { test } from "node:test";
import {
  keyEvents,
  modifierBits,
  strokesOf,
} from "../../../../extension/worker/input/key-strokes.js";

const CTRL = 2;
const SHIFT = 8;

/** @param {string} keys */
function pressed(keys, held = 0) {
  return strokesOf(keys, held).map(({ key, modifiers }) => [key.key, key.code, modifiers]);
}

/** @param {string} keys */
function events(keys) {
  return strokesOf(keys, 0)
    .flatMap(keyEvents)
    .map(({ type, key, text, modifiers }) => [type, key, text, modifiers]);
}

test("keys have several names, in any case", () => {
  for (const name of ["Enter", "return", "ENTER"]) assert.equal(pressed(name)[0][0], "Enter");
  for (const name of ["esc", "Escape"]) assert.equal(pressed(name)[0][0], "Escape");
  for (const name of ["left", "ArrowLeft"]) assert.equal(pressed(name)[0][0], "ArrowLeft");
  for (const name of ["Space", " ", "   "]) assert.deepEqual(pressed(name), [[" ", "Space", 0]]);
  assert.deepEqual(pressed("F12"), [["F12", "F12", 0]]);
});

test("a character names its key, and shift gives the other character of the key", () => {
  assert.deepEqual(pressed("a A ? ü"), [
    ["a", "KeyA", 0],
    ["A", "KeyA", 0],
    ["?", "Slash", 0],
    ["ü", "", 0],
  ]);
  assert.deepEqual(pressed("shift+a shift+1 shift+/"), [
    ["A", "KeyA", SHIFT],
    ["!", "Digit1", SHIFT],
    ["?", "Slash", SHIFT],
  ]);
});

test("a letter in a chord means its key, in either case", () => {
  assert.deepEqual(pressed("Ctrl+A"), pressed("ctrl+a"));
  assert.deepEqual(pressed("ctrl+shift+a"), [["A", "KeyA", CTRL | SHIFT]]);
});

test("plus is a key too", () => {
  assert.deepEqual(pressed("+ ctrl++"), [
    ["+", "Equal", 0],
    ["+", "Equal", CTRL],
  ]);
});

test("modifiers that are held count for every key", () => {
  assert.deepEqual(pressed("Tab a", SHIFT), [
    ["Tab", "Tab", SHIFT],
    ["A", "KeyA", SHIFT],
  ]);
});

test("only keys that type a character have a text", () => {
  assert.deepEqual(events("a"), [
    ["keyDown", "a", "a", 0],
    ["keyUp", "a", undefined, 0],
  ]);
  assert.equal(events("Enter")[0][2], "\r");
  assert.deepEqual(events("Tab")[0], ["rawKeyDown", "Tab", undefined, 0]);
});

test("modifiers go down before the key and up after it, and a chord types no text", () => {
  assert.deepEqual(events("ctrl+shift+a"), [
    ["rawKeyDown", "Control", undefined, CTRL],
    ["rawKeyDown", "Shift", undefined, CTRL | SHIFT],
    ["rawKeyDown", "A", undefined, CTRL | SHIFT],
    ["keyUp", "A", undefined, CTRL | SHIFT],
    ["keyUp", "Shift", undefined, CTRL],
    ["keyUp", "Control", undefined, 0],
  ]);
});

test("a modifier can be pressed alone", () => {
  assert.deepEqual(pressed("Shift"), [["Shift", "ShiftLeft", 0]]);
});

test("keys are repeated as a whole, up to a limit", () => {
  assert.equal(strokesOf("a b", 0, 3).length, 6);
  assert.throws(() => strokesOf("a b", 0, 300), { reason: "invalid_arguments" });
});

for (const bad of ["", "abc", "ctrl+abc", "foo+a", "ctrl+", undefined, 5]) {
  test(`${JSON.stringify(bad)} is not a key`, () => {
    assert.throws(() => strokesOf(bad, 0), { reason: "invalid_arguments" });
  });
}

test("modifiers are a list of known names", () => {
  assert.equal(modifierBits(["ctrl", "Shift"]), CTRL | SHIFT);
  for (const bad of ["ctrl", ["hyper"], {}]) {
    assert.throws(() => modifierBits(bad), { reason: "invalid_arguments" });
  }
});
