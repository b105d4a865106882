import assert from "node:assert/strict";
import { test } from "node:test";

import { Line } from "../../extension/worker/line.js";

class Socket {
  readyState = WebSocket.OPEN;
  sent = [];
  send(text) {
    this.sent.push(JSON.parse(text));
  }
}

test("a message larger than the server takes is not sent, whatever it is", () => {
  const socket = new Socket();
  const line = new Line(socket);
  const huge = { text: "ü".repeat(6_000_000) };
  for (const fits of [
    line.notify("tab.syncAll", huge),
    line.tell("tab.stateChanged", huge),
    line.answer(1, huge),
    line.refuse(1, huge),
  ]) {
    assert.equal(fits, false);
  }
  assert.deepEqual(socket.sent, []);
  assert.equal(line.notify("ping", {}), true);
  line.maxBytes = 30;
  assert.equal(line.notify("ping", {}), false);
  assert.equal(socket.sent.length, 1);
});

test("on a line that has closed nothing is said", () => {
  const socket = new Socket();
  const line = new Line(socket);
  socket.readyState = WebSocket.CLOSED;
  line.answer(1, {});
  assert.deepEqual(socket.sent, []);
});
