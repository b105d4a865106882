import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const { describeAll, passOn, register, releaseAll, report, reportNextUses, reportUse, restoreAll } =
  await import("../../../../extension/worker/shared/tab-state.js");

const WORKER = new URL("../../../../extension/worker/", import.meta.url);

/** Modules with state that need no registration, each with its reason. */
const EXEMPT = {
  "main.js": "the wiring; each part registers what it keeps",
  "debugger/attachment.js": "detachments in progress, which the browser finishes",
  "commands.js": "the tables of commands",
  "input/hand.js": "a table of functions",
  "tabs/tab-groups.js": "a group that two calls make at once; the server knows it from then on",
  "input/key-strokes.js": "tables, filled once when the module is loaded",
  "tabs/navigation.js": "navigations that a running command waits for",
  "link/secret-proof.js": "an encoder, which has no state",
  "data/file-downloads.js": "the order of files that are being saved",
  "link/self-description.js": "when this worker started",
  "reading/page-reading.js": "readings, too large to be stored: without one the whole page is read",
  "plugins/adapter-files.js": "what was asked on this connection, which ends with the worker",
  "plugins/page-scripts.js": "the order of scripts that a running command begins",
  "shared/server-pairing.js": "an id that is being read or made",
  "person/browser-permissions.js": "commands that wait, which end with this worker",
  "reading/element-wait.js": "a number for each running wait",
};
/** Values that can change: not a literal, a function, a regular expression or another constant. */
const CHANGEABLE =
  /^(?:export )?(?:let \w+|const (?![A-Z\d_]+ )\w+ = (?:new |\[|\{|(?:[\w.]+)\()|const \w+ = new (?:Map|Set|WeakMap)\(\))/m;
const REGISTERS = /^(?:register|keep)\(\{/m;

const modules = readdirSync(WORKER, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .map((name) => [name, readFileSync(new URL(name, WORKER), "utf8")]);

test("a module with state registers it, or has a reason in the list", () => {
  const silent = modules.filter(([, code]) => CHANGEABLE.test(code) && !REGISTERS.test(code));
  assert.deepEqual(silent.map(([name]) => name).sort(), Object.keys(EXEMPT).sort());
});

test("a value with the name of a constant is never changed", () => {
  for (const [name, code] of modules) {
    const constants = [...code.matchAll(/^(?:export )?const ([A-Z\d_]+) = /gm)];
    const changed = constants.filter(([, constant]) =>
      new RegExp(`\\b${constant}\\.(?:set|add|delete|clear|push)\\(`).test(code),
    );
    assert.deepEqual([name, changed.map(([, constant]) => constant)], [name, []]);
  }
});

const calls = [];
const registerRecorder = (name, more) =>
  register({ name, event: (tabId) => calls.push([name, tabId]), ...more });
registerRecorder("late", { after: ["middle"], restore: () => void calls.push("late restored") });
registerRecorder("middle", {
  after: ["early"],
  restore: () => Promise.reject(new Error("refused")),
  restoreMs: 1000,
  released: () => new Promise(() => {}),
});
registerRecorder("early", {
  describe: () => ["kept"],
  restore: async () => {
    await new Promise((rested) => setTimeout(rested, 5));
    calls.push("early restored");
  },
  restored: () => calls.push("all restored"),
  released: async (tabId) => void calls.push(["released", tabId]),
});
registerRecorder("busy", { restore: () => new Promise(() => {}), restoreMs: 20 });

test("every module is restored after its dependencies, even if these failed", async () => {
  await restoreAll();
  assert.deepEqual(calls.splice(0), ["early restored", "late restored", "all restored"]);
});

test("reports reach every module, in that order", () => {
  report("event", 7, undefined, "Page.loadEventFired", {});
  const expected = ["early", "middle", "late", "busy"].map((name) => [name, 7]);
  assert.deepEqual(calls.splice(0), expected);
});

test("a module that waits for its page does not block the release of a tab", async () => {
  await releaseAll(7, 10);
  assert.deepEqual(calls.splice(0), [["released", 7]]);
});

test("events of the browser are passed on once every module is restored", async () => {
  const restored = restoreAll();
  passOn("event", 8);
  assert.deepEqual(calls.splice(0), []);
  await restored;
  assert.deepEqual(calls.splice(0).slice(-1), [["busy", 8]]);
});

test("a part that is early gets events while the others are being restored", async () => {
  register({ name: "watcher", isEarly: true, opened: (_, tabId) => calls.push(["early", tabId]) });
  register({ name: "waiter", opened: (_, tabId) => calls.push(["restored", tabId]) });
  const restored = restoreAll();
  passOn("opened", 7, 8);
  assert.deepEqual(calls.splice(0), [["early", 8]]);
  await restored;
  assert.deepEqual(calls.splice(0).slice(-1), [["restored", 8]]);
  passOn("opened", 7, 9);
  assert.deepEqual(calls.splice(0), [
    ["restored", 9],
    ["early", 9],
  ]);
});

test("uses of a tab are reported at intervals, and again after their effect ended", async () => {
  register({ name: "user", used: (tabId) => calls.push(tabId) });
  const uses = (tabId) => {
    reportUse("used", tabId);
    reportUse("used", tabId);
    return calls.splice(0).length;
  };
  assert.deepEqual([uses(7), uses(7), uses(8)], [1, 0, 1]);
  report("lost", 7);
  assert.deepEqual([uses(7), uses(8)], [1, 0]);
  await releaseAll(8, 10);
  calls.length = 0;
  assert.deepEqual([uses(7), uses(8)], [0, 1]);
  reportNextUses();
  assert.deepEqual([uses(7), uses(8)], [1, 1]);
});

test("only modules with a description appear in the state", async () => {
  assert.deepEqual(await describeAll(), { early: ["kept"] });
});

test("a duplicate name, an unknown name and a cycle are errors", () => {
  assert.throws(() => register({ name: "early" }), /Two modules keep "early"/);
  register({ name: "lost", after: ["nobody"] });
  assert.throws(() => report("restored"), /There is no part "nobody"/);
  register({ name: "nobody", after: ["lost"] });
  assert.throws(() => report("restored"), /lost after nobody after lost/);
});
