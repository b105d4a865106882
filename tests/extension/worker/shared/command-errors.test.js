import assert from "node:assert/strict";
import { test } from "node:test";

import { CommandError, toWire } from "../../../../extension/worker/shared/command-errors.js";

test("an error in a message has a code, a sentence and a reason", () => {
  const wire = toWire(new CommandError("tab_not_found", "There is no tab 5."));
  assert.deepEqual(wire, {
    code: -32000,
    message: "There is no tab 5.",
    data: { reason: "tab_not_found" },
  });
});

test("only a JSON-RPC error has a JSON-RPC code", () => {
  assert.equal(toWire(new CommandError("unknown_command", "x")).code, -32601);
  assert.equal(toWire(new CommandError("invalid_arguments", "x")).code, -32000);
});

test("a sentence with page content has a limited length", () => {
  assert.ok(toWire(new Error("x".repeat(1e6))).message.length <= 20_000);
});

test("an error keeps its data, which cannot change the reason", () => {
  const wire = toWire(new CommandError("covered_by", "x", { coveredBy: "<div>", reason: "y" }));
  assert.equal(wire.data.coveredBy, "<div>");
  assert.equal(wire.data.reason, "covered_by");
});

test("any other exception is an internal error", () => {
  assert.equal(toWire(new TypeError("oops")).data.reason, "internal");
  assert.equal(toWire("plain").message, "plain");
});

test("the debugger's wrapped messages are unwrapped", () => {
  const wire = toWire(new Error('{"code":-32000,"message":"Cannot find context"}'));
  assert.equal(wire.message, "Cannot find context");
});
