import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Relay } from "../../../../extension/worker/person/open-panels.js";

function relayWith({ count = 1, ask = async () => "state" } = {}) {
  const forwarded = [];
  const noted = [];
  const note = (name) => (what) => noted.push([name, what]);
  const attention = {
    asked: note("asked"),
    decided: note("decided"),
    missed: note("missed"),
    sync: note("sync"),
    disconnected: note("disconnected"),
  };
  const panels = { count, decided() {}, broadcast: (method) => forwarded.push(method) };
  return { relay: new Relay(panels, attention, ask), forwarded, noted };
}

const news = (method, params = {}) => ({ kind: "notification", method, params });

test("messages of the server to the person go to the panels and to the badge", () => {
  const { relay, forwarded, noted } = relayWith();
  assert.equal(relay.receive(news("confirmation.request", { id: "1" })), true);
  assert.equal(relay.receive(news("confirmation.closed", { id: "1" })), true);
  assert.equal(relay.receive(news("confirmation.missed", { tool: "t" })), true);
  const methods = ["confirmation.request", "confirmation.closed", "confirmation.missed"];
  assert.deepEqual(forwarded, methods);
  assert.deepEqual(noted, [
    ["asked", { id: "1" }],
    ["decided", "1"],
    ["missed", { tool: "t" }],
  ]);
});

test("other messages are not handled", () => {
  const { relay, forwarded } = relayWith();
  assert.equal(relay.receive(news("tool.cancel")), false);
  const request = { kind: "request", id: 1, method: "confirmation.request", params: {} };
  assert.equal(relay.receive(request), false);
  assert.deepEqual(forwarded, []);
});

for (const [count, pause] of [
  [1, 20],
  [0, 2000],
]) {
  test(`many changes cause one request, after ${pause} ms with ${count} panels`, async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    let asked = 0;
    const { relay, forwarded } = relayWith({ count, ask: async () => ++asked });
    for (let i = 0; i < 5; i++) relay.receive(news("state.changed"));
    mock.timers.tick(pause - 1);
    assert.equal(asked, 0);
    mock.timers.tick(1);
    await Promise.resolve();
    assert.equal(asked, 1);
    assert.deepEqual(forwarded, ["state"]);
    relay.receive(news("state.changed"));
    mock.timers.tick(pause);
    assert.equal(asked, 2);
    mock.timers.reset();
  });
}

test("a server that does not answer changes nothing", async () => {
  const { relay, forwarded, noted } = relayWith({ ask: () => Promise.reject(new Error("no")) });
  await relay.refresh();
  assert.deepEqual([forwarded, noted], [[], []]);
});
