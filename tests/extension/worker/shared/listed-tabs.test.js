import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const STRUCTURE = "onCreated onRemoved onReplaced onActivated onMoved onAttached onDetached";
const listeners = {};
const event = (name) => ({ addListener: (listener) => (listeners[name] = listener) });
let open = [];
let asked = 0;
let answer = async () => open.map((tab) => ({ ...tab }));
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: {
    query: () => (asked++, answer()),
    TAB_ID_NONE: -1,
    ...Object.fromEntries(["onUpdated", ...STRUCTURE.split(" ")].map((it) => [it, event(it)])),
  },
};
const { listTabs, listenToTabs, noteFocusedWindow } =
  await import("../../../../extension/worker/shared/known-tabs.js");
noteFocusedWindow(7);
/** What these tests look at. */
const allTabs = async () => (await listTabs()).map(({ tabId, title }) => ({ id: tabId, title }));

test("until its listeners are there, the browser is asked each time", async () => {
  open = [{ id: 1, title: "One" }];
  await allTabs();
  open = [{ id: 1, title: "Uno" }];
  assert.deepEqual(await allTabs(), open);
  listenToTabs();
});

beforeEach(async () => {
  open = [
    { id: 1, title: "One" },
    { id: 2, title: "Two" },
  ];
  listeners.onCreated?.();
  await allTabs();
  asked = 0;
});

test("it is asked once, and updates are taken from its events", async () => {
  listeners.onUpdated(1, { title: "Uno" }, { id: 1, title: "Uno" });
  assert.deepEqual(await allTabs(), [{ id: 1, title: "Uno" }, open[1]]);
  assert.equal(asked, 0);
});

for (const name of STRUCTURE.split(" ")) {
  test(`it is asked again after ${name}`, async () => {
    open = [{ id: 2, title: "Two" }];
    listeners[name]();
    assert.deepEqual(await allTabs(), open);
    await allTabs();
    assert.equal(asked, 1);
  });
}

test("it is asked again after an update of a tab that is not in the list", async () => {
  open = [...open, { id: 3, title: "Three" }];
  listeners.onUpdated(3, { status: "loading" }, open[2]);
  assert.deepEqual(await allTabs(), open);
});

for (const name of ["onUpdated", "onRemoved"]) {
  test(`an answer that ${name} overtakes is not kept`, async (context) => {
    const { promise, resolve } = Promise.withResolvers();
    const usual = answer;
    answer = () => promise;
    context.after(() => (answer = usual));
    listeners.onMoved();
    const first = allTabs();
    listeners[name](1, { title: "Uno" }, { id: 1, title: "Uno" });
    resolve(open);
    assert.deepEqual(await first, open);
    answer = usual;
    open = [{ id: 1, title: "Uno" }];
    assert.deepEqual(await allTabs(), open);
  });
}

test("what a caller does with the list is its own matter", async () => {
  (await allTabs()).pop();
  assert.deepEqual(await allTabs(), open);
});
