import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = { storage: { session: { get: async () => ({}), set: async () => {} } } };
const { requireAllowed } = await import("../../../../extension/worker/remote/cdp-commands.js");

const reasonOf = (method, params) => {
  try {
    requireAllowed(method, params);
    return null;
  } catch (error) {
    return error.reason;
  }
};

test("commands of one tab are forwarded", () => {
  for (const method of ["Runtime.evaluate", "Page.reload", "DOM.getDocument", "Input.insertText"]) {
    assert.equal(reasonOf(method), null);
  }
  assert.equal(reasonOf("Page.navigate", { url: "https://a.example" }), null);
});

test("domains that reach beyond a tab are not", () => {
  for (const method of ["Browser.getVersion", "Target.getTargets", "Extensions.loadUnpacked"]) {
    assert.equal(reasonOf(method), "cdp_domain_not_allowed");
  }
});

test("commands that name files of the machine are not", () => {
  const drop = { type: "drop", data: { items: [], files: ["/etc/passwd"] } };
  assert.equal(reasonOf("Input.dispatchDragEvent", drop), "cdp_domain_not_allowed");
  assert.equal(reasonOf("DOM.setFileInputFiles", { files: [] }), "cdp_domain_not_allowed");
  assert.equal(reasonOf("Page.navigate", { url: "file:///etc/passwd" }), "permission_off");
});

test("what is no command is an invalid argument", () => {
  for (const method of [undefined, 1, "", "Page", "page.reload", "Page.reload.now"]) {
    assert.equal(reasonOf(method), "invalid_arguments");
  }
});

test("commands that run code in the next page, whichever that is, are not", () => {
  const methods = ["addScriptToEvaluateOnNewDocument", "addScriptToEvaluateOnLoad"];
  for (const method of [...methods, "navigateToHistoryEntry"]) {
    assert.equal(reasonOf(`Page.${method}`), "cdp_domain_not_allowed");
  }
  assert.equal(reasonOf("Page.reload", { scriptToEvaluateOnLoad: "1" }), "cdp_domain_not_allowed");
});

test("commands that could reach scripts of other extensions are not", () => {
  for (const method of ["Debugger.enable", "DOMDebugger.getEventListeners", "Runtime.runScript"]) {
    assert.equal(reasonOf(method), "cdp_domain_not_allowed");
  }
  for (const member of ["contextId", "executionContextId", "uniqueContextId"]) {
    assert.equal(reasonOf("Runtime.evaluate", { [member]: 3 }), "cdp_domain_not_allowed");
  }
});

test("commands about stored data of extensions and files are not", () => {
  const home = "chrome-extension://abc";
  const named = [{ origin: home }, { storageKey: `${home}/` }, { bucket: { storageKey: home } }];
  for (const params of [...named, { storageId: { securityOrigin: "file:///" } }]) {
    assert.equal(reasonOf("Storage.any", params), "permission_off");
  }
  assert.equal(reasonOf("Storage.any", { origin: "https://a.example" }), null);
});
