import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

import { Tunnels, cut } from "../../../../extension/worker/link/tunnel.js";

const table = new URL("../../../proxy/tunnel_vectors.json", import.meta.url);
const { cuts, sessions } = JSON.parse(readFileSync(table, "utf8"));
const bytes = (text) => new TextEncoder().encode(text).length;

/** Long texts are written as units and how often they come. */
const expanded = (text) =>
  Array.isArray(text) ? text.map(([unit, times]) => unit.repeat(times)).join("") : text;

test("a message is cut between characters", () => {
  for (const { text, sizes } of cuts) {
    const parts = cut(expanded(text));
    assert.deepEqual(parts.map(bytes), sizes);
    assert.equal(parts.join(""), expanded(text));
  }
});

/** Does the steps of one vector. */
class Walk {
  opened = 0;
  session = null;
  seen = new Map();
  tunnels = new Tunnels(
    (connection, socket) => {
      const session = { socket, messages: [], closed: null };
      socket.onmessage = ({ data }) => session.messages.push(data);
      socket.onclose = ({ code }) => (session.closed = code);
      this.session ??= session;
    },
    () => "v1-0.1.0",
  );

  async do(step) {
    const [kind] = Object.keys(step);
    await this[kind](step[kind], step);
    // Answers and ends are seen in later tasks.
    for (let i = 0; i < 5; i++) await Promise.resolve();
  }

  async open() {
    this.opened += 1;
    this.session = null;
    await this.take({ turn: 0, ack: 0, pieces: [] }, { as: "open" });
    for (let i = 0; i < 5; i++) await Promise.resolve();
    this.seen.delete("open");
  }

  take(given, { as, connection = "own" }) {
    const pieces =
      given.pieces &&
      given.pieces.map((one) => ("text" in one ? { ...one, text: expanded(one.text) } : one));
    const params = { session: `session-number-${this.opened}`, ...given, pieces };
    this.tunnels.take({ id: connection, name: "agent" }, params).then(
      (answer) => this.seen.set(as, { answer }),
      (error) => this.seen.set(as, { error: error.reason }),
    );
  }

  send(text) {
    this.session.socket.send(expanded(text));
  }

  close(code) {
    this.session.socket.close(code);
  }

  wait(seconds) {
    mock.timers.tick(seconds * 1000);
  }

  answers(wanted) {
    assert.deepEqual(this.taken("answer"), wanted);
  }

  sizes(wanted) {
    const found = Object.entries(this.taken("answer"));
    const sizes = found.map(([as, { pieces }]) => [as, pieces.map(({ text }) => bytes(text))]);
    assert.deepEqual(Object.fromEntries(sizes), wanted);
  }

  errors(wanted) {
    assert.deepEqual(this.taken("error"), wanted);
  }

  taken(kind) {
    const found = [...this.seen].filter(([, one]) => kind in one);
    for (const [as] of found) this.seen.delete(as);
    return Object.fromEntries(found.map(([as, one]) => [as, one[kind]]));
  }

  messages(wanted) {
    assert.deepEqual(this.session.messages, wanted.map(expanded));
  }

  closed(wanted) {
    assert.equal(this.session.closed, wanted);
  }
}

for (const { name, steps } of sessions) {
  test(name, async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    try {
      const walk = new Walk();
      for (const step of steps) await walk.do(step);
    } finally {
      mock.timers.reset();
    }
  });
}

const OPENING = { session: "session-number-1", turn: 0, ack: 0, pieces: [] };
const agent = { id: "conn-a", name: "agent" };

/** Tunnels whose sockets are kept. */
function keeping() {
  const sockets = [];
  const tunnels = new Tunnels(
    (_, socket) => sockets.push(socket),
    () => "",
  );
  return { tunnels, sockets };
}

test("a session is found only by the client that has opened it", async () => {
  const { tunnels, sockets } = keeping();
  await tunnels.take(agent, OPENING);
  const next = { ...OPENING, turn: 1 };
  await assert.rejects(tunnels.take({ id: "conn-a", name: "other" }, next), {
    reason: "unknown_session",
  });
  sockets[0].end(1006);
});

test("a session that its taker refuses is not kept", async () => {
  const tunnels = new Tunnels(
    () => {
      throw Object.assign(new Error("No."), { reason: "permission_off" });
    },
    () => "",
  );
  await assert.rejects(tunnels.take(agent, OPENING), { reason: "permission_off" });
  await assert.rejects(tunnels.take(agent, { ...OPENING, turn: 1 }), { reason: "unknown_session" });
});

test("there are so many sessions and no more, and one client has only a part of them", async () => {
  const { tunnels, sockets } = keeping();
  const open = (i, name) =>
    tunnels.take({ id: `conn-${i}`, name }, { ...OPENING, session: `session-number-${i}` });
  for (let i = 0; i < 100; i++) await open(i, "agent");
  assert.equal(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length, 16);
  for (let i = 100; i < 148; i++) await open(i, `other ${i % 3}`);
  await assert.rejects(open(148, "another"), { reason: "too_many_calls" });
  sockets.at(-1).end(1006);
  await open(149, "another");
  for (const socket of sockets) socket.end(1006);
});

test("requests of a connection that has ended are released, and its session can go on", async () => {
  const { tunnels, sockets } = keeping();
  await tunnels.take(agent, OPENING);
  const waiting = tunnels.take(agent, { ...OPENING, turn: 1 });
  tunnels.left("conn-a");
  assert.deepEqual(await waiting, { ack: 0, pieces: [] });
  sockets[0].send("news");
  const answer = await tunnels.take({ id: "conn-b", name: "agent" }, { ...OPENING, turn: 2 });
  assert.deepEqual(answer.pieces, [{ number: 1, text: "news" }]);
  sockets[0].end(1006);
});

test("a fault in the handling of a message does not disturb the session", async () => {
  const { tunnels, sockets } = keeping();
  await tunnels.take(agent, OPENING);
  sockets[0].onmessage = () => {
    throw new Error("a fault");
  };
  const pieces = [{ number: 1, text: "x" }];
  const answer = tunnels.take(agent, { ...OPENING, turn: 1, pieces });
  sockets[0].send("still here");
  assert.equal((await answer).ack, 1);
  sockets[0].end(1006);
});

test("all sessions can be ended, and their servers learn it", async () => {
  const { tunnels, sockets } = keeping();
  await tunnels.take(agent, OPENING);
  const waiting = tunnels.take(agent, { ...OPENING, turn: 1 });
  tunnels.closeAll(4003);
  assert.deepEqual(await waiting, { ack: 0, pieces: [{ number: 1, close: 4003 }] });
  assert.equal(sockets[0].readyState, WebSocket.CLOSING);
  sockets[0].end(1006);
});
