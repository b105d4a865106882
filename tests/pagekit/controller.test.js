import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { MCPController } from "../../pagekit/controller.js";
import { Page, Socket } from "./doubles.js";

const ID = "550e8400-e29b-41d4-a716-446655440000";

/** @type {Page[]} */
let pages = [];

beforeEach(() => Socket.install());
afterEach(() => {
  pages.forEach((page) => page.close());
  pages = [];
});

/** @param {MCPController} controller */
function page(controller) {
  const made = new Page(controller);
  pages.push(made);
  return made;
}

/** @param {{tools: object[]}} registration */
function hasTools({ tools }) {
  return tools.length > 0;
}

/** A controller with registered pages, and the server's end of its socket. */
async function connected(count = 1) {
  const controller = new MCPController();
  const made = Array.from({ length: count }, () => page(controller));
  for (const [index, single] of made.entries()) await single.register(`${ID.slice(0, -1)}${index}`);
  made[0].send({ type: "INIT", backendUrl: "ws://127.0.0.1:1/page" });
  const { socket } = await Socket.opened();
  socket.say({ method: "page/ready", params: {} });
  await socket.received("browser/activeTab");
  return { controller, made, socket };
}

test("a call goes to the port of its tab and to no other", async () => {
  const { made, socket } = await connected(2);
  made.forEach((port) => port.send({ type: "REGISTER_TOOL", name: "buy", tabId: port.id }));
  await socket.received("browser/registerTools", hasTools);
  await socket.received("browser/registerTools", hasTools);
  const params = { tabId: made[1].id, toolName: "buy", args: { n: 1 }, callId: "a-1" };
  socket.say({ id: "a-1", method: "browser/executeTool", params });
  const call = await made[1].received("CALL_TOOL");
  assert.deepEqual(call.args, { n: 1 });
  assert.equal(call.targetTabId, made[1].id);
  assert.equal(made[0].all("CALL_TOOL").length, 0);
});

test("only the port that was called can answer", async () => {
  const { made, socket } = await connected(2);
  made[1].send({ type: "REGISTER_TOOL", name: "buy", tabId: made[1].id });
  await socket.received("browser/registerTools", hasTools);
  const params = { tabId: made[1].id, toolName: "buy", args: {}, callId: "a-1" };
  socket.say({ id: "a-1", method: "browser/executeTool", params });
  const { callId } = await made[1].received("CALL_TOOL");
  made[0].send({ type: "TOOL_CALL_RESULT", callId, success: true, result: "forged" });
  await made[0].settled();
  made[1].send({ type: "TOOL_CALL_RESULT", callId, success: true, result: "true" });
  const answer = await socket.answer("a-1");
  assert.deepEqual(answer.result, { success: true, payload: "true" });
});

test("an impossible call is refused with a reason", async () => {
  const { made, socket } = await connected();
  const refused = async (/** @type {string} */ id, /** @type {string} */ tabId) => {
    const params = { tabId, toolName: "buy", args: {}, callId: id };
    socket.say({ id, method: "browser/executeTool", params });
    return (await socket.answer(id)).error.data.reason;
  };
  assert.equal(await refused("a-1", "nowhere"), "tab_not_found");
  assert.equal(await refused("a-2", made[0].id), "no_tab_for_tool");
});

test("closing a tab ends its calls", async () => {
  const { made, socket } = await connected();
  made[0].send({ type: "REGISTER_TOOL", name: "buy", tabId: made[0].id });
  await socket.received("browser/registerTools", hasTools);
  const params = { tabId: made[0].id, toolName: "buy", args: {}, callId: "a-1" };
  socket.say({ id: "a-1", method: "browser/executeTool", params });
  await made[0].received("CALL_TOOL");
  made[0].close();
  assert.equal((await socket.answer("a-1")).error.data.reason, "page_may_have_received");
  assert.deepEqual(await socket.received("browser/unregisterTools"), { tabId: made[0].id });
});

test("a second open port with the same id gets a new one", async () => {
  const controller = new MCPController();
  const [first, second] = [page(controller), page(controller)];
  assert.equal(await first.register(ID), ID);
  const other = await second.register(ID);
  assert.notEqual(other, ID);
  assert.match(other, /^[0-9a-f-]{36}$/);
});

test("ports of one window are one tab, each with its own tools", async () => {
  const { controller, made, socket } = await connected();
  const [top, frame] = [page(controller), page(controller)];
  const id = made[0].id.replace(/0$/, "9");
  assert.deepEqual(await Promise.all([top, frame].map((port) => port.register(id, "w"))), [id, id]);
  const has =
    (/** @type {number} */ count) =>
    (/** @type {any} */ { tabId, tools }) =>
      tabId === id && tools.length === count;
  top.send({ type: "REGISTER_TOOL", name: "buy", tabId: id, description: "The page's." });
  await socket.received("browser/registerTools", has(1));
  for (const name of ["buy", "zoom"]) frame.send({ type: "REGISTER_TOOL", name, tabId: id });
  const { tools } = await socket.received("browser/registerTools", has(2));
  assert.equal(tools.find(({ name }) => name === "buy").description, "The page's.");
  for (const [toolName, called] of /** @type {const} */ ([
    ["buy", top],
    ["zoom", frame],
  ])) {
    const params = { tabId: id, toolName, args: {}, callId: toolName };
    socket.say({ id: toolName, method: "browser/executeTool", params });
    await called.received("CALL_TOOL");
  }
  top.close();
  assert.equal((await socket.answer("buy")).error.data.reason, "page_may_have_received");
  await socket.received("browser/registerTools", has(2));
  frame.close();
  assert.equal((await socket.answer("zoom")).error.data.reason, "page_may_have_received");
  assert.deepEqual(await socket.received("browser/unregisterTools"), { tabId: id });
});

test("a copy of a tab with a frame gets one new id for both", async () => {
  const controller = new MCPController();
  const all = Array.from({ length: 4 }, () => page(controller));
  for (const port of all.slice(0, 2)) assert.equal(await port.register(ID, "first"), ID);
  const ids = await Promise.all(all.slice(2).map((port) => port.register(ID, "copy")));
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ID);
});

test("a page and its frame keep the id after a reload", async () => {
  const controller = new MCPController();
  const old = Array.from({ length: 2 }, () => page(controller));
  for (const port of old) await port.register(ID, "before");
  old.forEach((port) => (port.isDeaf = true));
  const fresh = Array.from({ length: 2 }, () => page(controller));
  const registering = Promise.all(fresh.map((port) => port.register(ID, "after")));
  old.forEach((port) => port.close());
  assert.deepEqual(await registering, [ID, ID]);
});

test("a port that replaces a closing one keeps the id", async () => {
  const controller = new MCPController();
  const [first, second] = [page(controller), page(controller)];
  await first.register(ID);
  first.isDeaf = true;
  const registering = second.register(ID);
  first.close();
  assert.equal(await registering, ID);
});

test("the active tab is reported, and the previous one when it is hidden", async () => {
  const { made, socket } = await connected(2);
  const look = (/** @type {number} */ index, /** @type {boolean} */ isShown) =>
    made[index].send({
      type: "SET_ACTIVE_TAB",
      tabId: made[index].id,
      isShown,
      ...made[index].page,
    });
  look(0, true);
  assert.deepEqual(await socket.received("browser/activeTab"), { tabId: made[0].id });
  look(1, true);
  assert.deepEqual(await socket.received("browser/activeTab"), { tabId: made[1].id });
  look(1, false);
  assert.deepEqual(await socket.received("browser/activeTab"), { tabId: made[0].id });
  look(0, false);
  assert.deepEqual(await socket.received("browser/activeTab"), { tabId: null });
});

test("nothing is reported before the server admits the page", async () => {
  const controller = new MCPController();
  const only = page(controller);
  await only.register(ID);
  only.send({ type: "INIT", backendUrl: "ws://127.0.0.1:1/page" });
  const { socket } = await Socket.opened();
  socket.say({ method: "page/unpaired", params: { code: "ABCD", message: "wait" } });
  const { status } = await only.received("CONNECTION_STATUS");
  assert.deepEqual(status, { state: "unpaired", code: "ABCD", message: "wait" });
  only.send({ type: "SET_ACTIVE_TAB", tabId: ID, isShown: true, ...only.page });
  await only.settled();
  assert.deepEqual(socket.sent, []);
  socket.say({ method: "page/ready", params: {} });
  const { tabId, tools } = await socket.received("browser/registerTools");
  assert.deepEqual([tabId, tools], [ID, []]);
});

test("a broken connection is reopened and all tools are reported again", async () => {
  const { made, socket } = await connected();
  socket.break("server stopped");
  const { status } = await made[0].received("CONNECTION_STATUS", ({ status }) => {
    return status.state === "waiting";
  });
  assert.equal(status.message, "server stopped");
  const { socket: again } = await Socket.opened();
  again.say({ method: "page/ready", params: {} });
  assert.equal((await again.received("browser/registerTools")).tabId, made[0].id);
});

/**
 * A page that was paired once and then lost its connection; the next socket and its first message.
 * @param {MCPController} controller
 */
async function pairedBefore(controller) {
  const only = page(controller);
  await only.register(ID);
  only.send({ type: "INIT", backendUrl: "ws://127.0.0.1:7/page" });
  const { socket, hello } = await Socket.opened();
  assert.equal(hello.id, undefined);
  socket.say({ method: "page/paired", params: { id: "i", key: "k", token: "t" } });
  socket.say({ method: "page/ready", params: {} });
  await socket.received("browser/activeTab");
  socket.break("server stopped");
  return Socket.opened();
}

/** @param {string} text */
function hash(text) {
  return [...createHash("sha256").update(text).digest()];
}

test("a paired page sends its token to the server that proves itself", async () => {
  const { socket, hello } = await pairedBefore(new MCPController());
  assert.equal(hello.id, "i");
  assert.deepEqual(socket.sent, []);
  socket.say({ method: "page/proof", params: { proof: hash(`7:${hello.challenge}:k`) } });
  assert.deepEqual(await socket.received("page/token"), { token: "t" });
});

for (const [who, proof] of /** @type {const} */ ([
  ["that does not know the key", (/** @type {string} */ challenge) => hash(`7:${challenge}:x`)],
  ["on another port that passes a proof on", (challenge) => hash(`8:${challenge}:k`)],
  ["that repeats an earlier proof", () => hash("7:earlier:k")],
]))
  test(`a program ${who} does not get the token`, async () => {
    const { socket, hello } = await pairedBefore(new MCPController());
    socket.say({ method: "page/proof", params: { proof: proof(hello.challenge) } });
    const { socket: next } = await Socket.opened();
    assert.deepEqual([socket.sent, next.sent], [[], []]);
  });

test("a page that the server does not know any more shows a new code", async () => {
  const controller = new MCPController();
  const watching = page(controller);
  const { socket } = await pairedBefore(controller);
  await watching.register(ID.replace(/0$/, "1"));
  socket.say({ method: "page/unpaired", params: { code: "WXYZ", message: "wait" } });
  const { status } = await watching.received("CONNECTION_STATUS");
  assert.deepEqual(status, { state: "unpaired", code: "WXYZ", message: "wait" });
  socket.say({ method: "page/paired", params: { id: "j", key: "l", token: "u" } });
  socket.break("server stopped");
  assert.equal((await Socket.opened()).hello.id, "j");
});
