import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const shown = new Map();
globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async () => {} } },
  tabs: {
    get: async (id) => (shown.has(id) ? { id, ...shown.get(id) } : Promise.reject(new Error())),
  },
};
const { NEEDED, fenced, requireLevel, runFenced } = await import(
  "../../../../extension/worker/remote/fence.js"
);

const ROOT = new URL("../../../../", import.meta.url);
const table = readFileSync(new URL("extension/worker/shared/wire.d.ts", ROOT), "utf8");
const COMMANDS = [...table.matchAll(/^    "([\w.]+)": \{ input/gm)].map(([, name]) => name);
const guest = (level) => ({ name: "laptop", level });
const reasonOf = (work) => {
  try {
    work();
    return null;
  } catch (error) {
    return [error.reason, error.data.needed];
  }
};

test("every command has a level", () => {
  assert.ok(COMMANDS.length > 70);
  assert.deepEqual(Object.keys(NEEDED).toSorted(), COMMANDS.toSorted());
});

test("scripts, cookies, history and what the browser keeps need everything", () => {
  const delicate = /^(cookies|history|bookmarks|downloads|plugin|intercept|sessions)\.|evaluate|storage/;
  for (const name of COMMANDS.filter((each) => delicate.test(each))) {
    assert.deepEqual([name, NEEDED[name]], [name, "everything"]);
  }
});

test("a client that only looks changes nothing, also not what is recorded", () => {
  const changes = /\.(clear|clearConsole|click|close|create|delete|open|set|start|stop|update|upload)$/;
  const found = COMMANDS.filter((name) => changes.test(name) && NEEDED[name] === "look");
  assert.deepEqual(found, []);
});

test("a level includes those below it", () => {
  const allowed = (level) => COMMANDS.filter((name) => !reasonOf(() => fenced(guest(level), name, {})));
  const [look, act, everything] = ["look", "act", "everything"].map(allowed);
  assert.ok(look.length && look.every((name) => act.includes(name)));
  assert.ok(look.length < act.length && act.length < everything.length);
  assert.deepEqual(everything, COMMANDS);
});

test("a client that the person has not allowed may do nothing", () => {
  for (const name of COMMANDS) {
    const [reason] = reasonOf(() => fenced(guest(null), name, {}));
    assert.deepEqual([name, reason], [name, "permission_off"]);
  }
});

test("a command that nobody knows needs everything", () => {
  assert.deepEqual(reasonOf(() => fenced(guest("act"), "toString", {})), [
    "permission_off",
    "everything",
  ]);
});

test("a refusal names the client, its level and the one that is needed", () => {
  const refuse = () => requireLevel(guest("look"), "act", "page.click");
  assert.throws(refuse, /“laptop” look; page\.click needs the level “act”/);
});

test("the path of an upload is left out, and its bytes come from the server", () => {
  const file = { name: "a.txt", mimeType: "text/plain", size: 1, path: "/etc/passwd" };
  const { path: _, ...sent } = file;
  const upload = fenced(guest("act"), "page.upload", { input: { ref: "e1", files: [file] } });
  assert.deepEqual(upload.input, { ref: "e1", files: [sent] });
  const saved = fenced(guest("everything"), "downloads.save", { input: { file } });
  assert.deepEqual(saved.input, { file: sent });
});

test("files of the machine and pages of the browser are not opened", () => {
  const open = (url, name = "tabs.open") =>
    reasonOf(() => fenced(guest("everything"), name, { input: { url } }))?.[0] ?? null;
  for (const url of ["file:///etc/passwd", "chrome://settings", " FILE:///etc", "view-source:file:///"]) {
    assert.equal(open(url), "permission_off");
    assert.equal(open(url, "tabs.navigate"), "permission_off");
    assert.equal(open(url, "downloads.start"), "permission_off");
  }
  for (const url of ["about:settings", "About:Version", "about:blank/x", "about:"]) {
    assert.deepEqual([url, open(url)], [url, "permission_off"]);
  }
  for (const url of ["about:blank", "about:blank?a#b", "about:srcdoc"]) assert.equal(open(url), null);
  for (const url of ["https://a.example", "http://a.example", "about:blank", "back", "reload"]) {
    assert.equal(open(url, "tabs.navigate"), null);
  }
});

test("a page of this machine is not reached, but its tab can be closed or sent elsewhere", async () => {
  const run = (name, tabId = 1) =>
    runFenced(guest("everything"), name, { tabId, input: {} }, async () => name).then(
      (output) => output,
      ({ reason }) => reason,
    );
  const pages = [{ url: "file:///etc/passwd" }, { url: "chrome://settings/" }];
  for (const page of [...pages, { url: "", pendingUrl: "file:///etc/passwd" }]) {
    shown.set(1, page);
    for (const name of ["page.read", "page.evaluate", "record.console"]) {
      assert.deepEqual([page, await run(name)], [page, "permission_off"]);
    }
    assert.equal(await run("tabs.close"), "tabs.close");
  }
  for (const url of ["https://a.example/", "about:blank", "", "data:text/html,a"]) {
    shown.set(1, { url });
    assert.equal(await run("page.read"), "page.read");
  }
  assert.equal(await run("tabs.list", undefined), "tabs.list");
});

test("what a command has seen is withheld if the tab shows a page of this machine by then", async () => {
  shown.set(1, { url: "https://a.example/" });
  const leave = async () => void shown.set(1, { url: "file:///etc/passwd" });
  const context = { tabId: 1, input: {} };
  await assert.rejects(runFenced(guest("look"), "page.read", context, leave), {
    reason: "permission_off",
  });
  shown.set(1, { url: "https://a.example/" });
  const close = async () => shown.delete(1);
  assert.equal(await runFenced(guest("act"), "page.click", context, close), true);
});

test("steps in the history keep to the same addresses", () => {
  const { requireAddress } = fenced(guest("act"), "tabs.navigate", { input: { url: "back" } });
  assert.throws(() => requireAddress("file:///etc/passwd"), { reason: "permission_off" });
  assert.doesNotThrow(() => requireAddress("https://a.example/"));
});

test("a notice says which remote client it is from, and leads to no page of this machine", () => {
  const notice = (input) => fenced(guest("act"), "notices.show", { input }).input;
  const { agent, title } = notice({ agent: "tabhub", title: "Update now" });
  assert.deepEqual([agent, title], ["the remote client “laptop” (tabhub)", "Update now"]);
  assert.throws(() => notice({ agent: "a", url: "file:///etc/passwd" }), { reason: "permission_off" });
});
