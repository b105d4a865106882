/** A page around the React example of docs/pagekit.md; `?hub=` uses the worker instead of WebMCP. */

import { createElement, StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { Cart } from "./example.jsx";
import { registerTool } from "./pagekit.mjs";

const url = new URLSearchParams(location.search).get("hub");
if (url) {
  delete Document.prototype.modelContext;
  const given = { url, workerUrl: "/pagekit.mjs" };
  registerTool("first", "Says where the server is.", null, () => url, given);
}

window.faults = [];
window.addEventListener("error", ({ message }) => window.faults.push(message));
window.addEventListener("unhandledrejection", ({ reason }) => window.faults.push(`${reason}`));

const root = createRoot(document.body);
window.show = (items) => {
  const cart = items && createElement(Cart, { items });
  flushSync(() => root.render(createElement(StrictMode, null, cart)));
};
