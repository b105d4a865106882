import assert from "node:assert/strict";
import { mock, test } from "node:test";

const stored = {};
const area = (kept) => ({
  get: async (names) =>
    structuredClone(Object.fromEntries([names].flat().map((name) => [name, kept[name]]))),
  set: async (values) => void Object.assign(kept, structuredClone(values)),
  remove: async (names) => void names.forEach((name) => delete kept[name]),
});
globalThis.chrome = {
  runtime: { getURL: (path) => `chrome-extension://abc/${path}` },
  storage: { session: area({}), local: area(stored) },
  debugger: { attach: async () => {}, detach: async () => {}, sendCommand: async () => ({}) },
  tabs: { get: async (id) => ({ id, url: "https://a.example/", title: "A" }) },
};
globalThis.fetch = async () => Promise.reject(new Error("no auth.json"));
const sockets = [];
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  sent = [];
  constructor() {
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
mock.timers.enable({ apis: ["setInterval"] });
const { RemoteAccess } = await import("../../../../extension/worker/remote/remote-access.js");
const { forgetService, saveService } = await import(
  "../../../../extension/worker/shared/remote-settings.js"
);

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const tokenOf = (user) => `a.${btoa(JSON.stringify({ user_id: user }))}.c`;
const SERVICE = { urls: ["https://a.example"], token: tokenOf("ann") };

/** The browser of a person who has allowed these clients, and what has happened in it. */
const signals = [];
const events = [];
const access = new RemoteAccess({
  ready: Promise.resolve(),
  run: (name, { signal }) => {
    signals.push(signal);
    return name === "tabs.list" ? Promise.resolve({ tabs: [] }) : new Promise(() => {});
  },
  reportTabChanges: async () => {},
  uses: { sharing: (_, run) => run, left: ({ name }) => events.push(`left ${name}`) },
  takeLink: async () => ({}),
  left: () => {},
  revoked: (name) => events.push(`revoked ${name}`),
  ended: () => events.push("ended"),
  changed: () => {},
});

/** A connection to the proxy, with a client of each of these names. */
async function opened(clients, names) {
  await saveService(SERVICE);
  stored.remoteClients = clients;
  await access.reconsider();
  await settled();
  const socket = sockets.at(-1);
  socket.says({ method: "authenticated", params: {} });
  const told = names.map((name, i) => ({ connection_id: `conn-${i}`, name }));
  socket.says({ method: "status", params: { clients: told } });
  const ask = async (id, method, params = {}) => {
    socket.says({ id, method, params });
    await settled();
    return socket.sent.find((message) => message.id === id);
  };
  events.length = signals.length = 0;
  return { socket, ask };
}

const reasonOf = (answer) => answer?.error?.data.reason;

test("a level that is raised ends nothing, and counts at once", async () => {
  const { ask } = await opened({ laptop: "look" }, ["laptop"]);
  const waiting = ask("conn-0:1", "screenshot");
  assert.equal(reasonOf(await ask("conn-0:2", "createTab")), "permission_off");
  await access.allow({ name: "laptop", level: "act" });
  assert.deepEqual(events, []);
  assert.equal(await ask("conn-0:3", "createTab"), undefined);
  assert.deepEqual(signals.at(-1).aborted, false);
  assert.equal(reasonOf(await waiting), "no_current_tab");
});

test("a level that is lowered ends at once what runs, once", async () => {
  const { socket, ask } = await opened({ laptop: "act" }, ["laptop"]);
  assert.equal(await ask("conn-0:4", "createTab"), undefined);
  // The storage tells of the change too.
  await Promise.all([access.allow({ name: "laptop", level: "look" }), access.reconsider()]);
  await settled();
  assert.deepEqual(events, ["left laptop", "revoked laptop"]);
  assert.ok(signals.at(-1).aborted);
  assert.equal(reasonOf(socket.sent.find(({ id }) => id === "conn-0:4")), "cancelled");
});

test("two changes at once are both made", async () => {
  await opened({ laptop: "act", phone: "act" }, ["laptop", "phone"]);
  await Promise.all([
    access.allow({ name: "laptop", level: null }),
    access.allow({ name: "phone", level: "look" }),
  ]);
  assert.deepEqual(stored.remoteClients, { phone: "look" });
});

test("the one button refuses requests before the connection has closed", async () => {
  const { ask, socket } = await opened({ laptop: "everything" }, ["laptop"]);
  const ending = access.setEnded(true);
  await ending;
  assert.deepEqual(events.filter((event) => event === "ended"), ["ended"]);
  assert.equal(socket.code, 1000);
  assert.equal(access.state.clients[0].level, "everything");
  socket.says({ method: "status", params: { clients: [{ connection_id: "conn-0", name: "laptop" }] } });
  assert.equal(reasonOf(await ask("conn-0:5", "getTabs")), undefined);
  assert.equal(access.levelOf("laptop"), null);
  await access.setEnded(false);
  assert.equal(access.levelOf("laptop"), "everything");
});

test("the brake ends all, and its end undoes only what the brake did", async () => {
  const { socket } = await opened({ laptop: "everything" }, ["laptop"]);
  await access.setStopped(true);
  assert.deepEqual(events.filter((event) => event === "ended"), ["ended"]);
  assert.deepEqual([socket.code, access.state.state, access.levelOf("laptop")], [1000, "stopped", null]);
  await access.setStopped(false);
  assert.equal(access.levelOf("laptop"), "everything");
  for (const first of ["setStopped", "setEnded"]) {
    await access[first](true);
    await access.setEnded(true);
    await access.setStopped(true);
    await access.setStopped(false);
    assert.equal(access.state.state, "ended");
    await access.setEnded(false);
    assert.equal(access.levelOf("laptop"), "everything");
  }
});

test("removing the service ends all, and its clients are not those of the next one", async () => {
  await opened({ laptop: "everything" }, ["laptop"]);
  await forgetService();
  await access.reconsider();
  assert.ok(events.includes("ended"));
  assert.equal(access.levelOf("laptop"), null);
  for (const [urls, user, level] of [
    [["https://a.example"], "ann", "everything"],
    [["https://b.example"], "ann", null],
    [["https://a.example", "https://b.example"], "ann", null],
    [["https://a.example"], "bob", null],
  ]) {
    await opened({ laptop: "everything" }, ["laptop"]);
    await saveService({ urls, token: tokenOf(user) });
    await access.reconsider();
    assert.deepEqual([urls, user, access.levelOf("laptop")], [urls, user, level]);
  }
});

test("a token that is refused ends all", async () => {
  const { socket } = await opened({ laptop: "look" }, ["laptop"]);
  socket.onclose({ code: 4401 });
  assert.ok(events.includes("ended"));
  await settled();
  assert.equal(stored.remoteRefused, SERVICE.token);
});

test("a status that makes no sense is taken as far as it does", async () => {
  const { socket, ask } = await opened({ laptop: "look" }, ["laptop"]);
  const known = { connection_id: "conn-0", name: "laptop" };
  const told = [null, 1, "x", {}, { connection_id: 5 }, [known], known];
  socket.says({ method: "status", params: { clients: told } });
  assert.ok((await ask("conn-0:6", "getTabs")).result);
  socket.says({ method: "status", params: { clients: [{ ...known, name: "phone" }] } });
  assert.equal(reasonOf(await ask("conn-0:7", "getTabs")), "permission_off");
  socket.says({ method: "status", params: {} });
  assert.equal(reasonOf(await ask("conn-0:8", "getTabs")), "not_connected");
});
