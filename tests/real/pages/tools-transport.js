import { IframeChildTransport, TabServerTransport } from "@mcp-b/transports";
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";

const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const server = new McpServer({ name: "page", version: "1" });

function publish(name, run) {
  const about = { title: `Title of ${name}`, description: `Does ${name}` };
  const config = { ...about, inputSchema: fromJsonSchema(schema), annotations: { readOnlyHint: true } };
  return server.registerTool(name, config, run);
}

const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const tools = {
  double: publish("double", async ({ a }) => text({ doubled: a * 2, where: location.origin })),
  fail: publish("fail", async () => {
    throw new Error("no such thing");
  }),
  never: publish("never", (input, context) => {
    window.asked = (window.asked ?? 0) + 1;
    context.mcpReq.signal.addEventListener("abort", () => (window.aborted = true));
    return new Promise(() => {});
  }),
  steps: publish("steps", async (input, context) => {
    const { progressToken } = context.mcpReq._meta;
    const params = { progressToken, progress: 1, total: 2, message: "half" };
    await context.mcpReq.notify({ method: "notifications/progress", params });
    return text("done");
  }),
};
window.publish = async (name) => void publish(name, async () => text(name));
window.withdraw = (name) => tools[name].remove();
const Transport = window.parent === window ? TabServerTransport : IframeChildTransport;
const transport = new Transport({ allowedOrigins: ["*"] });
window.published = server.connect(transport);
window.stop = () => server.close();
