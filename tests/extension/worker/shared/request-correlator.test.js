import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Correlator } from "../../../../extension/worker/shared/request-correlator.js";

test("each answer goes to its request, in any order", async () => {
  const requests = new Correlator();
  const sent = [];
  const all = ["a", "b"].map(() => requests.request((id) => sent.push(id)));
  assert.deepEqual(sent, [1, 2]);
  requests.settle(2, undefined, "second");
  requests.settle(1, null, "first");
  requests.settle(1, undefined, "again");
  assert.deepEqual(await Promise.all(all), ["first", "second"]);
});

test("a request fails with its error, and an unknown id is ignored", async () => {
  const requests = new Correlator();
  const failed = requests.request(() => {}, { id: "x" });
  for (const id of ["y", 1, undefined, "__proto__"]) requests.settle(id, undefined, "wrong");
  assert.equal(requests.has("x"), true);
  requests.settle("x", new Error("no"), "ignored");
  await assert.rejects(failed, { message: "no" });
  assert.equal(requests.has("x"), false);
});

test("the sender settles a request that cannot be sent", async () => {
  const requests = new Correlator();
  const failed = requests.request((id) => requests.settle(id, new Error("too large")));
  await assert.rejects(failed, { message: "too large" });
});

test("requests and messages without an answer share one count of ids", () => {
  const requests = new Correlator();
  assert.equal(requests.nextId(), 1);
  let id;
  void requests.request((given) => (id = given));
  assert.equal(id, 2);
  assert.equal(requests.nextId(), 3);
});

test("a late request fails, and an answer in time clears the timer", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const requests = new Correlator();
  const how = { timeoutMs: 100, late: () => new Error("late") };
  const [slow, quick] = [requests.request(() => {}, how), requests.request(() => {}, how)];
  requests.settle(2, undefined, "done");
  assert.equal(await quick, "done");
  mock.timers.tick(100);
  await assert.rejects(slow, { message: "late" });
  mock.timers.reset();
});

test("a note stays with its request until the answer", () => {
  const requests = new Correlator();
  void requests.request(() => {}, { id: "x", note: "kept" });
  assert.equal(requests.noteOf("x"), "kept");
  requests.settle("x");
  assert.equal(requests.noteOf("x"), undefined);
});

test("all waiting requests fail when the connection ends", async () => {
  const requests = new Correlator();
  const all = [1, 2].map(() => requests.request(() => {}));
  requests.failAll(() => new Error("closed"));
  const ends = await Promise.allSettled(all);
  assert.deepEqual(
    ends.map(({ reason }) => reason.message),
    ["closed", "closed"],
  );
});

test("a second injection changes nothing, and an element cannot replace the correlator", async () => {
  await import("../../../../extension/content/shared/correlator.js?again");
  assert.equal(globalThis.TabhubCorrelator, Correlator);
  assert.deepEqual(Object.keys(globalThis).includes("TabhubCorrelator"), false);
});
