import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { WorkerPort } from "../../../extension/panel/port.js";

let ports;
globalThis.document = { visibilityState: "visible" };
globalThis.chrome = {
  runtime: {
    connect() {
      const port = { isOpen: true, postMessage() {}, disconnect: () => (port.isOpen = false) };
      port.onMessage = { addListener: (listener) => (port.say = listener) };
      port.onDisconnect = { addListener() {} };
      ports.push(port);
      return port;
    },
  },
};

beforeEach(() => {
  ports = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

function connected() {
  new WorkerPort(
    () => {},
    () => {},
  ).connect();
}

test("a port to a worker that says nothing is closed, and another one opened", () => {
  connected();
  mock.timers.tick(5000);
  mock.timers.tick(1000);
  assert.deepEqual(
    ports.map(({ isOpen }) => isOpen),
    [false, true],
  );
});

test("a port to a worker that has answered stays open", () => {
  connected();
  ports[0].say({ id: 1, result: {} });
  mock.timers.tick(60_000);
  assert.deepEqual(
    ports.map(({ isOpen }) => isOpen),
    [true],
  );
});
