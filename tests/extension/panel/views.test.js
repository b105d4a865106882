import assert from "node:assert/strict";
import { test } from "node:test";

import { applyMessage, START, withRecent } from "../../../extension/panel/model.js";
import {
  addressParts,
  callsOf,
  headline,
  matchingTools,
  reasonText,
  shownOf,
  tabGroupsOf,
  tabTitle,
  waitingOf,
  waysToAllow,
} from "../../../extension/panel/view.js";

const state = (more = {}) => ({ confirmations: [], agents: [], tabs: [], ...more });

test("a site can be allowed as a whole, after the narrower choices", () => {
  const scopes = ["site", "once", "always", "session", "site_session", "domain"];
  assert.deepEqual(
    waysToAllow({ origin: "https://shop.example", scopes }).map(({ label }) => label),
    [
      "Allow once",
      "Allow on shop.example this session",
      "All reading and acting on shop.example this session",
      "Always on shop.example",
      "All reading and acting on shop.example, always",
      "Always everywhere",
    ],
  );
  const nowhere = waysToAllow({ origin: "", scopes }).map(({ scope }) => scope);
  assert.deepEqual(nowhere, ["once", "session", "always"]);
});

test("a request without words, of an older server, has its title and its site", () => {
  const request = { title: "Click", origin: "https://shop.example" };
  assert.equal(headline(request), "Click on shop.example");
  assert.equal(headline({ ...request, origin: "" }), "Click");
  assert.equal(headline({ ...request, words: "Click “Order”" }), "Click “Order”");
});

test("everything that waits for the person is counted", () => {
  assert.equal(waitingOf(null), 0);
  assert.equal(waitingOf({ confirmations: [{}, {}] }), 2, "an older server sends no pages");
  assert.equal(waitingOf({ confirmations: [{}], knocks: [{}] }), 2);
});

test("the host of an address stands for itself, so that only what follows is cut", () => {
  const parts = ["https://shop.example:8443", "/basket?a=//b"];
  assert.deepEqual(addressParts(parts.join("")), parts);
  assert.deepEqual(addressParts("https://shop.example"), ["https://shop.example", ""]);
  assert.deepEqual(addressParts("about:blank"), ["", "about:blank"]);
  assert.deepEqual(addressParts(""), ["", ""]);
});

test("why a call was not done is said in words, and whether it was the person", () => {
  const refused = { outcome: "refused", reason: "permission_denied" };
  assert.equal(reasonText(refused), "Not allowed");
  assert.equal(reasonText({ ...refused, denied: true }), "Denied by you");
  assert.equal(reasonText({ outcome: "failed", reason: "dialog_open" }), "Dialog open");
  assert.equal(reasonText({ outcome: "cancelled", reason: null }), "Cancelled");
  assert.equal(reasonText({ outcome: "done", reason: null, denied: true }), "");
  assert.equal(reasonText({}), "");
});

test("of a thousand requests some of each client are shown, and what is shown stays", () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ id: `a${index}`, client: "loud" }));
  const few = [{ id: "b0", client: "quiet" }];
  const shown = shownOf([...many, ...few], new Set(), 4).map(({ id }) => id);
  assert.deepEqual(shown, ["a0", "a1", "a2", "b0"]);
  const later = shownOf([...many, ...few], new Set(["a7", "a8"]), 4).map(({ id }) => id);
  assert.deepEqual(later, ["a0", "a7", "a8", "b0"]);
  assert.deepEqual(shownOf([], new Set(["a7"]), 4), []);
  // The one that a notification leads to is shown, however many were shown before.
  const before = new Set(["a0", "a1", "a2", "b0"]);
  const pointed = shownOf([...many, ...few], before, 4, "a900").map(({ id }) => id);
  assert.deepEqual(pointed, ["a0", "a1", "a2", "a900"]);
});

test("a call keeps its place when it ends", () => {
  const start = (id, startedAt) => ({ id, startedAt, title: `Tool ${id}`, session: "s" });
  let model = START;
  for (const call of [start("1", 10), start("2", 20), start("3", 30)]) {
    model = applyMessage(model, "tool.invocationStart", call);
  }
  const ids = () => callsOf(model).map(({ id }) => id);
  assert.deepEqual(ids(), ["3", "2", "1"]);
  model = applyMessage(model, "tool.invocationEnd", { ...start("2", 20), outcome: "failed" });
  assert.deepEqual(ids(), ["3", "2", "1"]);
  assert.equal(callsOf(model)[1].outcome, "failed");
});

test("a refused call has only an end, and an older server's end takes the words of its start", () => {
  let model = applyMessage(START, "tool.invocationEnd", { id: "9", title: "Click", outcome: "refused" });
  assert.equal(callsOf(model)[0].outcome, "refused");
  model = applyMessage(START, "tool.invocationStart", { id: "1", title: "Read", session: "s" });
  model = applyMessage(model, "tool.invocationEnd", { id: "1" });
  assert.deepEqual(
    callsOf(model).map(({ title, outcome }) => [title, outcome]),
    [["Read", "done"]],
  );
  assert.equal(applyMessage(START, "tool.invocationEnd", { id: "7" }).ended.length, 0);
});

test("at most a hundred calls are kept, and earlier ones come before what was seen", () => {
  const end = (id) => ({ id: String(id), title: "t", outcome: "done" });
  let model = START;
  for (let id = 0; id < 150; id++) model = applyMessage(model, "tool.invocationEnd", end(id));
  assert.equal(model.ended.length, 100);
  assert.equal(model.ended[99].id, "149");
  model = applyMessage(START, "tool.invocationEnd", end(2));
  model = withRecent(model, [end(1), end(2)]);
  assert.deepEqual(
    model.ended.map(({ id }) => id),
    ["1", "2"],
  );
});

test("a call says which tab its agent uses now", () => {
  const agents = [{ session: "s", current: 1 }];
  let model = applyMessage(START, "state", state({ agents }));
  model = applyMessage(model, "tool.invocationStart", { id: "1", session: "s", tabId: 5 });
  assert.equal(model.server.agents[0].current, 5);
  model = applyMessage(model, "tool.invocationStart", { id: "2", session: "s", tabId: null });
  assert.equal(model.server.agents[0].current, 5);
});

test("tabs are listed by owner: agents, those that have left, shared, the person's", () => {
  const tab = (tabId, owner, shared = false) => ({ tabId, owner, shared, title: `T${tabId}` });
  const server = state({
    agents: [{ session: "s", name: "Helper", color: "blue" }],
    tabs: [tab(1, null), tab(2, "s"), tab(3, null, true), tab(4, "gone")],
  });
  assert.deepEqual(
    tabGroupsOf(server).map(({ name, tabs }) => [name, tabs[0].tabId]),
    [
      ["Helper", 2],
      ["Agents that have left", 4],
      ["Shared with agents", 3],
      ["Yours", 1],
    ],
  );
  assert.equal(tabTitle(server, 2), "T2");
  assert.equal(tabTitle(server, 99), "Tab 99");
  assert.equal(tabTitle(server, null), "");
});

test("a tool is found by all words of its names, plugin and site", () => {
  const tools = [
    { name: "browser_click_element", title: "Click", plugin: "browser", site: "" },
    { name: "buy", title: "Buy", plugin: "", site: "shop.example" },
  ];
  const found = (words) => matchingTools(tools, words).map(({ name }) => name);
  assert.deepEqual(found(" click  BROWSER "), ["browser_click_element"]);
  assert.deepEqual(found("shop"), ["buy"]);
  assert.deepEqual(found("shop click"), []);
  assert.equal(found("").length, 2);
});
