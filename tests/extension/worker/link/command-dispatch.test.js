import assert from "node:assert/strict";
import { test } from "node:test";

import { Dispatcher } from "../../../../extension/worker/link/command-dispatch.js";
import { checker } from "../../../../extension/worker/link/input-schema.js";

class Line {
  sent = [];
  fits = true;
  answer(id, result) {
    if (this.fits) this.sent.push([id, result]);
    return this.fits;
  }
  refuse(id, error) {
    this.sent.push([id, error.data.reason]);
  }
  notify(method, params) {
    this.sent.push([method, params]);
  }
}

function dispatcherOf(run, line = new Line(), more = {}) {
  const commands = { ready: Promise.resolve(), run, reportTabChanges: async () => {}, ...more };
  return { line, dispatcher: new Dispatcher(line, commands) };
}

function ask(dispatcher, id, tool = "tabs.list") {
  const params = { plugin: "browser", tool, dispatchId: id, input: {} };
  dispatcher.receive({ kind: "request", id, method: "tool.dispatch", params });
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("a request is answered on its own connection, even after another has opened", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const old = dispatcherOf(() => promise);
  const fresh = dispatcherOf(async () => "new");
  ask(old.dispatcher, "1");
  ask(fresh.dispatcher, "1");
  resolve("old");
  await settled();
  assert.deepEqual(old.line.sent, [["1", { output: "old" }]]);
  assert.deepEqual(fresh.line.sent, [["1", { output: "new" }]]);
});

test("closing a connection cancels its requests", async () => {
  const signals = [];
  const { line, dispatcher } = dispatcherOf((_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  ask(dispatcher, "1");
  ask(dispatcher, "2");
  await settled();
  line.onClosed();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test("a call that is cancelled before its start does not start", async () => {
  let begun = false;
  const { line, dispatcher } = dispatcherOf(async () => (begun = true));
  ask(dispatcher, "1");
  const params = { dispatchId: "1" };
  dispatcher.receive({ kind: "notification", method: "tool.cancel", params });
  await settled();
  assert.equal(begun, false);
  assert.deepEqual(line.sent, [["1", "cancelled"]]);
});

test("an answer that is too large is refused by the server's own limit", async () => {
  const { line, dispatcher } = dispatcherOf(async () => "huge");
  dispatcher.receive({ kind: "notification", method: "sync.full", params: { maxBytes: 99 } });
  assert.equal(line.maxBytes, 99);
  line.fits = false;
  ask(dispatcher, "1");
  await settled();
  assert.deepEqual(line.sent, [["1", "too_large"]]);
});

test("an input is checked only if the server declares its commands and is on this machine", async () => {
  const $defs = { Nothing: { type: "object", additionalProperties: false } };
  const params = { commands: { inputs: { "tabs.list": { $ref: "#/$defs/Nothing" } }, $defs } };
  const input = { all: true };
  const results = async (more) => {
    const { line, dispatcher } = dispatcherOf(async () => "done", new Line(), more);
    const send = (id) => {
      const dispatch = { plugin: "browser", tool: "tabs.list", dispatchId: id, input };
      dispatcher.receive({ kind: "request", id, method: "tool.dispatch", params: dispatch });
    };
    send("1");
    await settled();
    dispatcher.receive({ kind: "notification", method: "sync.full", params });
    send("2");
    await settled();
    return line.sent.map(([, result]) => result.output ?? result);
  };
  assert.deepEqual(await results({ checker }), ["done", "internal"]);
  assert.deepEqual(await results({}), ["done", "done"]);
});
