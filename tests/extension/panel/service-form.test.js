import assert from "node:assert/strict";
import { test } from "node:test";

import { proposalOf } from "../../../extension/panel/forms/service-form.js";
import { pairingAddress, socketAddress } from "../../../extension/worker/shared/remote-settings.js";

const tokenOf = (claims) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
const later = Date.now() / 1000 + 3600;

test("the host that a token names is the one that is shown", () => {
  const token = tokenOf({ user_id: "ann ü", exp: later, connection_url: "https://p.example/x" });
  const { urls, hosts, about } = proposalOf("", ` ${token} `);
  assert.deepEqual([urls, hosts], [["https://p.example/x"], ["p.example"]]);
  assert.match(about, /user ann ü/);
});

test("the name in a token is shown as it is, cut, and turns nothing around", () => {
  const named = (user) =>
    proposalOf("p.example", tokenOf({ sub: user, exp: later })).about.replace(/ It ends.*/, "");
  assert.equal(named("ann\u202Enna"), "The token is for the user ann[U+202E]nna.");
  assert.ok(named("x".repeat(100_000)).length < 200);
});

test("the addresses that the person enters come first", () => {
  const token = tokenOf({ sub: "ann", exp: later, connection_url: "https://p.example" });
  const { hosts } = proposalOf("a.example:8443, wss://b.example", token);
  assert.deepEqual(hosts, ["a.example:8443", "b.example"]);
});

test("what cannot be connected to is refused, with the cause", () => {
  const token = tokenOf({ sub: "ann", exp: later });
  assert.throws(() => proposalOf("", "no token"), /not a token/);
  assert.throws(() => proposalOf("", token), /enter the address/);
  assert.throws(() => proposalOf("http://p.example", token), /must be on this machine/);
  assert.throws(() => proposalOf("https://user:word@p.example", token), /no address/);
  assert.throws(() => proposalOf("p.example", tokenOf({ sub: "ann", exp: 1 })), /expired/);
});

test("only this machine is reached without TLS", () => {
  const address = (url) => socketAddress(url)?.href ?? null;
  assert.equal(address("p.example"), "wss://p.example/extension");
  assert.equal(address("https://p.example:1/mcp?x"), "wss://p.example:1/extension");
  assert.equal(address("http://127.0.0.1:9516"), "ws://127.0.0.1:9516/extension");
  assert.equal(address("ws://localhost:1"), "ws://localhost:1/extension");
  for (const url of ["http://p.example", "ws://127.0.0.1.evil.example", "file:///x", ""]) {
    assert.equal(address(url), null);
  }
  assert.equal(pairingAddress("p.example"), "https://p.example/pair");
  assert.equal(pairingAddress("http://[::1]:9516"), "http://[::1]:9516/pair");
});
