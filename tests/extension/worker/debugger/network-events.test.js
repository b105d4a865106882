import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

/** @type {[string | undefined, string, any][]} */
let sent = [];
/** @type {Record<string, any>[]} */
let stored = [];
const settled = () => new Promise(setImmediate);
globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async (kept) => void stored.push(kept) } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://shop.example/" }) },
  debugger: {
    attach: async () => {},
    detach: async () => {},
    getTargets: async () => [],
    sendCommand: async ({ sessionId }, method, params) =>
      void sent.push([sessionId, method, params]),
  },
};
const { dropNetwork, useNetwork } =
  await import("../../../../extension/worker/debugger/network-events.js");
const { forgetTab, hold } = await import("../../../../extension/worker/debugger/debugger.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const TAB = 7;
const methods = () => sent.map(([session, method]) => [session, method].filter(Boolean).join(" "));
const child = (sessionId) =>
  report("event", TAB, undefined, "Target.attachedToTarget", {
    sessionId,
    targetInfo: { type: "iframe", url: "https://other.example/" },
  });

beforeEach(async () => {
  forgetTab(TAB);
  await hold(TAB, "test");
  sent = [];
});

test("network events are enabled once for two users, and disabled after the last one", async () => {
  await useNetwork(TAB, "one", {});
  await useNetwork(TAB, "two", {});
  dropNetwork(TAB, "one");
  assert.deepEqual(methods(), ["Network.enable"]);
  dropNetwork(TAB, "two");
  assert.deepEqual(methods(), ["Network.enable", "Network.disable"]);
});

test("bodies are kept once a user needs them, and a later user does not end that", async () => {
  await useNetwork(TAB, "action", {});
  await useNetwork(TAB, "recording", { bodies: true });
  await useNetwork(TAB, "another action", {});
  const sizes = sent.map(([, , params]) => params.maxTotalBufferSize > 0);
  assert.deepEqual(sizes, [false, true]);
});

test("frames are prepared before they run", async () => {
  await useNetwork(TAB, "recording", { children: true });
  sent = [];
  child("s1");
  await settled();
  assert.deepEqual(methods(), [
    "s1 Network.enable",
    "s1 Target.setAutoAttach",
    "s1 Runtime.runIfWaitingForDebugger",
  ]);
});

test("a frame runs only once the next worker would know it, however busy the storage is", async () => {
  await useNetwork(TAB, "recording", { children: true });
  for (const session of ["s1", "s2", "s3"]) {
    [sent, stored] = [[], []];
    child(session);
    assert.ok(!methods().includes(`${session} Runtime.runIfWaitingForDebugger`));
    await settled();
    assert.ok(methods().includes(`${session} Runtime.runIfWaitingForDebugger`));
    const [[, children]] = stored.at(-1)?.children ?? [[]];
    assert.equal(children.at(-1).session, session);
  }
});

test("auto-attach to frames ends with its last user, network events of the tab do not", async () => {
  await useNetwork(TAB, "throttling", {});
  await useNetwork(TAB, "action", { children: true });
  sent = [];
  dropNetwork(TAB, "action");
  assert.deepEqual(methods(), ["Target.setAutoAttach"]);
  assert.equal(sent[0][2].autoAttach, false);
});

test("detaching the debugger forgets all users, and the next one enables events again", async () => {
  await useNetwork(TAB, "one", {});
  forgetTab(TAB);
  await hold(TAB, "test");
  sent = [];
  await useNetwork(TAB, "two", {});
  assert.deepEqual(methods(), ["Network.enable"]);
});
