/** The panel's own icons: strokes on a grid of 16, in the colour of the text. */

import { el } from "./dom.js";

const PATHS = {
  now: "M1.5 8h3l2-5 3 10 2-5h3",
  tabs: "M1 12.5h1.2c.7 0 1.3-.6 1.3-1.3V5A1.5 1.5 0 0 1 5 3.5h6A1.5 1.5 0 0 1 12.5 5v6.2c0 .7.6 1.3 1.3 1.3H15",
  tools:
    "M10.2 2.6a3.6 3.6 0 0 0-3.6 4.9L2.4 11.7a1.4 1.4 0 0 0 2 2l4.1-4.2a3.6 3.6 0 0 0 4.9-4.4l-2 2-2-.6-.5-1.9z",
  plugins: "M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2.5",
  clients: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 14c0-2.8 2.2-4.2 5-4.2s5 1.4 5 4.2",
  remote:
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.7 2.8 3.7 2.8 6S10 12.3 8 14M8 2C6 3.7 5.2 5.7 5.2 8S6 12.3 8 14",
  audit: "M4 1.8h5.5L12.5 5v9.2H4zM9 2v3.5h3.3M6 8h4.5M6 10.8h4.5",
  settings:
    "M2 4.5h7M12.5 4.5H14M2 11.5h1.5M7 11.5h7M10.8 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.2 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z",
  stop: "M5.2 2h5.6L14 5.2v5.6L10.8 14H5.2L2 10.8V5.2zM5.5 8h5",
  resume: "M5 3l8 5-8 5z",
  done: "M3 8.5l3.2 3.2L13 4.8",
  failed: "M4 4l8 8M12 4l-8 8",
  refused: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4",
  cancelled: "M4 8h8",
  running: "M8 2a6 6 0 1 1-6 6",
  copy: "M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7L14 14",
  warning: "M8 2L1.5 13.5h13zM8 6.5v3.2M8 11.7v.1",
  page: "M2 3h12v10H2zM2 6h12",
};

/**
 * It says nothing to a screen reader: words stand beside it.
 * @param {keyof typeof PATHS} name
 */
export function icon(name) {
  const drawing = el("path", { d: PATHS[name] ?? PATHS.page });
  return el(
    "svg",
    { class: `icon icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    drawing,
  );
}
