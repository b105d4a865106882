import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

const kept = {};
globalThis.chrome = {
  storage: {
    session: {
      get: async (name) => ({ [name]: kept[name] }),
      set: async (values) => void Object.assign(kept, values),
    },
  },
};
const sockets = [];
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  sent = [];
  constructor(url) {
    this.url = String(url);
    sockets.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close(code) {
    this.code = code;
  }
  says(message) {
    this.onmessage({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }
};
mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
const { ProxySocket, pauseAfter } = await import(
  "../../../../extension/worker/remote/proxy-socket.js"
);

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

let count = 0;

/** Each has hosts of its own, since those of earlier tests go on trying. */
const made = () => {
  const events = [];
  const hosts = [`a${++count}.example`, `b${count}.example`];
  const proxy = { events, service: { urls: hosts, token: "t" } };
  proxy.sockets = () => sockets.filter(({ url }) => hosts.some((host) => url.includes(host)));
  const terms = {
    service: async () => proxy.service,
    describe: async () => ({ name: "Chrome 1", profile_id: "p" }),
    begin: () => (message) => events.push(message.method),
    closed: (code) => events.push(code),
    refused: (token, why) => events.push(`refused ${token}: ${why}`),
    changed: () => {},
  };
  proxy.socket = new ProxySocket(terms);
  return proxy;
};

const opened = async (proxy) => {
  proxy.socket.rescue();
  await settled();
  const socket = proxy.sockets().at(-1);
  socket.says({ id: "proxy:1", method: "authenticate", params: {} });
  await settled();
  socket.says({ method: "authenticated", params: {} });
  await settled();
  return socket;
};

afterEach(() => {
  delete kept.remoteRetry;
  mock.timers.tick(0);
});

test("it waits for the proxy to ask, and then says who it is", async () => {
  const proxy = made();
  const socket = await opened(proxy);
  assert.match(socket.url, /^wss:\/\/a\d\.example\/extension$/);
  const result = { name: "Chrome 1", profile_id: "p", accessToken: "t" };
  assert.deepEqual(socket.sent, [{ jsonrpc: "2.0", id: "proxy:1", result }]);
  assert.equal(proxy.socket.state, "open");
  socket.says({ method: "status", params: { clients: [] } });
  assert.deepEqual(proxy.events, ["status"]);
});

test("nothing is taken before the proxy has let it in", async () => {
  const proxy = made();
  proxy.socket.rescue();
  await settled();
  const [socket] = proxy.sockets();
  socket.says({ id: "conn-a:1", method: "getTabs", params: {} });
  assert.deepEqual(proxy.events, []);
  assert.deepEqual(socket.sent, []);
});

test("after a loss it tries the next address, within the pause", async () => {
  const proxy = made();
  const socket = await opened(proxy);
  socket.onclose({ code: 1012 });
  await settled();
  mock.timers.tick(1000);
  await settled();
  assert.equal(proxy.sockets().length, 2);
  assert.match(proxy.sockets()[1].url, /^wss:\/\/b\d\.example\/extension$/);
});

test("each loss leads to the next address, and a connection that closes soon counts as a failure", async (t) => {
  t.mock.method(Math, "random", () => 1);
  const proxy = made();
  const lost = async (pause) => {
    (await opened(proxy)).onclose({ code: 4429 });
    await settled();
    mock.timers.tick(pause - 1);
    await settled();
    const count = proxy.sockets().length;
    mock.timers.tick(1);
    await settled();
    assert.equal(proxy.sockets().length, count + 1);
  };
  for (const pause of [1000, 2000, 4000]) await lost(pause);
  const hosts = proxy.sockets().map(({ url }) => url.replace(/^wss:..(.).*/, "$1"));
  assert.deepEqual(hosts, ["a", "b", "a", "b"]);
  const socket = await opened(proxy);
  for (const _ of [1, 2, 3, 4]) {
    mock.timers.tick(20_000);
    socket.says({ method: "status", params: {} });
  }
  await settled();
  await lost(1000);
});

test("a refused token is reported and not tried again", async () => {
  const proxy = made();
  proxy.socket.rescue();
  await settled();
  const [socket] = proxy.sockets();
  socket.says({ id: "proxy:1", error: { code: -32000, message: "Token expired" } });
  socket.onclose({ code: 4401 });
  await settled();
  mock.timers.tick(600_000);
  await settled();
  assert.deepEqual(proxy.events, [4401, "refused t: Token expired"]);
  assert.equal(proxy.sockets().length, 1);
});

test("a browser that was replaced leaves the other one alone for a while", async () => {
  const proxy = made();
  (await opened(proxy)).onclose({ code: 4001 });
  await settled();
  mock.timers.tick(240_000);
  await settled();
  proxy.socket.rescue();
  await settled();
  assert.equal(proxy.sockets().length, 1);
});

test("a silent connection is dropped", async () => {
  const proxy = made();
  const socket = await opened(proxy);
  mock.timers.tick(40_000);
  socket.says({ method: "status", params: {} });
  mock.timers.tick(40_000);
  assert.equal(socket.code, undefined);
  mock.timers.tick(30_000);
  assert.equal(socket.code, 4000);
  assert.equal(proxy.socket.state, "closed");
});

test("another token is used at once", async () => {
  const proxy = made();
  const socket = await opened(proxy);
  await proxy.socket.reconsider();
  assert.equal(socket.code, undefined);
  proxy.service = { ...proxy.service, token: "new" };
  await proxy.socket.reconsider();
  await settled();
  assert.equal(socket.code, 1000);
  const second = await opened(proxy);
  assert.equal(second.sent[0].result.accessToken, "new");
});

test("pauses are random, and their limit grows from a second to a minute", () => {
  const longest = (tries) => Math.max(...Array.from({ length: 300 }, () => pauseAfter(tries)));
  assert.ok(longest(0) <= 1000 && longest(0) > 500);
  assert.ok(longest(3) <= 8000 && longest(3) > 4000);
  assert.ok(longest(50) <= 60_000 && longest(50) > 30_000);
});
