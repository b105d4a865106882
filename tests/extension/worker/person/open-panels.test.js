import assert from "node:assert/strict";
import { test } from "node:test";

const HOME = "chrome-extension://ours/";
globalThis.chrome = { runtime: { id: "ours", getURL: (path) => HOME + path } };
const { isPanel, Panels } = await import("../../../../extension/worker/person/open-panels.js");

class Port {
  name = "panel";
  heard = [];
  sender = { id: "ours", origin: "chrome-extension://ours", url: `${HOME}panel/panel.html` };
  onMessage = { addListener: (listener) => (this.say = listener) };
  onDisconnect = { addListener: (listener) => (this.close = listener) };
  postMessage(message) {
    this.heard.push(message);
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

test("a panel may ask for what is on the list, and for nothing else", async () => {
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
  assert.deepEqual(port.heard[0], { id: 1, result: { a: 1 } });
  assert.equal(port.heard.length, 6);
  assert.ok(port.heard.slice(1).every(({ error }) => error.startsWith("A panel may not ask")));
});

test("what the server refuses is told in its own words", async () => {
  const { panels } = panelsWith(() => Promise.reject(new Error("There is no agent s1.")));
  const port = new Port();
  panels.connected(port);
  port.say({ id: 7, method: "agent.pause", params: {} });
  await settled();
  assert.deepEqual(port.heard, [{ id: 7, error: "There is no agent s1." }]);
});

test("panels are counted as they open and close, and are seen when they say so", () => {
  const { panels, counts } = panelsWith();
  const [one, two] = [new Port(), new Port()];
  panels.connected(one);
  panels.connected(two);
  assert.equal(panels.isVisible, false);
  two.say({ visible: true });
  assert.equal(panels.isVisible, true);
  two.close();
  assert.equal(panels.isVisible, false);
  assert.deepEqual(counts, [1, 2, 1]);
});

test("a panel that closes does not keep the others from hearing", () => {
  const { panels } = panelsWith();
  const [gone, there] = [new Port(), new Port()];
  gone.postMessage = () => {
    throw new Error("disconnected");
  };
  panels.connected(gone);
  panels.connected(there);
  panels.broadcast("closed", {});
  assert.deepEqual(there.heard, [{ method: "closed", params: {} }]);
});
