/**
 * Drives the extension's end of a tunnel by lines of JSON: one step in, what came of it out. The
 * clock stands still unless a step moves it.
 */

import { mock } from "node:test";
import { createInterface } from "node:readline";

import { Tunnels } from "../../extension/worker/link/tunnel.js";

mock.timers.enable({ apis: ["setTimeout", "Date"] });
const seen = {};
let tunnels, socket;

function reset() {
  Object.assign(seen, { answers: [], messages: [], closed: null });
  socket = null;
  tunnels = new Tunnels(
    (_, opened) => {
      socket = opened;
      socket.onmessage = ({ data }) => seen.messages.push(data);
      socket.onclose = ({ code }) => (seen.closed = code);
    },
    () => "v1-0.1.0",
  );
}

const steps = {
  reset,
  take: ({ key, connection, params }) =>
    void tunnels.take({ id: connection, name: "agent" }, params).then(
      (result) => seen.answers.push({ key, result }),
      ({ reason }) => seen.answers.push({ key, reason }),
    ),
  send: ({ text }) => socket.send(text),
  close: ({ code }) => socket.close(code),
  left: ({ connection }) => tunnels.left(connection),
  tick: ({ ms }) => mock.timers.tick(ms),
};

for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  steps[step.do](step);
  // Answers and ends are seen in later tasks.
  for (let i = 0; i < 10; i++) await Promise.resolve();
  const isOver = socket?.readyState === WebSocket.CLOSED;
  process.stdout.write(JSON.stringify({ ...seen, isOpen: Boolean(socket), isOver }) + "\n");
  seen.answers = [];
  seen.messages = [];
}
