import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  runtime: { getManifest: () => ({ version: "1.0.0" }) },
  storage: { session: { get: async () => ({}), set: async () => {} } },
};
const { Server, keepServers } = await import("../../../../extension/worker/link/servers.js");
const { register, report } = await import("../../../../extension/worker/shared/tab-state.js");

const released = [];
register({ name: "released tabs", released: async (tabId) => void released.push(tabId) });
const ended = [];
for (const name of ["interception", "emulation"]) {
  register({ name, released: async (tabId) => void ended.push(`${name} ${tabId}`) });
}
const servers = keepServers();

class Line {
  sent = [];
  notify(method) {
    this.sent.push(method);
    return method !== "large";
  }
  report(method, { tabId }) {
    this.sent.push(`${method} ${tabId}`);
  }
  close(code) {
    this.code = code;
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

async function opened() {
  const ran = [];
  const run = async (name, { tabId }) => {
    ran.push(`${name} ${tabId}`);
    return name === "tabs.open" ? { tabId: 20 } : {};
  };
  const server = servers.add(
    new Server({
      introduction: async () => ({ browser: {}, tabs: [] }),
      commands: { ready: Promise.resolve(), reportTabChanges: async () => {} },
      learn: () => {},
      opened: () => {},
    }),
  );
  const line = new Line();
  const receive = server.begin(line);
  await settled();
  return { server, line, receive, ran, run: servers.uses.sharing(server, run) };
}

test("each server gets the tabs and their changes", async () => {
  const [one, other] = [await opened(), await opened()];
  servers.report({ tabId: 1, state: "opened" });
  assert.ok(servers.notify("browser/registerTools", {}));
  assert.ok(!servers.notify("large", {}));
  servers.remove(other.server);
  servers.report({ tabId: 2, state: "opened" });
  const both = ["tab.syncAll", "tab.stateChanged 1", "browser/registerTools", "large"];
  assert.deepEqual(other.line.sent, both);
  assert.deepEqual(one.line.sent, [...both, "tab.stateChanged 2"]);
  servers.remove(one.server);
});

test("a tab is released when no other server uses it", async () => {
  const [one, other] = [await opened(), await opened()];
  await one.run("page.read", { tabId: 5 });
  await other.run("page.click", { tabId: 5 });
  assert.deepEqual(await one.run("tabs.release", { tabId: 5 }), {});
  assert.deepEqual(one.ran, ["page.read 5"]);
  await other.run("tabs.release", { tabId: 5 });
  assert.deepEqual(other.ran, ["page.click 5", "tabs.release 5"]);
  servers.remove(one.server);
  servers.remove(other.server);
});

test("what a server that is gone used alone is released", async () => {
  const [one, other] = [await opened(), await opened()];
  for (const tabId of [6, 7, 8]) await one.run("page.read", { tabId });
  await other.run("page.read", { tabId: 7 });
  report("forget", 8);
  servers.remove(one.server);
  await settled();
  assert.deepEqual(released, [6]);
  servers.remove(other.server);
});

test("a tab that a server has only opened is released with it", async () => {
  released.length = 0;
  const one = await opened();
  await one.run("tabs.open", { signal: new AbortController().signal });
  servers.remove(one.server);
  await settled();
  assert.deepEqual(released, [20]);
});

test("what a server has set up in a tab ends with it, and what another has set up does not", async () => {
  ended.length = released.length = 0;
  const [one, other] = [await opened(), await opened()];
  await one.run("intercept.start", { tabId: 9 });
  await one.run("page.emulate", { tabId: 9 });
  await other.run("page.emulate", { tabId: 9 });
  servers.remove(one.server);
  await settled();
  assert.deepEqual([released, ended], [[], ["interception 9"]]);
  await other.run("intercept.start", { tabId: 9 });
  const third = await opened();
  await third.run("page.read", { tabId: 9 });
  await other.run("tabs.release", { tabId: 9 });
  assert.deepEqual(ended.slice(1).toSorted(), ["emulation 9", "interception 9"]);
  servers.remove(other.server);
  servers.remove(third.server);
  await settled();
});

test("a server whose protocol is too old is left", async () => {
  const { line, receive } = await opened();
  const params = { protocol: 0, server: { version: "0.0.1" } };
  receive({ kind: "notification", method: "sync.full", params });
  assert.equal(line.code, 4004);
});
