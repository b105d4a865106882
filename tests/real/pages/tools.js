/* Registers a few tools with whichever document.modelContext there is. */
const context = document.modelContext;
const controllers = {};

async function publish(name, more = {}) {
  controllers[name] = new AbortController();
  const tool = {
    name,
    title: `Title of ${name}`,
    description: `Does ${name}`,
    inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    annotations: { readOnlyHint: true },
    execute: async (input) => ({ doubled: input.a * 2, where: location.origin }),
    ...more,
  };
  await context.registerTool(tool, { signal: controllers[name].signal });
}

window.publish = publish;
window.withdraw = (name) => controllers[name].abort();
window.published = (async () => {
  await publish("double");
  await publish("fail", {
    execute: async () => {
      throw new Error("no such thing");
    },
  });
  await publish("never", {
    execute: (input, client) => {
      window.asked = (window.asked ?? 0) + 1;
      client?.signal?.addEventListener("abort", () => (window.aborted = true));
      return new Promise(() => {});
    },
  });
})();
