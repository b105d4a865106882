import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

/** @type {[string, (event: any) => void][]} */
const listeners = [];
class FakeElement {}
EventTarget.prototype.addEventListener = (name, listener) => void listeners.push([name, listener]);
Object.assign(globalThis, {
  window: new EventTarget(),
  document: {},
  Element: FakeElement,
  MutationObserver: class {
    observe() {}
  },
  tabhub: {
    define: (name, make) => (globalThis.tabhub[name] = make()),
    hit: { receives: (wanted, hit) => wanted === hit, describe: () => "<button>" },
  },
});
await import("../../../../extension/content/acting/input-guard.js");
const { guard } = globalThis.tabhub;
// The marks are read from what the worker really sends.
/** @type {Record<string, any>[]} */
const sent = [];
globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1 },
  debugger: { sendCommand: async (_, __, params) => void sent.push(params) },
};
const input = await import("../../../../extension/worker/input/trusted-input.js");
const { keyEvents, typedStroke } =
  await import("../../../../extension/worker/input/key-strokes.js");

const [MEANT, OTHER] = [new FakeElement(), new FakeElement()];
let now = 0;
mock.method(performance, "now", () => now);

/** @returns {boolean} whether the page gets the event */
function arrives(type, event = {}) {
  let isStopped = false;
  const stop = () => (isStopped = true);
  const path = { composedPath: () => [event.target ?? MEANT] };
  const given = { type, isTrusted: true, preventDefault() {}, stopImmediatePropagation: stop };
  for (const [name, listener] of listeners) {
    if (name === type && !isStopped) listener({ ...given, ...path, ...event });
  }
  return !isStopped;
}

await input.holdAt(1, { x: 0, y: 0 }, { number: 5, modifiers: 0 });
const { tangentialPressure } = sent.find(({ type }) => type === "mousePressed") ?? {};
const DROP_TYPE = input.markedData({ items: [] }, 5).items[0].mimeType;
const { location } = keyEvents(typedStroke("a"))[0];
const A_KEY = { location, code: "KeyA", key: "a" };
const ofPress5 = (target = MEANT) => ({ pointerType: "mouse", tangentialPressure, target });

function refusePress() {
  guard.expectPress(MEANT, 5);
  assert.ok(!arrives("pointerdown", ofPress5(OTHER)));
  assert.ok(!arrives("mousedown"));
}

afterEach(async () => {
  guard.expectNothing();
  arrives("pointerdown", { pointerType: "mouse", tangentialPressure: 0 });
});

test("a press that was not aimed here is refused with all that follows it", async () => {
  refusePress();
  for (const name of ["mouseup", "click", "dragstart"]) assert.ok(!arrives(name), name);
});

test("a refused press is over with its release: later clicks are not of it", async () => {
  refusePress();
  arrives("pointerup", ofPress5());
  assert.ok(!arrives("click", { pointerType: "mouse" }));
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(arrives("selectstart"));
});

test("after a refused press a click by the keyboard, a finger or a pen counts", () => {
  refusePress();
  assert.ok(arrives("click", { pointerType: "" }));
  assert.ok(arrives("pointerdown", { pointerType: "touch", tangentialPressure: 0 }));
  assert.ok(arrives("click", { pointerType: "touch" }));
});

test("a press is expected for a minute", () => {
  guard.expectPress(MEANT, 5);
  now += 59_000;
  assert.ok(arrives("pointerdown", ofPress5()));
  now += 2_000;
  assert.ok(!arrives("pointerdown", ofPress5()));
});

test("marked keys are expected until they are refused, or do not come for ten seconds", () => {
  assert.ok(!arrives("keydown", A_KEY));
  guard.expectKeys();
  for (let i = 0; i < 3; i++, now += 9000) assert.ok(arrives("keydown", A_KEY));
  assert.equal(guard.keys(), 3);
  now += 2000;
  assert.ok(!arrives("keydown", A_KEY));
  guard.expectKeys();
  guard.refuseKeys();
  assert.ok(!arrives("keydown", A_KEY));
});

test("when the worker is gone, nothing is expected any longer", () => {
  guard.expectKeys();
  guard.expectPress(MEANT, 5);
  guard.expectDrop(5);
  guard.expectNothing();
  assert.ok(!arrives("keydown", A_KEY));
  assert.ok(!arrives("pointerdown", ofPress5()));
  assert.ok(!arrives("drop", { dataTransfer: { types: [DROP_TYPE] } }));
});

test("data that the worker drops is refused where it is not expected; a person's is not", () => {
  const ours = { dataTransfer: { types: ["Files", DROP_TYPE] } };
  assert.ok(!arrives("dragover", ours) && !arrives("drop", ours));
  guard.expectDrop(4);
  assert.ok(!arrives("drop", ours));
  guard.expectDrop(5);
  assert.ok(arrives("dragover", ours) && arrives("drop", ours));
  assert.ok(arrives("drop", { dataTransfer: { types: ["Files"] } }));
});
