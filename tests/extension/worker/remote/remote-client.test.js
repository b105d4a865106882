import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async () => {} } },
  tabs: { get: async (id) => ({ id, url: "https://a.example/", title: "A" }) },
};
const { RemoteClient } = await import("../../../../extension/worker/remote/remote-client.js");

const hostOf = (level, run = async () => ({ tabs: [] })) => ({
  levelOf: () => level,
  run,
  reportTabChanges: async () => {},
  uses: { sharing: (_, run) => run, left: () => {} },
  owners: new Map(),
  takeLink: async (client, params) => ({ client: client.name, params }),
});
const reasonOf = (promise) => promise.then(() => null, ({ reason }) => reason);

test("the end of a connection ends its calls, and no others", async () => {
  const signals = [];
  const run = (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const host = hostOf("everything", run);
  const [one, other] = ["conn-1", "conn-2"].map((id) => new RemoteClient(id, "laptop", host));
  const ended = reasonOf(one.call("getTabs", {}));
  void other.call("getTabs", {});
  await Promise.resolve();
  one.end();
  assert.equal(await ended, "cancelled");
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
});

test("the level is that of the moment", async () => {
  const host = hostOf("look");
  const client = new RemoteClient("conn-1", "laptop", host);
  assert.deepEqual(await client.call("getTabs", {}), { tabs: [], currentTab: null });
  assert.equal(await reasonOf(client.call("createTab", {})), "permission_off");
  host.levelOf = () => null;
  assert.equal(await reasonOf(client.call("getTabs", {})), "permission_off");
});

test("a link needs at least the level look", async () => {
  const link = (level) => new RemoteClient("conn-1", "laptop", hostOf(level)).call("tabhub.link", 1);
  assert.equal(await reasonOf(link(null)), "permission_off");
  assert.deepEqual(await link("look"), { client: "laptop", params: 1 });
});

test("every method runs commands through the fence", async () => {
  const ran = [];
  const run = async (name, { input }) => {
    ran.push([name, input]);
    return { tabId: 7, url: input.url, effect: {}, trusted: true };
  };
  const client = new RemoteClient("conn-1", "laptop", hostOf("act", run));
  assert.equal(await reasonOf(client.call("createTab", { url: "file:///x" })), "permission_off");
  const made = await client.call("createTab", { url: "https://a.example/", stealth: true });
  assert.deepEqual(made, {
    tabId: 7,
    url: "https://a.example/",
    currentTab: { id: 7, url: "https://a.example/", title: "A" },
  });
  assert.deepEqual(ran, [
    ["tabs.open", { url: "https://a.example/", active: true, stealth: true }],
  ]);
  assert.equal(await reasonOf(client.call("forwardCDPCommand", {})), "permission_off");
  assert.equal(await reasonOf(client.call("constructor", {})), "unknown_command");
});
