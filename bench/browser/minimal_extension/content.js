/** A minimal content script: for each message on its port it calls a page tool, or echoes it. */
const { modelContext } = /** @type {any} */ (document);
const port = chrome.runtime.connect();

/** @param {string} name */
async function find(name) {
  return (await modelContext.getTools()).find((/** @type {any} */ tool) => tool.name === name);
}

/** @param {any} tool @param {object} input */
async function run(tool, input) {
  // Some browsers expect the input as a string.
  const argument = modelContext.executeTool.length > 1 ? JSON.stringify(input) : input;
  return modelContext.executeTool(tool, argument);
}

/** @type {Map<string, Promise<any>>} */
const known = new Map();

port.onMessage.addListener(async ({ tool, input }) => {
  if (!tool) return port.postMessage(input);
  if (!known.has(tool)) known.set(tool, find(tool));
  port.postMessage(await run(await known.get(tool), input));
});
