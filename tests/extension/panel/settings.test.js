import assert from "node:assert/strict";
import { test } from "node:test";

import { patch } from "../../../extension/panel/dom.js";
import { installPage } from "./fake-page.js";

globalThis.chrome = { storage: { local: { get: async () => ({}), set: async () => {} } } };
const { settings } = await import("../../../extension/panel/views/settings.js");

const SERVER = { grants: [], pages: [], unattended: "deny", skipPermissions: false };
const LISTED = [
  { key: "limits.seconds", type: "number", value: null, default: null },
  { key: "limits.most", type: "number", value: 7, default: 5 },
  { key: "name", type: "text", value: null, default: null },
  { key: "greeting", type: "text", value: "hello", default: "hi" },
  { key: "toolsets", type: "list", value: null, default: null, choices: ["core", "all"] },
  { key: "origins", type: "list", value: ["a"], default: [] },
  { key: "recording", type: "boolean", value: true, default: true },
  { key: "unattended", type: "choice", value: "deny", default: "deny", choices: ["deny", "allow"] },
].map((one) => ({ about: "", choices: null, lockedBy: null, waits: false, ...one }));

/** The view with these settings: the text of each control, and what is sent when one is changed. */
async function shown(isAccepted = true) {
  const place = installPage();
  const sent = [];
  const app = {
    server: SERVER,
    model: {},
    askQuietly: async () => ({ settings: LISTED }),
    attempt: async (_, params) => sent.push(params) && isAccepted,
    paint: () => patch(place, settings.render(app)),
  };
  settings.opened(app);
  await new Promise(setImmediate);
  const control = (key) => find(place, (one) => one.getAttribute?.("id") === `setting-${key}`);
  const enter = (key, value, more = {}) => {
    Object.assign(control(key), { value, validity: { badInput: false }, ...more });
    control(key).fire("change");
    return sent.at(-1);
  };
  return { place, sent, control, enter };
}

function find(node, isIt) {
  if (isIt(node)) return node;
  for (const child of node.childNodes ?? []) {
    const found = find(child, isIt);
    if (found) return found;
  }
  return null;
}

test("a setting without a value is an empty field, and a list says what can be in it", async () => {
  const { control, place } = await shown();
  const texts = LISTED.map(({ key }) => control(key).value);
  assert.deepEqual(texts, ["", "7", "", "hello", "", '["a"]', undefined, "deny"]);
  assert.match(place.textContent, /Possible: core, all\./);
  assert.equal(place.textContent.split("Possible").length, 2);
});

test("an emptied field goes back to the default, except for a text that may be empty", async () => {
  const { control, enter } = await shown();
  for (const key of ["limits.seconds", "limits.most", "name", "toolsets", "origins"])
    assert.deepEqual(enter(key, ""), { key, value: null });
  assert.equal(control("limits.most").value, "5");
  assert.deepEqual(enter("greeting", ""), { key: "greeting", value: "" });
  assert.deepEqual(enter("limits.most", "0"), { key: "limits.most", value: 0 });
  assert.deepEqual(enter("origins", '["b"]'), { key: "origins", value: ["b"] });
});

test("what is no number and no list is not sent, and the field says so", async () => {
  const { enter, place, sent } = await shown();
  enter("limits.most", "", { validity: { badInput: true } });
  assert.match(place.textContent, /must be a number/);
  enter("origins", "b");
  assert.match(place.textContent, /must be a list/);
  assert.deepEqual(sent, []);
});

test("a choice that the server refuses is taken back", async () => {
  const { control } = await shown(false);
  Object.assign(control("recording"), { checked: false }).fire("change");
  Object.assign(control("unattended"), { value: "allow" }).fire("change");
  await new Promise(setImmediate);
  assert.equal(control("recording").checked, true);
  assert.equal(control("unattended").value, "deny");
});
