import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.tabhub = { define: (name, make) => (globalThis.tabhub[name] = make()) };
await import("../../../../extension/content/reading/synonyms.js");
await import("../../../../extension/content/reading/word-matching.js");

/** The score of an element, 0 if it does not match. */
function score(query, name, role = "button", rest = "") {
  const item = { element: null, role, name, rest, hasRef: true };
  const found = globalThis.tabhub.matching.query(query).match(item);
  return found && !found.isNear ? found.score : 0;
}

test("words are found in any case, with or without accents and endings", () => {
  assert.ok(score("cafe menu", "Café Menu"));
  assert.ok(score("settings", "Setting"));
  assert.ok(score("book", "Booking"));
});

test("synonyms are found, phrases too", () => {
  for (const name of ["Log in", "Login", "Sign in", "SIGN IN"])
    assert.ok(score("login", name), name);
  assert.ok(score("sign in", "Login"));
  assert.ok(score("e-mail", "Your email address", "textbox"));
  assert.equal(score("login", "Sign up"), 0);
});

test("one wrong, missing, extra or swapped letter is ignored in long words", () => {
  for (const typed of ["pasword", "passwrod", "passwordd", "paszword"]) {
    assert.ok(score(typed, "Password", "textbox"), typed);
  }
  assert.equal(score("cat", "Car"), 0);
  assert.equal(score("table", "Tablespoon sugar") > 0, true);
});

test("words in scripts without spaces are found inside longer ones", () => {
  assert.ok(score("検索", "商品を検索する"));
});

test("most words of the query have to match", () => {
  assert.equal(score("purple elephant", "Purple shirt"), 0);
  assert.equal(score("delete account", "Account"), 0);
  assert.equal(score("checkout button", "Search"), 0);
  assert.ok(score("red delete button", "Delete"));
});

test("a named role ranks first, and alone finds all elements of the role", () => {
  assert.ok(score("login button", "Login", "button") > score("login button", "Login", "link"));
  assert.ok(score("all buttons", "Anything", "button"));
  assert.equal(score("all buttons", "Anything", "link"), 0);
});

test("an exact name ranks before a longer one", () => {
  assert.ok(score("search", "Search") > score("search", "Search in all of our products"));
  assert.ok(score("search", "Search") > score("search", "Go", "button", ' hint="search"'));
});

test("single symbols are words of a name that has no others, and mean something", () => {
  for (const symbol of ["+", "×", "⋮", "★"]) assert.ok(score(symbol, symbol), symbol);
  assert.ok(score("+ button", "+"));
  assert.ok(score("+", "+ New"));
  assert.ok(score("close", "×"));
  assert.ok(score("add", "+"));
  assert.equal(score("+", "×"), 0);
  assert.equal(score(".*", "Anything"), 0);
  assert.ok(score("terms conditions", "Terms & Conditions"));
  assert.equal(score("tea & coffee", "&"), 0);
});

/** Whether an element has something in common with the description. */
function isNear(query, name, role = "button") {
  const item = { element: null, role, name, rest: "", hasRef: true };
  return globalThis.tabhub.matching.query(query).match(item)?.isNear ?? false;
}

test("an element that matches in part, or only by its role, is near", () => {
  assert.ok(isNear("delete account", "Account"));
  assert.ok(isNear("purple elephant button", "Save"));
  assert.equal(isNear("purple elephant button", "Save", "link"), false);
  assert.equal(isNear("invisible unicorn", "Save"), false);
});

test("what a name lacks may be in its row, if the element is meant at all", () => {
  const item = { element: null, role: "button", name: "Delete", rest: "", hasRef: true };
  const match = (query, row) => globalThis.tabhub.matching.query(query).match(item, () => row);
  assert.equal(match("delete Book 071", "Book 071 | Karel Novak").isNear, false);
  assert.equal(match("delete Book 071", "Book 072 | Karel Novak").isNear, true);
  assert.equal(match("Karel Novak", "Book 071 | Karel Novak"), null);
});

test("a description of ten thousand words is bounded", () => {
  assert.equal(score("word ".repeat(10_000), "Save"), 0);
});
