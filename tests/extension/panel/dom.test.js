import assert from "node:assert/strict";
import { test } from "node:test";

import { button, el, patch, strange } from "../../../extension/panel/dom.js";
import { installPage } from "./fake-page.js";

const rowOf = (key, text = key) => el("li", { key, title: text }, text);
const texts = (place) => place.children.map((child) => child.textContent);

test("an element with a key stays the same element, wherever it moves and whatever changes in it", () => {
  const place = installPage();
  patch(place, rowOf("a"), rowOf("b"));
  const [a, b] = place.children;
  patch(place, rowOf("new"), rowOf("b", "B"), rowOf("a"));
  assert.deepEqual(texts(place), ["new", "B", "a"]);
  assert.equal(place.children[1], b);
  assert.equal(place.children[2], a);
  assert.equal(b.getAttribute("title"), "B");
  patch(place, rowOf("a"));
  assert.deepEqual(place.children, [a]);
});

test("nothing of one item's element is used for another item", () => {
  const place = installPage();
  patch(place, rowOf("a"));
  const [a] = place.children;
  patch(place, rowOf("b"));
  assert.notEqual(place.children[0], a);
});

test("elements without keys keep their places among those of their kind", () => {
  const place = installPage();
  patch(place, el("p", {}, "one"), el("input"));
  const [, input] = place.children;
  patch(place, null, false, [el("input")]);
  assert.deepEqual(place.children, [input]);
  patch(place, el("p", {}, "again"), el("input"));
  assert.equal(place.children[1], input);
});

test("what a person has entered stays until the description of it changes", () => {
  const place = installPage();
  patch(place, el("input", { value: "server's" }));
  const [input] = place.children;
  assert.equal(input.value, "server's");
  input.value = "half-ty";
  patch(place, el("input", { value: "server's", title: "x" }));
  assert.equal(input.value, "half-ty");
  patch(place, el("input", { value: "changed" }));
  assert.equal(input.value, "changed");
});

test("attributes come and go, and only the newest listener is called", () => {
  const place = installPage();
  const called = [];
  const shown = (name, hidden) => el("p", { hidden, class: "x", onclick: () => called.push(name) });
  patch(place, shown("first", true));
  const [p] = place.children;
  assert.equal(p.getAttribute("hidden"), "");
  patch(place, shown("second", false));
  assert.equal(p.getAttribute("hidden"), null);
  p.fire("click");
  patch(place, el("p"));
  assert.equal(p.getAttribute("class"), null);
  p.fire("click");
  assert.deepEqual(called, ["second"]);
});

test("a press by a script does nothing", () => {
  const place = installPage();
  let presses = 0;
  patch(
    place,
    button("Press", {}, () => presses++),
  );
  place.children[0].fire("click", false);
  assert.equal(presses, 0);
  place.children[0].fire("click");
  assert.equal(presses, 1);
});

test("a button says what it is about to those who do not see where it stands", () => {
  const place = installPage();
  patch(place, button("Pause", { of: "Shopping\u202E helper" }, () => {}));
  assert.equal(place.children[0].getAttribute("aria-label"), "Pause: Shopping[U+202E] helper");
  assert.equal(place.children[0].getAttribute("of"), null);
});

test("untrusted text is text, its invisible characters are marked, and it is cut", () => {
  const place = installPage();
  patch(place, strange("<img src=x onerror=alert(1)>\u202e", { most: 100 }));
  const [text] = place.children;
  assert.equal(text.textContent, "<img src=x onerror=alert(1)>U+202E");
  assert.deepEqual(
    text.children.map(({ tag }) => tag),
    ["span"],
  );
  patch(place, strange("x".repeat(100_000), { most: 50 }), strange(undefined));
  assert.equal(place.children[0].textContent, `${"x".repeat(50)}…`);
});

test("a stranger's text is taken apart again only when it has changed", (context) => {
  const place = installPage();
  const split = context.mock.method(String.prototype, "split");
  const shown = (text) => patch(place, strange(text, { most: 100 }));
  shown("one\ntwo");
  const [before] = place.children;
  const parts = [...before.childNodes];
  split.mock.resetCalls();
  shown("one\ntwo");
  assert.equal(split.mock.callCount(), 0);
  assert.deepEqual(before.childNodes, parts);
  shown("one\nthree");
  assert.equal(place.children[0], before);
  assert.match(before.textContent, /three/);
  shown("x".repeat(101));
  assert.equal(before.textContent, `${"x".repeat(100)}…`);
});
