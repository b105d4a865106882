import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let given, optional;
globalThis.chrome = {
  permissions: { contains: async ({ permissions: [name] }) => given.has(name) },
  runtime: { getManifest: () => ({ optional_permissions: optional }) },
};
const permissions = await import("../../../../extension/worker/person/browser-permissions.js");
const { mayNeedPermission, requirePermission, wantedPermissions } = permissions;
const signal = () => new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

let changes;
beforeEach(() => {
  given = new Set();
  optional = ["bookmarks", "history"];
  changes = 0;
  permissions.onWanted(() => changes++);
});

test("a copy that has all permissions from the start asks for none", () => {
  optional = undefined;
  assert.equal(mayNeedPermission("bookmarks.search"), false);
});

test("only commands that need an optional permission wait for one", () => {
  assert.equal(mayNeedPermission("bookmarks.search"), true);
  assert.equal(mayNeedPermission("history.visits"), true);
  assert.equal(mayNeedPermission("tabs.list"), false);
  assert.equal(mayNeedPermission("sessions.recent"), false);
});

test("a permission that was given before is not asked for", async () => {
  given.add("bookmarks");
  await requirePermission("bookmarks.search", signal());
  assert.equal(changes, 0);
});

test("commands wait until the browser has given it, and the person is asked once", async () => {
  const both = Promise.all([
    requirePermission("bookmarks.search", signal()),
    requirePermission("bookmarks.tree", signal()),
  ]);
  await settled();
  assert.deepEqual(wantedPermissions(), [{ name: "bookmarks", why: "use your bookmarks" }]);
  permissions.permissionsGiven(["history", "bookmarks"]);
  await both;
  assert.deepEqual(wantedPermissions(), []);
  assert.equal(changes, 2);
});

test("a no ends the command", async () => {
  const waits = requirePermission("history.search", signal());
  const refused = assert.rejects(waits, { reason: "permission_denied" });
  await settled();
  permissions.declinePermission("history");
  await refused;
  assert.deepEqual(wantedPermissions(), []);
});

test("without an answer the agent is told whom to wait for, and the question stays", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const waits = requirePermission("history.search", signal());
  const late = assert.rejects(waits, { reason: "needs_person" });
  await settled();
  mock.timers.tick(20_000);
  await late;
  mock.timers.reset();
  assert.equal(wantedPermissions().length, 1);
  permissions.permissionsGiven(["history"]);
  assert.deepEqual(wantedPermissions(), []);
});

test("a cancelled command waits no longer", async () => {
  const controller = new AbortController();
  const waits = requirePermission("history.search", controller.signal);
  const ended = assert.rejects(waits, /stopped/);
  await settled();
  controller.abort(new Error("stopped"));
  await ended;
  permissions.declinePermission("history");
});
