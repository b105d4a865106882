/** How a site written in TypeScript uses the library; checked against its types, never run. */

import { registerTool, WorkerClient, type Status } from "../../pagekit/pagekit";

const client = new WorkerClient({ url: "ws://127.0.0.1:9515/page", workerUrl: "/pagekit.js" });

function describe(status: Status): string {
  return status.state === "unpaired" ? `Allow the code ${status.code}` : status.state;
}

client.addEventListener("status", ({ detail }) => console.log(describe(detail)));

export async function offer(signal: AbortSignal): Promise<void> {
  await client.registerTool<{ query: string }>(
    "search",
    "Find products.",
    { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    async ({ query }, { signal, progress }) => {
      progress(1, 2, "looking");
      return (await fetch(`/search?q=${query}`, { signal })).text();
    },
    { annotations: { readOnlyHint: true, cache: true } },
  );
  const { tabId, isActive }: { tabId: string; isActive: boolean } = client.getTabInfo();
  console.log(tabId, isActive, client.getTabId());
  // @ts-expect-error a tool has a handler
  await client.registerTool("nothing", "Does nothing.", null);
  // @ts-expect-error the option is a boolean
  await client.registerTool("stays", "Stays.", null, () => 1, { annotations: { cache: "yes" } });
  await client.registerTool("short", async ({ id }) => id, { title: "Short" });
  await registerTool("shorter", () => ({ content: [] }));
  // @ts-expect-error a name is text
  await client.unregisterTool(5);
  WorkerClient.clearTabId();
  return registerTool("cart", "Show the cart.", null, () => ({ items: [] }), { signal });
}
