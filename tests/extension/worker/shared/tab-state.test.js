import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const { describeAll, passOn, register, releaseAll, report, reportNextUses, reportUse, restoreAll } =
  await import("../../../../extension/worker/shared/tab-state.js");

const WORKER = new URL("../../../../extension/worker/", import.meta.url);

/** Modules that keep something and need not be told of anything, each with its reason. */
const EXEMPT = {
  "input/act.js": "watches of running actions, which end with the worker",
  "debugger/attachment.js": "detachments that are under way; the browser ends them by itself",
  "commands.js": "the tables of commands",
  "input/hand.js": "a table of functions",
  "tabs/tab-groups.js": "a group that two calls make at once; the server knows it from then on",
  "input/key-strokes.js": "tables, filled once when the module is loaded",
  "tabs/navigation.js": "navigations that a running command waits for",
  "link/secret-proof.js": "an encoder, which has no state",
  "data/file-downloads.js": "the order of files that are being saved",
  "link/self-description.js": "when this worker started",
  "reading/page-reading.js":
    "readings, too large to be stored: one that is gone is answered in full",
  "reading/element-wait.js": "a number for each running wait",
};
/** What can change: not a literal, a function, a regular expression or another constant. */
const CHANGEABLE =
  /^(?:export )?(?:let \w+|const (?![A-Z\d_]+ )\w+ = (?:new |\[|\{|(?:[\w.]+)\()|const \w+ = new (?:Map|Set|WeakMap)\(\))/m;
const REGISTERS = /^(?:register|keep)\(\{/m;

const modules = readdirSync(WORKER, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .map((name) => [name, readFileSync(new URL(name, WORKER), "utf8")]);

test("a module that keeps something registers what becomes of it, or says why not", () => {
  const silent = modules.filter(([, code]) => CHANGEABLE.test(code) && !REGISTERS.test(code));
  assert.deepEqual(silent.map(([name]) => name).sort(), Object.keys(EXEMPT).sort());
});

test("what is named as a constant is never changed", () => {
  for (const [name, code] of modules) {
    const constants = [...code.matchAll(/^(?:export )?const ([A-Z\d_]+) = /gm)];
    const changed = constants.filter(([, constant]) =>
      new RegExp(`\\b${constant}\\.(?:set|add|delete|clear|push)\\(`).test(code),
    );
    assert.deepEqual([name, changed.map(([, constant]) => constant)], [name, []]);
  }
});

const heard = [];
const hears = (name, more) =>
  register({ name, event: (tabId) => heard.push([name, tabId]), ...more });
hears("late", { after: ["middle"], restore: () => void heard.push("late restored") });
hears("middle", {
  after: ["early"],
  restore: () => Promise.reject(new Error("refused")),
  restoreMs: 1000,
  released: () => new Promise(() => {}),
});
hears("early", {
  describe: () => ["kept"],
  restore: async () => {
    await new Promise((rested) => setTimeout(rested, 5));
    heard.push("early restored");
  },
  restored: () => heard.push("all restored"),
  released: async (tabId) => void heard.push(["released", tabId]),
});
hears("busy", { restore: () => new Promise(() => {}), restoreMs: 20 });

test("everything is restored after what it rests on, whether or not that could be", async () => {
  await restoreAll();
  assert.deepEqual(heard.splice(0), ["early restored", "late restored", "all restored"]);
});

test("reports reach everyone, in that order", () => {
  report("event", 7, undefined, "Page.loadEventFired", {});
  const expected = ["early", "middle", "late", "busy"].map((name) => [name, 7]);
  assert.deepEqual(heard.splice(0), expected);
});

test("one that waits for its page does not keep a tab from being released", async () => {
  await releaseAll(7, 10);
  assert.deepEqual(heard.splice(0), [["released", 7]]);
});

test("what the browser reports is passed on once everything is restored", async () => {
  const restored = restoreAll();
  passOn("event", 8);
  assert.deepEqual(heard.splice(0), []);
  await restored;
  assert.deepEqual(heard.splice(0).slice(-1), [["busy", 8]]);
});

test("uses of a tab are reported now and then, and again after what they had begun is over", async () => {
  register({ name: "user", used: (tabId) => heard.push(tabId) });
  const uses = (tabId) => {
    reportUse("used", tabId);
    reportUse("used", tabId);
    return heard.splice(0).length;
  };
  assert.deepEqual([uses(7), uses(7), uses(8)], [1, 0, 1]);
  report("lost", 7);
  assert.deepEqual([uses(7), uses(8)], [1, 0]);
  await releaseAll(8, 10);
  heard.length = 0;
  assert.deepEqual([uses(7), uses(8)], [0, 1]);
  reportNextUses();
  assert.deepEqual([uses(7), uses(8)], [1, 1]);
});

test("only those that have something to say describe themselves", async () => {
  assert.deepEqual(await describeAll(), { early: ["kept"] });
});

test("two of one name, an unknown name and a circle are mistakes", () => {
  assert.throws(() => register({ name: "early" }), /Two modules keep "early"/);
  register({ name: "lost", after: ["nobody"] });
  assert.throws(() => report("restored"), /There is no part "nobody"/);
  register({ name: "nobody", after: ["lost"] });
  assert.throws(() => report("restored"), /lost after nobody after lost/);
});
