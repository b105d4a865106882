import assert from "node:assert/strict";
import { test } from "node:test";

import { applyMessage, START } from "../../../extension/panel/model.js";
import { lookedAt } from "../../../extension/panel/this-tab.js";
import {
  agentsOf,
  bannersOf,
  canBeStopped,
  familiesOf,
  grantText,
  leftOutText,
  thisTabOf,
  timeLeft,
  waysToAllow,
  workOf,
} from "../../../extension/panel/view.js";

const stateWith = (...ids) => ({ confirmations: ids.map((id) => ({ id })) });
const idsOf = (model) => model.server.confirmations.map(({ id }) => id);

test("waiting approvals keep their order, and new ones come below", () => {
  let model = applyMessage(START, "state", stateWith("a", "b"));
  model = applyMessage(model, "confirmation.request", { id: "c" });
  model = applyMessage(model, "confirmation.request", { id: "c" });
  assert.deepEqual(idsOf(model), ["a", "b", "c"]);
  model = applyMessage(model, "state", stateWith("d", "c", "a"));
  assert.deepEqual(idsOf(model), ["a", "c", "d"]);
  model = applyMessage(model, "confirmation.closed", { id: "a" });
  assert.deepEqual(idsOf(model), ["c", "d"]);
});

test("without a connection no approval waits", () => {
  const model = applyMessage(applyMessage(START, "state", stateWith("a")), "closed", {});
  assert.equal(model.server, null);
  assert.equal(applyMessage(model, "confirmation.request", { id: "b" }).server, null);
});

test("an agent is at work from the start of its first call to the end of its last", () => {
  const start = (id, session) => ({ id, session, title: `Tool ${id}` });
  let model = applyMessage(START, "state", stateWith());
  for (const call of [start("1", "s1"), start("2", "s1"), start("3", "s2")])
    model = applyMessage(model, "tool.invocationStart", call);
  assert.deepEqual([...workOf(model).keys()], ["s1", "s2"]);
  model = applyMessage(model, "tool.invocationEnd", { id: "1" });
  model = applyMessage(model, "tool.invocationEnd", { id: "unknown" });
  assert.deepEqual([...workOf(model)], [["s1", "Tool 2"], ["s2", "Tool 3"]]);
  model = applyMessage(model, "tool.invocationEnd", { id: "2" });
  assert.deepEqual([...workOf(model).keys()], ["s2"]);
  assert.equal(workOf(applyMessage(model, "closed", {})).size, 0, "the end may never come");
});

test("a call whose start comes again, for another panel, is one call", () => {
  const call = { id: "1", session: "s1", title: "Tool 1" };
  let model = applyMessage(START, "tool.invocationStart", call);
  model = applyMessage(model, "tool.invocationStart", call);
  assert.deepEqual(model.running, [call]);
});

test("a call that goes to another tab stays in its place and shows the new tab", () => {
  const start = (id, tabId) => ({ id, session: "s1", title: `Tool ${id}`, tabId });
  let model = applyMessage(START, "tool.invocationStart", start("1", 7));
  model = applyMessage(model, "tool.invocationStart", start("2", 8));
  model = applyMessage(model, "tool.invocationStart", start("1", 9));
  assert.deepEqual(model.running, [start("1", 9), start("2", 8)]);
});

const labels = (request) => waysToAllow(request).map(({ scope, label }) => `${scope}: ${label}`);

test("the scopes of an approval name the site, the narrowest first", () => {
  const origin = "https://shop.example.com";
  assert.deepEqual(labels({ origin, scopes: ["always", "domain", "session", "once"] }), [
    "once: Allow once",
    "session: Allow on shop.example.com this session",
    "domain: Always on shop.example.com",
    "always: Always everywhere",
  ]);
});

test("only offered scopes can be chosen, and a site only if the call has one", () => {
  assert.deepEqual(labels({ origin: "https://a.example", scopes: ["once"] }), ["once: Allow once"]);
  assert.deepEqual(labels({ origin: null, scopes: ["once", "session", "domain"] }), [
    "once: Allow once",
    "session: Allow this session",
  ]);
});

test("the countdown is in seconds, and says what happens at its end", () => {
  assert.equal(timeLeft(120_000, 0), "2:00 left, then refused");
  assert.equal(timeLeft(120_000, 54_500), "1:06 left, then refused");
  assert.equal(timeLeft(120_000, 119_001), "0:01 left, then refused");
  assert.equal(timeLeft(120_000, 120_000), "no time left");
  assert.equal(timeLeft(120_000, 500_000), "no time left");
});

const AGENT = { session: "s1", name: "Helper", current: 11, tabs: [10, 11, 12] };
const TABS = [
  { tabId: 13, nativeId: 1, browser: "other", title: "Far", owner: "s1", shared: false },
  { tabId: 10, nativeId: 1, browser: "b", title: "Mine", owner: null, shared: false },
  { tabId: 11, nativeId: 2, browser: "b", title: "Its", url: "u", owner: "s1", shared: false },
  { tabId: 12, nativeId: 3, browser: "b", title: "", url: "u", owner: null, shared: true },
  { tabId: 14, nativeId: 4, browser: "b", title: "Left", owner: "gone", shared: false },
];
const SERVER = { browser: "b", agents: [AGENT], tabs: TABS };

test("an agent's tabs have their titles, and one is marked as current", () => {
  const [{ tabs }] = agentsOf({ ...SERVER, agents: [{ ...AGENT, tabs: [11, 12, 99] }] });
  assert.deepEqual(tabs, [
    { tabId: 11, text: "Its", isCurrent: true },
    { tabId: 12, text: "u", isCurrent: false },
    { tabId: 99, text: "Tab 99", isCurrent: false },
  ]);
});

test("the actions for the active tab depend on its owner", () => {
  const look = (id) => thisTabOf({ server: SERVER, lookedAt: { id, title: "", url: "" } });
  const summary = (id) => [look(id).tabId, look(id).whose, ...look(id).actions];
  assert.deepEqual(summary(1), [10, "Yours: agents cannot act on it.", "share"]);
  assert.deepEqual(summary(2), [11, "Belongs to Helper.", "take-back"]);
  assert.deepEqual(summary(3), [12, "Yours, shared with agents.", "unshare"]);
  assert.deepEqual(summary(4), [14, "Belongs to an agent.", "take-back"]);
  assert.equal(look(99), null);
  assert.equal(thisTabOf({ server: SERVER, lookedAt: null }), null);
});

test("an unusual state has a banner with a button that ends it", () => {
  const actions = (server) =>
    bannersOf({ server: { plugins: [], ...server }, remote: null }).map(({ action }) => action);
  assert.deepEqual(actions({ skipPermissions: false, stopped: false }), []);
  assert.deepEqual(actions({ skipPermissions: true, stopped: true }), ["resume-all", "skip-off"]);
});

test("the banner of the brake says which agents it has stopped", () => {
  const shown = (stopped, state) => {
    const server = stopped === null ? null : { plugins: [], stopped };
    const links = { server, remote: state && { state } };
    return [canBeStopped(links), bannersOf(links)[0]?.text];
  };
  const ALL = "Everything is stopped: no agent can act.";
  const NEAR = "Agents on this machine are stopped; those on others can act.";
  const FAR = "Agents on other machines are stopped; those on this one can act.";
  for (const state of [null, "none", "ended", "refused", "stopped"]) {
    assert.deepEqual(shown(true, state), [false, ALL]);
  }
  for (const state of ["open", "connecting", "closed"]) {
    assert.deepEqual(shown(true, state), [true, NEAR]);
    assert.deepEqual(shown(null, state), [true, undefined]);
  }
  assert.deepEqual(shown(false, "stopped"), [true, FAR]);
  assert.deepEqual(shown(null, "stopped"), [false, ALL]);
  assert.deepEqual(shown(null, "none"), [false, undefined]);
});

test("a banner names the plugins that run without a review in dev mode", () => {
  const plugins = [
    { name: "mine", trusted: true },
    { name: "bought", trusted: false },
  ];
  const [banner] = bannersOf({ server: { plugins }, remote: null });
  assert.equal(banner.text, "Dev mode: mine run without your review.");
  assert.equal(banner.label, "");
});

test("tools are listed under their plugin or site", () => {
  const tools = ["a", "b", "a"].map((plugin, index) => ({ plugin, site: "", name: `t${index}` }));
  const ofPage = { plugin: "", site: "shop.example", name: "buy" };
  const families = familiesOf({ tools: [...tools, ofPage] });
  assert.deepEqual(
    families.map(({ family, tools: its }) => [family, its.length]),
    [
      ["a", 2],
      ["b", 1],
      ["shop.example", 1],
    ],
  );
  assert.equal(leftOutText({ toolsLeftOut: 0 }), "");
  assert.match(leftOutText({ toolsLeftOut: 7 }), /^7 more/);
});

test("a grant names the agent, the tool, the site and the duration", () => {
  const grant = { tool: "t", client: "c", site: "a.example", scope: "session", expires: null };
  assert.equal(grantText(grant), "c may use t on a.example, this session");
  const plan = grantText({ ...grant, tool: "*" });
  assert.equal(plan, "c may use whatever its plan needs on a.example, this session");
  assert.equal(grantText({ ...grant, site: null, scope: "always" }), "c may use t everywhere");
  assert.match(grantText({ ...grant, expires: 86_400_000 }), /, this session until .*1970/);
  const forSite = grantText({ ...grant, tool: "*", scope: "site_session" });
  assert.equal(forSite, "c may do all that reads or acts on a.example, this session");
});

test("the panel's own tab does not count as the active tab", () => {
  const home = "chrome-extension://ours/";
  const tab = (id, more) => ({ id, url: "https://a.example", active: false, windowId: 1, ...more });
  const panel = tab(1, { url: `${home}panel/panel.html`, active: true, lastAccessed: 9 });
  const older = tab(2, { lastAccessed: 3 });
  const newer = tab(3, { lastAccessed: 5 });
  const elsewhere = tab(4, { active: true, windowId: 2, lastAccessed: 8 });
  assert.equal(lookedAt([panel, older, newer, elsewhere], 1, home).id, 3);
  assert.equal(lookedAt([older, { ...newer, active: true }, elsewhere], 1, home).id, 3);
  assert.equal(lookedAt([{ ...older, active: true }, newer], 1, home).id, 2);
  assert.equal(lookedAt([panel, elsewhere], 1, home).id, 4);
  assert.equal(lookedAt([panel], 1, home), undefined);
});
