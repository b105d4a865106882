import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { mock, test } from "node:test";
import { runInThisContext } from "node:vm";

const define = (name, make) => (globalThis.tabhub[name] = make());
const scripts = await Promise.all(
  ["page_tools/tool-rates", "page_tools/tool-limits", "page_tools/window-messages"].map((name) =>
    readFile(new URL(`../../../../extension/content/${name}.js`, import.meta.url), "utf8"),
  ),
);
const ORIGIN = "https://child.example";
const NAME = "tabhub-window-1";
const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

/** The parent window and its children; `say` posts a message of a child. */
function started() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  let hear;
  globalThis.window = { addEventListener: (_, listener) => (hear = listener) };
  globalThis.tabhub = { define };
  for (const script of scripts) runInThisContext(script);
  const messages = [];
  const { windowMessages } = globalThis.tabhub;
  windowMessages.connected((message) => messages.push(message));
  const child = () => {
    const posted = [];
    const self = { parent: globalThis.window, closed: false, posted };
    self.postMessage = (message, origin) => posted.push({ ...message, origin });
    self.post = (data, more) =>
      hear({ isTrusted: true, source: self, origin: ORIGIN, data, ...more });
    self.say = (payload) =>
      self.post({ channel: "mcp-iframe", type: "mcp", direction: "server-to-client", payload });
    return self;
  };
  return { messages, child, windowMessages };
}

function named() {
  const made = started();
  const child = made.child();
  child.post(NAME);
  const ask = (id) => {
    const payload = { jsonrpc: "2.0", id, method: "tools/call", params: {} };
    made.windowMessages.forward({ name: NAME, origin: ORIGIN, payload });
  };
  return { ...made, frame: child, ask };
}

test("only a response that was requested from a child is passed on, once", () => {
  const { messages, frame, ask } = named();
  ask("r1");
  assert.deepEqual(
    frame.posted.map(({ payload }) => payload.id ?? payload),
    ["mcp-check-ready", "r1"],
  );
  assert.equal(frame.posted[1].origin, ORIGIN);
  for (const id of ["r0", 1, null, undefined, {}]) frame.say({ jsonrpc: "2.0", id, result: {} });
  frame.say({ jsonrpc: "2.0", id: "r1", result: { content: [] } });
  frame.say({ jsonrpc: "2.0", id: "r1", result: { content: ["again"] } });
  const payload = { jsonrpc: "2.0", id: "r1", result: { content: [] } };
  assert.deepEqual(messages, [{ type: "fromChild", name: NAME, origin: ORIGIN, payload }]);
});

test("without a request a child may send only a few kinds of messages, at a limited rate", () => {
  const { messages, frame } = named();
  for (const junk of [{ junk: 1 }, { method: "sampling/createMessage", id: 1 }, "x", 5, null, []]) {
    frame.say(junk);
  }
  assert.deepEqual(messages, []);
  for (let i = 0; i < 1000; i++) frame.say(i % 2 ? CHANGED : "mcp-server-ready");
  assert.equal(messages.length, 10);
});

test("a response that is too large ends its request, and is not passed on", () => {
  const { messages, frame, ask } = named();
  let shared = ["x"];
  for (let i = 0; i < 90; i++) shared = [shared, shared];
  ask("r1");
  frame.say({ id: "r1", result: shared });
  assert.equal(messages[0].payload.id, "r1");
  assert.match(messages[0].payload.error.message, /too large/);
  frame.say({ ...CHANGED, params: shared });
  assert.equal(messages.length, 1);
});

test("a flood of one child does not block the others", () => {
  const { messages, frame, child } = named();
  for (let i = 0; i < 1000; i++) frame.say("mcp-server-ready");
  for (let i = 0; i < 1000; i++) frame.post(`tabhub-window-9${i}`);
  const other = child();
  other.post("tabhub-window-2");
  other.say(CHANGED);
  assert.equal(messages.at(-1).name, "tabhub-window-2");
});

test("removed frames make room for others", () => {
  const { messages, child } = started();
  const old = Array.from({ length: 200 }, (_, i) => {
    const each = child();
    each.post(`tabhub-window-${i}`);
    return each;
  });
  const late = child();
  late.post("tabhub-window-late");
  late.say(CHANGED);
  assert.deepEqual(messages, []);
  for (const each of old) each.closed = true;
  late.post("tabhub-window-late");
  late.say(CHANGED);
  assert.equal(messages.length, 1);
});

test("names are requested ever more rarely", () => {
  const { messages, child } = started();
  for (let i = 0; i < 100; i++) {
    child().say("mcp-server-ready");
    mock.timers.tick(300);
  }
  assert.ok(messages.length > 4 && messages.length < 12, `${messages.length}`);
  assert.deepEqual(messages[0], { type: "childServer" });
});

test("a name that the worker does not know is forgotten and requested again", () => {
  const { messages, frame, windowMessages } = named();
  windowMessages.forget({ name: NAME });
  frame.say(CHANGED);
  assert.deepEqual(messages, []);
  mock.timers.tick(200);
  assert.deepEqual(messages, [{ type: "childServer" }]);
  frame.post(NAME);
  frame.say(CHANGED);
  assert.equal(messages.length, 2);
});

test("messages of other windows, and forged ones, are ignored", () => {
  const { messages, frame, child } = named();
  const data = {
    channel: "mcp-iframe",
    type: "mcp",
    direction: "server-to-client",
    payload: CHANGED,
  };
  frame.post(data, { isTrusted: false });
  frame.post(data, { source: globalThis.window });
  frame.post(data, { source: null });
  const popup = child();
  popup.parent = popup;
  popup.post("tabhub-window-3");
  popup.say(CHANGED);
  assert.deepEqual(messages, []);
});
