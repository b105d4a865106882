import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addressesOf,
  factsOf,
  fileText,
  readinessTexts,
  reviewText,
  versionText,
  warningText,
} from "../../../extension/panel/plugins/plugin-view.js";

const PLUGIN = {
  name: "notes",
  package: "opentabs-plugin-notes",
  version: "1.0.0",
  source: "installed",
  folder: "/home/ada/notes",
  review: "reviewed",
  closed: null,
  tools: 2,
  waitingVersion: null,
  tabs: [],
};

test("a plugin says whether it can run, and what to do if it cannot", () => {
  assert.equal(warningText(PLUGIN), "");
  assert.equal(reviewText(PLUGIN), "Version 1.0.0 is reviewed and has 2 tools.");
  assert.equal(reviewText({ ...PLUGIN, closed: "off" }), "Version 1.0.0 is reviewed and is off.");
  for (const review of ["never", "changed"]) {
    const plugin = { ...PLUGIN, review, closed: "not_reviewed" };
    assert.match(warningText(plugin), /locked until you review it\.$/);
    assert.equal(reviewText(plugin), "");
  }
  assert.match(
    warningText({ ...PLUGIN, review: "never", trusted: true }),
    /Dev mode.*without a review/,
  );
});

test("a plugin says where it comes from, and which version waits", () => {
  assert.equal(versionText(PLUGIN), "1.0.0, opentabs-plugin-notes");
  assert.equal(versionText({ ...PLUGIN, source: "local" }), "1.0.0, your folder /home/ada/notes");
  const waiting = { ...PLUGIN, waitingVersion: "1.1.0" };
  assert.equal(warningText(waiting), "Update 1.1.0 needs your review.");
});

test("an address is one, or several with names", () => {
  assert.equal(addressesOf("https://a.example/?b=c"), "https://a.example/?b=c");
  assert.deepEqual(addressesOf("work=https://a.example/?b=c  home=http://b"), {
    work: "https://a.example/?b=c",
    home: "http://b",
  });
  assert.equal(addressesOf("a=b c"), "a=b c");
  assert.deepEqual(addressesOf("__proto__=x"), JSON.parse('{"__proto__":"x"}'));
});

const SHOWN = {
  package: "opentabs-plugin-notes",
  version: "1.0.0",
  folder: "/home/ada/notes",
  urlPatterns: ["https://a.example/*", "https://b.example/*"],
  defaultAddresses: [],
  excludePatterns: [],
  hasPreScript: false,
  settings: [],
  language: "javascript",
  hosts: [],
  readsCookies: false,
  reviewedVersion: null,
};

test("a review names only what the plugin has", () => {
  assert.deepEqual(factsOf(SHOWN), [
    ["Package", "opentabs-plugin-notes 1.0.0, /home/ada/notes"],
    ["Runs on", "https://a.example/* https://b.example/*"],
    ["Last reviewed", "never"],
  ]);
  const more = {
    ...SHOWN,
    urlPatterns: [],
    defaultAddresses: ["https://notes.example/"],
    excludePatterns: ["https://a.example/help/*"],
    hasPreScript: true,
    settings: ["site", "token"],
    reviewedVersion: "0.9.0",
    hosts: ["https://api.example/*"],
    readsCookies: true,
  };
  const facts = Object.fromEntries(factsOf(more));
  assert.equal(facts["Runs on"], "the site in its settings");
  assert.equal(facts["Also on"], "https://notes.example/, until you set another address");
  assert.equal(facts["But not on"], "https://a.example/help/*");
  assert.match(facts["At start"], /before the page's/);
  assert.equal(facts.Settings, "site, token; the page can read their values");
  assert.equal(facts["Last reviewed"], "version 0.9.0");
  assert.equal(facts.Requests, "also to https://api.example/*");
  assert.match(facts.Cookies, /reads those of these pages/);
  const inPython = Object.fromEntries(factsOf({ ...more, language: "python" }));
  assert.equal(inPython.Settings, "site, token");
});

test("a file says whether it has changed or is gone", () => {
  const file = { name: "dist/adapter.iife.js", bytes: 12, sha256: "ab", changes: [] };
  assert.equal(fileText(file), "dist/adapter.iife.js: 12 bytes");
  assert.equal(fileText({ ...file, changes: ["+x"] }), "dist/adapter.iife.js: 12 bytes, changed");
  assert.equal(fileText({ ...file, sha256: "" }), "dist/adapter.iife.js: it is gone");
});

test("the panel says where a plugin is ready, and why it is not", () => {
  const tabs = [
    { tabId: 1, ready: true, reason: null, message: "" },
    { tabId: 2, ready: false, reason: "needs_reload", message: "Reload." },
  ];
  const server = { tabs: [{ tabId: 1, title: "Notes" }] };
  const lines = ["Ready in “Notes”.", "“Tab 2”: needs_reload. Reload."];
  assert.deepEqual(readinessTexts({ ...PLUGIN, tabs }, server), lines);
  assert.deepEqual(readinessTexts({ ...PLUGIN, tabs, closed: "off" }, server), lines.slice(1));
  assert.match(readinessTexts(PLUGIN, server)[0], /no_tab/);
});
