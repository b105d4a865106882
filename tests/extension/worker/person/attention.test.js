import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let badge, notes, stored;
globalThis.chrome = {
  action: {
    setBadgeText: async ({ text }) => void (badge = text),
    setBadgeBackgroundColor: async () => {},
  },
  notifications: {
    create: async (id, options) => void notes.set(id, options),
    clear: async (id) => notes.delete(id),
    getAll: async () => Object.fromEntries(notes),
  },
  runtime: { getURL: (path) => `chrome-extension://ours/${path}` },
  storage: {
    session: {
      get: async () => ({ ...stored }),
      set: async (values) => void Object.assign(stored, values),
    },
  },
};
const { Attention, confirmationOf } = await import("../../../../extension/worker/person/attention.js");

beforeEach(() => {
  badge = "";
  notes = new Map();
  stored = {};
});

const request = (id) => ({
  id,
  client: "client",
  agent: "Helper\u202e",
  tool: "browser_type_text",
  title: "Type text",
  origin: "https://example.com",
  parameters: { text: "hunter2" },
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("the badge counts approvals, then shows a missed one, then that all calls are stopped", () => {
  const attention = new Attention(() => true);
  attention.sync({ confirmations: [], stopped: true });
  assert.equal(badge, "II");
  attention.missed(request("m"));
  assert.equal(badge, "!");
  attention.asked(request("1"));
  attention.asked(request("2"));
  attention.asked(request("2"));
  assert.equal(badge, "2");
  attention.decided("1");
  attention.decided("2");
  assert.equal(badge, "!");
  attention.panelOpened();
  assert.equal(badge, "II");
});

test("a lost link keeps what waits for a while, and a link that comes back keeps it", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const attention = new Attention(() => false);
  attention.asked(request("1"));
  await settled();
  attention.disconnected();
  mock.timers.tick(9_999);
  attention.sync({ confirmations: [request("1")], stopped: false });
  mock.timers.tick(10_000);
  await settled();
  assert.deepEqual([badge, [...notes.keys()]], ["1", ["approval:1"]]);
  attention.disconnected();
  mock.timers.tick(10_000);
  await settled();
  assert.deepEqual([badge, notes.size], ["", 0]);
  mock.timers.reset();
});

test("what was asked while there was no worker or no link is announced, and nothing twice", async () => {
  const before = new Attention(() => false);
  before.asked(request("1"));
  await settled();
  notes.clear(); // The person has dismissed it.
  const after = new Attention(() => false);
  after.sync({ confirmations: [request("1"), request("2")], stopped: false });
  await settled();
  assert.deepEqual([...notes.keys()], ["approval:2"]);
  assert.equal(after.oldest, "1");
  assert.equal(confirmationOf("approval:2"), "2");
  assert.equal(confirmationOf("missed"), "");
});

test("of many approvals one notification has the number", async () => {
  const attention = new Attention(() => false);
  for (let id = 1; id <= 1000; id++) attention.asked(request(String(id)));
  await settled();
  assert.ok(notes.size <= 4, String(notes.size));
  assert.equal(notes.get("approvals").title, "1000 calls wait for your approval");
  assert.equal(badge, "1000");
  attention.sync({ confirmations: [request("1000")], stopped: false });
  await settled();
  assert.equal(notes.has("approvals"), false);
});

test("a missed approval survives a worker restart", async () => {
  new Attention(() => false).missed(request("m"));
  badge = "";
  await new Attention(() => false).restore();
  assert.equal(badge, "!");
});

test("opening a panel first forgets missed approvals", async () => {
  stored.missed = true;
  const attention = new Attention(() => false);
  const restored = attention.restore();
  attention.panelOpened();
  await restored;
  assert.equal(badge, "");
});

test("a notification names the agent, the tool and the site, but no parameters", async () => {
  new Attention(() => false).asked(request("1"));
  await settled();
  const { title, message } = notes.get("approval:1");
  assert.equal(title, "Helper[U+202E] (client) waits for your approval");
  assert.equal(message, "Type text (browser_type_text) on example.com");
  assert.ok(!JSON.stringify([...notes]).includes("hunter2"));
});

test("a person with a visible panel gets no notification", async () => {
  new Attention(() => true).asked(request("1"));
  await settled();
  assert.equal(notes.size, 0);
});

test("a notification closes when its approval is decided or unknown to the server", async () => {
  const attention = new Attention(() => false);
  attention.asked(request("1"));
  attention.asked(request("2"));
  await settled();
  attention.decided("1");
  await settled();
  assert.deepEqual([...notes.keys()], ["approval:2"]);
  attention.sync({ confirmations: [], stopped: false });
  await settled();
  assert.equal(notes.size, 0);
});

test("missed approvals are announced once in ten seconds", () => {
  mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const attention = new Attention(() => false);
  const tellAfter = (ms) => {
    mock.timers.tick(ms);
    notes.clear();
    attention.missed(request("m"));
    return notes.size;
  };
  assert.deepEqual([tellAfter(0), tellAfter(9_999), tellAfter(1)], [1, 0, 1]);
  mock.timers.reset();
});

test("the badge shows remote access, but not before what waits for the person", () => {
  const attention = new Attention(() => true);
  attention.setRemote("open");
  assert.equal(badge, "R");
  attention.sync({ confirmations: [], stopped: true });
  assert.equal(badge, "R");
  attention.asked(request("1"));
  assert.equal(badge, "1");
  attention.decided("1");
  attention.setRemote("used");
  assert.equal(badge, "R");
  attention.setRemote("");
  assert.equal(badge, "II");
});
