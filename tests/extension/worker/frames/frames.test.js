import assert from "node:assert/strict";
import { test } from "node:test";

import { Frame } from "../../../../extension/worker/frames/frames.js";

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
