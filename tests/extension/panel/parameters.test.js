import assert from "node:assert/strict";
import { test } from "node:test";

import { patch } from "../../../extension/panel/dom.js";
import { forgetParameters, parameters } from "../../../extension/panel/parameters.js";
import { installPage } from "./fake-page.js";

const REQUEST = { id: "a", tool: "browser_type_text", parameters: {}, secrets: [] };

/** Every element below a place. */
function all(place) {
  return place.children.flatMap((child) => [child, ...all(child)]);
}

/** The parameters of a request in a page, painted again whenever the panel would be. */
function shown(request) {
  const place = installPage();
  const app = { paint: () => patch(place, parameters({ ...REQUEST, ...request }, app)) };
  app.paint();
  const preview = () => all(place).find((one) => /preview/.test(one.getAttribute("class") ?? ""));
  return { place, preview: () => preview()?.textContent ?? "" };
}

test("the preview shows the line ends of a text, which are pressed as Enter", () => {
  const { preview } = shown({ parameters: { action: "type", text: "5\n" } });
  assert.equal(preview(), "action: type, text: 5↵");
  const lines = shown({ parameters: { text: "a \r\n  b\t c" } });
  assert.equal(lines.preview(), "text: a ↵ b c");
});

test("a parameter that may be a password is dots until the person asks to see it", () => {
  const request = { parameters: { ref: "r1", text: "hunter2\n" }, secrets: ["text"] };
  const { place, preview } = shown(request);
  assert.equal(preview(), "text: ••••••↵");
  assert.doesNotMatch(place.textContent, /hunter2/);
  const buttons = () => all(place).filter(({ tag }) => tag === "button");
  assert.deepEqual(
    buttons().map((one) => one.textContent),
    ["Show it"],
  );
  buttons()[0].fire("click");
  assert.deepEqual(buttons(), []);
  assert.match(place.textContent, /hunter2/);
  assert.equal(preview(), "text: ••••••↵", "it is shown where it was asked for");
  forgetParameters(new Set());
  assert.doesNotMatch(shown(request).place.textContent, /hunter2/);
});

test("an older server says nothing of passwords, and all is shown", () => {
  const { place, preview } = shown({ parameters: { text: "hi" }, secrets: undefined });
  assert.equal(preview(), "text: hi");
  assert.equal(all(place).filter(({ tag }) => tag === "button").length, 0);
});
