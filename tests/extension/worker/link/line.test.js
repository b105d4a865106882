import assert from "node:assert/strict";
import { test } from "node:test";

import { Line } from "../../../../extension/worker/link/line.js";

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
    line.report("tab.stateChanged", huge),
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

test("nothing is sent on a closed connection", () => {
  const socket = new Socket();
  const line = new Line(socket);
  socket.readyState = WebSocket.CLOSED;
  line.answer(1, {});
  assert.deepEqual(socket.sent, []);
});

test("a request gets its own answer, in any order", async () => {
  const socket = new Socket();
  const line = new Line(socket);
  line.report("tab.stateChanged", {});
  const [first, second] = [line.request("frames.allowed", {}), line.request("files.read", {})];
  const [, { id: firstId }, { id: secondId }] = socket.sent;
  line.answered({ id: secondId, result: "second" });
  line.answered({ id: firstId, result: "first" });
  line.answered({ id: firstId, result: "again" });
  assert.deepEqual(await Promise.all([first, second]), ["first", "second"]);
});

test("a request fails with the server's error, if it is too large, or if the connection closes", async () => {
  const socket = new Socket();
  const line = new Line(socket);
  const refused = line.request("frames.allowed", {});
  const error = { code: -32000, message: "No.", data: { reason: "forbidden" } };
  line.answered({ id: socket.sent[0].id, error });
  await assert.rejects(refused, { message: "No.", reason: "forbidden" });

  await assert.rejects(line.request("frames.allowed", { text: "x".repeat(11_000_000) }), {
    reason: "too_large",
  });

  let isClosed = false;
  line.onClosed = () => (isClosed = true);
  const waiting = line.request("frames.allowed", {});
  line.ended();
  await assert.rejects(waiting, { reason: "not_connected" });
  assert.equal(isClosed, true);

  socket.readyState = WebSocket.CLOSED;
  await assert.rejects(line.request("frames.allowed", {}), { reason: "not_connected" });
});

test("a connection sends only methods that the table allows to the extension", async () => {
  const socket = new Socket();
  const line = new Line(socket);
  assert.throws(() => line.notify("sync.full", {}), TypeError);
  assert.throws(() => line.report("toString", {}), TypeError);
  await assert.rejects(line.request("tab.dance", {}), TypeError);
  assert.deepEqual(socket.sent, []);
});
