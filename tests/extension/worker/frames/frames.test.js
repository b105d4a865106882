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
  const heard = [];
  frame.onSaid = (message) => heard.push(message);
  frame.onRateLimit = () => heard.push("rate");
  frame.onGone = () => heard.push("gone");
  return { frame, port, heard };
}

test("who says too much has to rest, and is heard no more on that port", async () => {
  const { frame, port, heard } = opened();
  const asked = assert.rejects(frame.ask("read", {}), { reason: "navigated_away" });
  for (let i = 0; i < 2000; i++) port.say({ type: "fromChild" });
  await asked;
  assert.equal(heard.length, 1002);
  assert.deepEqual(heard.slice(-2), ["rate", "gone"]);
  assert.equal(port.isOpen, false);
  assert.equal(port.posted.at(-1).type, "rest");
});

test("answers to questions nobody asked are a rate, answers to ours are none", async () => {
  const { frame, port, heard } = opened();
  for (let i = 1; i <= 2000; i++) {
    const asked = frame.ask("read", {});
    port.say({ id: i, value: i });
    assert.equal(await asked, i);
  }
  assert.deepEqual(heard, []);
  for (let i = 0; i < 3000; i++) port.say({ id: 5 });
  assert.deepEqual(heard, ["rate", "gone"]);
});
