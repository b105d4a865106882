/**
 * The imports that folders of the service worker and the extension's pages may have: rules for
 * dependency-cruiser. Types are left out: JSDoc may name a type of any folder.
 */

/** Each folder with the folders that it may import; `main.js` and `commands.js` wire them up. */
const MAY_IMPORT = {
  shared: [],
  link: ["shared"],
  person: ["shared"],
  frames: ["shared"],
  debugger: ["shared", "frames"],
  input: ["shared", "frames", "debugger", "recording"],
  reading: ["shared", "frames", "debugger", "input"],
  picture: ["shared", "frames", "debugger", "input"],
  recording: ["shared", "frames", "debugger"],
  emulation: ["shared", "frames", "debugger", "input"],
  data: ["shared", "frames", "debugger"],
  page_tools: ["shared", "frames", "debugger"],
  plugins: ["shared", "frames", "debugger"],
  tabs: ["shared", "frames", "debugger", "recording", "emulation"],
  remote: ["shared", "link", "debugger", "input"],
};

const WORKER = "^extension/worker/";
const WIRING = `${WORKER}(main|commands)\\.js$`;
const FOR_BOTH = "^extension/content/shared/(correlator|match-patterns)\\.js$";
const PAGES = "^extension/(panel|options|offscreen)/";
const FOR_PAGES = [`${WORKER}shared/`, `${WORKER}person/plain-text\\.js$`];

const folders = (names) => `${WORKER}(${names.join("|")})/`;

const forbidden = [
  { name: "no-circle", from: {}, to: { circular: true } },
  { name: "every-import-is-found", from: {}, to: { couldNotResolve: true } },
  {
    name: "every-file-is-used",
    from: { orphan: true, path: WORKER, pathNot: "\\.d\\.ts$" },
    to: {},
  },
  {
    name: "nothing-imports-the-wiring",
    from: { pathNot: `${WORKER}main\\.js$` },
    to: { path: WIRING },
  },
  {
    name: "every-folder-is-in-the-table",
    from: { path: WORKER, pathNot: [WIRING, folders(Object.keys(MAY_IMPORT))] },
    to: {},
  },
  {
    name: "the-worker-imports-itself-only",
    from: { path: WORKER },
    to: { pathNot: [WORKER, FOR_BOTH] },
  },
  {
    name: "pages-use-little-of-the-worker",
    from: { path: PAGES },
    to: { path: WORKER, pathNot: FOR_PAGES },
  },
  ...Object.entries(MAY_IMPORT).map(([folder, others]) => ({
    name: `${folder}-imports-only-its-own`,
    from: { path: folders([folder]) },
    to: { path: WORKER, pathNot: folders([folder, ...others]) },
  })),
];

module.exports = { forbidden: forbidden.map((rule) => ({ severity: "error", ...rule })) };
