import assert from "node:assert/strict";
import { test } from "node:test";

import {
  childCommitted,
  Frame,
  frameConnected,
  framesOf,
  untilConnected,
} from "../../../../extension/worker/frames/frames.js";

globalThis.chrome = { runtime: {} };

function opened() {
  const posted = [];
  const port = { posted, isOpen: true, sender: {} };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: (listener) => (port.close = listener) };
  port.postMessage = (message) => posted.push(message);
  port.disconnect = () => (port.isOpen = false);
  const frame = new Frame(port, 1, 0, "https://a.example");
  const events = [];
  frame.onSaid = (message) => events.push(message);
  frame.onRateLimit = () => events.push("rate");
  frame.onGone = () => events.push("gone");
  return { frame, port, events };
}

test("a frame that sends too much is paused, and its port is closed", async () => {
  const { frame, port, events } = opened();
  const asked = assert.rejects(frame.ask("read", {}), { reason: "navigated_away" });
  for (let i = 0; i < 2000; i++) port.say({ type: "fromChild" });
  await asked;
  assert.equal(events.length, 1002);
  assert.deepEqual(events.slice(-2), ["rate", "gone"]);
  assert.equal(port.isOpen, false);
  assert.equal(port.posted.at(-1).type, "rest");
});

test("unrequested answers count toward the rate limit, requested ones do not", async () => {
  const { frame, port, events } = opened();
  for (let i = 1; i <= 2000; i++) {
    const asked = frame.ask("read", {});
    port.say({ id: i, value: i });
    assert.equal(await asked, i);
  }
  assert.deepEqual(events, []);
  for (let i = 0; i < 3000; i++) port.say({ id: 5 });
  assert.deepEqual(events, ["rate", "gone"]);
});

function connect(tabId, frameId, documentId) {
  const port = { name: "frame", sender: { tab: { id: tabId }, frameId, documentId } };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: () => {} };
  frameConnected(port);
  port.say({ type: "hello" });
}

test("a child frame that has loaded is waited for until it connects", async () => {
  const url = "https://b.example/";
  childCommitted({ tabId: 5, frameId: 7, url, documentId: "one" });
  const order = [];
  const waited = untilConnected(5).then(() => order.push("waited"));
  await Promise.resolve();
  order.push("connected");
  connect(5, 7, "one");
  await waited;
  assert.deepEqual(order, ["connected", "waited"]);
  assert.deepEqual(
    framesOf(5).map(({ frameId }) => frameId),
    [7],
  );
});

test("a child frame that never connects is waited for once", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  childCommitted({ tabId: 6, frameId: 7, url: "https://b.example/a.pdf", documentId: "one" });
  const waited = untilConnected(6);
  context.mock.timers.tick(500);
  await waited;
  await untilConnected(6);
});

test("a frame that connected before its load was reported, or where no script runs, is not waited for", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  connect(8, 7, "one");
  childCommitted({ tabId: 8, frameId: 7, url: "https://b.example/", documentId: "one" });
  childCommitted({ tabId: 8, frameId: 9, url: "https://b.example/", documentId: "two" });
  childCommitted({ tabId: 8, frameId: 9, url: "chrome-error://chromewebdata/", documentId: "three" });
  await untilConnected(8);
});
