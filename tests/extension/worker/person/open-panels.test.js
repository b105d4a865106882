import assert from "node:assert/strict";
import { test } from "node:test";

const HOME = "chrome-extension://ours/";
globalThis.chrome = {
  runtime: { id: "ours", getURL: (path) => HOME + path },
  windows: { onFocusChanged: { addListener() {} } },
};
const { isPanel, openPanel, Panels } = await import("../../../../extension/worker/person/open-panels.js");

class Port {
  name = "panel";
  received = [];
  sender = { id: "ours", origin: "chrome-extension://ours", url: `${HOME}panel/panel.html` };
  onMessage = { addListener: (listener) => (this.say = listener) };
  onDisconnect = { addListener: (listener) => (this.close = listener) };
  postMessage(message) {
    this.received.push(message);
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function panelsWith(ask = async () => ({})) {
  const counts = [];
  const panels = new Panels(ask, () => counts.push(panels.count));
  return { panels, counts };
}

test("only our own panel page is a panel", () => {
  const portOf = (more, name = "panel") => ({ name, sender: { ...new Port().sender, ...more } });
  assert.equal(isPanel(portOf({})), true);
  assert.equal(isPanel(portOf({}, "frame")), false);
  assert.equal(isPanel(portOf({ id: "other" })), false);
  assert.equal(isPanel(portOf({ url: `${HOME}options/options.html` })), false);
  assert.equal(isPanel(portOf({ url: `https://evil.example/${HOME}panel/` })), false);
  // A content script: our id, but the origin of the page it is in.
  const page = { origin: "https://evil.example", url: `${HOME}panel/panel.html` };
  assert.equal(isPanel(portOf(page)), false);
  assert.equal(isPanel({ name: "panel" }), false);
});

test("a panel may send only the requests in the list", async () => {
  const asked = [];
  const { panels } = panelsWith(async (method, params) => {
    asked.push(method);
    return params;
  });
  const port = new Port();
  panels.connected(port);
  port.say({ id: 1, method: "config.getState", params: { a: 1 } });
  await settled();
  for (const method of ["tool.dispatch", "tab.syncAll", "panel.changed", "toString", undefined]) {
    port.say({ id: 2, method, params: {} });
  }
  await settled();
  assert.deepEqual(asked, ["config.getState"]);
  assert.deepEqual(port.received[0], { id: 1, result: { a: 1 } });
  assert.equal(port.received.length, 6);
  assert.ok(port.received.slice(1).every(({ error }) => error.startsWith("A panel may not ask")));
});

test("an error of the server is shown with its own message", async () => {
  const { panels } = panelsWith(() => Promise.reject(new Error("There is no agent s1.")));
  const port = new Port();
  panels.connected(port);
  port.say({ id: 7, method: "agent.pause", params: {} });
  await settled();
  assert.deepEqual(port.received, [{ id: 7, error: "There is no agent s1." }]);
});

test("panels are counted as they open and close, and count as visible when they report it", () => {
  const { panels, counts } = panelsWith();
  const [first, second] = [new Port(), new Port()];
  panels.connected(first);
  panels.connected(second);
  assert.equal(panels.isVisible, false);
  second.say({ visible: true });
  assert.equal(panels.isVisible, true);
  second.close();
  assert.equal(panels.isVisible, false);
  assert.deepEqual(counts, [1, 2, 1]);
});

test("a panel that closes does not block messages to the others", () => {
  const { panels } = panelsWith();
  const [closed, open] = [new Port(), new Port()];
  closed.postMessage = () => {
    throw new Error("disconnected");
  };
  panels.connected(closed);
  panels.connected(open);
  panels.broadcast("closed", {});
  assert.deepEqual(open.received, [{ method: "closed", params: {} }]);
});

test("what the worker answers itself does not go to the server", async () => {
  const asked = [];
  const own = { "remote.allow": async ({ name }) => asked.push(name) && undefined };
  const refuse = async () => assert.fail("the server was asked");
  const panels = new Panels(refuse, () => {}, own);
  const port = new Port();
  panels.connected(port);
  port.say({ id: 1, method: "remote.allow", params: { name: "laptop" } });
  await settled();
  assert.deepEqual(asked, ["laptop"]);
  assert.deepEqual(port.received, [{ id: 1, result: {} }]);
});

const focus = (id) => ({ method: "confirmation.focus", params: { id } });

test("a panel learns which approval the person wants to see, open or opened for it", () => {
  const { panels } = panelsWith();
  const [first, second, third] = [new Port(), new Port(), new Port()];
  panels.point("1");
  panels.point("2");
  panels.connected(first, "oldest");
  assert.deepEqual(first.received, [focus("2")]);
  first.say({ visible: true });
  panels.point("3");
  panels.point(undefined);
  panels.connected(second, "oldest");
  second.say({ visible: true });
  panels.connected(third);
  assert.deepEqual(first.received, [focus("2"), focus("3")]);
  assert.deepEqual(second.received, [focus("3")], "though another panel was open, and seen");
  assert.deepEqual(third.received, []);
});

test("a panel is not opened at an approval that is over", () => {
  const { panels } = panelsWith();
  const port = new Port();
  panels.point("1");
  panels.decided("2");
  panels.decided("1");
  panels.connected(port, "oldest");
  assert.deepEqual(port.received, [focus("oldest")]);
});

test("where the browser opens no side panel, the panel is opened in a tab, once", async () => {
  const done = [];
  let tabs = [];
  Object.assign(chrome, {
    sidePanel: { open: () => Promise.reject(new Error("needs a gesture")) },
    tabs: {
      query: async ({ url }) => tabs.filter((tab) => tab.url === url),
      create: async ({ url }) => void done.push(["create", url]),
      update: async (id, change) => void done.push(["update", id, change]),
    },
    windows: { ...chrome.windows, update: async (id, change) => void done.push([id, change]) },
  });
  await openPanel();
  tabs = [{ id: 5, windowId: 7, url: `${HOME}panel/panel.html` }];
  await openPanel();
  delete chrome.sidePanel;
  await openPanel();
  const shown = [
    ["update", 5, { active: true }],
    [7, { focused: true }],
  ];
  assert.deepEqual(done, [["create", `${HOME}panel/panel.html`], ...shown, ...shown]);
});
