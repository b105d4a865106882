import assert from "node:assert/strict";
import { test } from "node:test";

const { isLost } = await import("../../../../extension/worker/frames/content-scripts.js");

test("only a tab that stays blank with a pending address counts as lost", () => {
  assert.ok(isLost({ url: "", pendingUrl: "https://a.example/" }));
  assert.ok(isLost({ pendingUrl: "http://localhost:1/" }));
  assert.ok(!isLost({ url: "https://a.example/", pendingUrl: "https://b.example/" }));
  assert.ok(!isLost({ url: "" }));
  assert.ok(!isLost({ url: "", pendingUrl: "chrome://newtab/" }));
});
