/**
 * A reading list that a person fills by its form, and an agent by two tools. On a site of your own
 * import "/pagekit.mjs", which `make pagekit` builds.
 */

import { registerTool } from "../../pagekit/pagekit.js";

/** @type {string[]} */
const books = ["The Mythical Man-Month"];
const form = /** @type {HTMLFormElement} */ (document.getElementById("add"));
const list = /** @type {HTMLElement} */ (document.getElementById("books"));

/** @param {string} title */
function add(title) {
  books.push(title);
  show();
}

function show() {
  const items = books.map((title) => {
    const item = document.createElement("li");
    item.textContent = title;
    return item;
  });
  list.replaceChildren(...items);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  add(String(new FormData(form).get("title")));
  form.reset();
});
show();

await registerTool("list_books", "The books on the list.", null, () => ({ books }), {
  annotations: { readOnlyHint: true },
});
await registerTool(
  "add_book",
  "Put a book on the list.",
  { type: "object", properties: { title: { type: "string", minLength: 1 } }, required: ["title"] },
  ({ title }) => {
    add(title);
    return { books };
  },
);
