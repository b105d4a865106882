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

/** The window around, and its children; `say` is what a child posts. */
function started() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  let hear;
  globalThis.window = { addEventListener: (_, listener) => (hear = listener) };
  globalThis.tabhub = { define };
  for (const script of scripts) runInThisContext(script);
  const said = [];
  const { toolcarrier } = globalThis.tabhub;
  toolcarrier.connected((message) => said.push(message));
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
  return { said, child, toolcarrier };
}

function named() {
  const made = started();
  const child = made.child();
  child.post(NAME);
  const ask = (id) => {
    const payload = { jsonrpc: "2.0", id, method: "tools/call", params: {} };
    made.toolcarrier.forward({ name: NAME, origin: ORIGIN, payload });
  };
  return { ...made, one: child, ask };
}

test("a child is carried only what it was asked for, once", () => {
  const { said, one, ask } = named();
  ask("r1");
  assert.deepEqual(
    one.posted.map(({ payload }) => payload.id ?? payload),
    ["mcp-check-ready", "r1"],
  );
  assert.equal(one.posted[1].origin, ORIGIN);
  for (const id of ["r0", 1, null, undefined, {}]) one.say({ jsonrpc: "2.0", id, result: {} });
  one.say({ jsonrpc: "2.0", id: "r1", result: { content: [] } });
  one.say({ jsonrpc: "2.0", id: "r1", result: { content: ["again"] } });
  const payload = { jsonrpc: "2.0", id: "r1", result: { content: [] } };
  assert.deepEqual(said, [{ type: "fromChild", name: NAME, origin: ORIGIN, payload }]);
});

test("unasked, a child may say few words, and these not often", () => {
  const { said, one } = named();
  for (const junk of [{ junk: 1 }, { method: "sampling/createMessage", id: 1 }, "x", 5, null, []]) {
    one.say(junk);
  }
  assert.deepEqual(said, []);
  for (let i = 0; i < 1000; i++) one.say(i % 2 ? CHANGED : "mcp-server-ready");
  assert.equal(said.length, 10);
});

test("an answer that is too much ends its request, and is not carried", () => {
  const { said, one, ask } = named();
  let shared = ["x"];
  for (let i = 0; i < 90; i++) shared = [shared, shared];
  ask("r1");
  one.say({ id: "r1", result: shared });
  assert.equal(said[0].payload.id, "r1");
  assert.match(said[0].payload.error.message, /too large/);
  one.say({ ...CHANGED, params: shared });
  assert.equal(said.length, 1);
});

test("one child's flood leaves the others their turn", () => {
  const { said, one, child } = named();
  for (let i = 0; i < 1000; i++) one.say("mcp-server-ready");
  for (let i = 0; i < 1000; i++) one.post(`tabhub-window-9${i}`);
  const other = child();
  other.post("tabhub-window-2");
  other.say(CHANGED);
  assert.equal(said.at(-1).name, "tabhub-window-2");
});

test("frames that have gone make room for others", () => {
  const { said, child } = started();
  const old = Array.from({ length: 200 }, (_, i) => {
    const each = child();
    each.post(`tabhub-window-${i}`);
    return each;
  });
  const late = child();
  late.post("tabhub-window-late");
  late.say(CHANGED);
  assert.deepEqual(said, []);
  for (const each of old) each.closed = true;
  late.post("tabhub-window-late");
  late.say(CHANGED);
  assert.equal(said.length, 1);
});

test("names are asked for ever more rarely", () => {
  const { said, child } = started();
  for (let i = 0; i < 100; i++) {
    child().say("mcp-server-ready");
    mock.timers.tick(300);
  }
  assert.ok(said.length > 4 && said.length < 12, `${said.length}`);
  assert.deepEqual(said[0], { type: "childServer" });
});

test("a name that the worker does not know is forgotten and asked for again", () => {
  const { said, one, toolcarrier } = named();
  toolcarrier.forget({ name: NAME });
  one.say(CHANGED);
  assert.deepEqual(said, []);
  mock.timers.tick(200);
  assert.deepEqual(said, [{ type: "childServer" }]);
  one.post(NAME);
  one.say(CHANGED);
  assert.equal(said.length, 2);
});

test("who is no child, or no browser's word, is not heard", () => {
  const { said, one, child } = named();
  const data = {
    channel: "mcp-iframe",
    type: "mcp",
    direction: "server-to-client",
    payload: CHANGED,
  };
  one.post(data, { isTrusted: false });
  one.post(data, { source: globalThis.window });
  one.post(data, { source: null });
  const popup = child();
  popup.parent = popup;
  popup.post("tabhub-window-3");
  popup.say(CHANGED);
  assert.deepEqual(said, []);
});
