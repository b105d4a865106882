// The script of both TypeScript clients. In: one JSON object on stdin, so that the secret is in no
// list of processes. Out: the report, as one JSON object on stdout.

const NO_TAB = 999999999;
const INFO = { name: "tabhub-tests", version: "1" };

export async function converse(makeClient, transports) {
  const input = JSON.parse(await text(process.stdin));
  let changed;
  const change = new Promise((resolve) => (changed = resolve));
  const listChanged = { resources: { onChanged: (error, found) => changed({ error, found }) } };
  const era = input.mode.endsWith("auto") ? "auto" : "legacy";
  const { client, call } = makeClient(INFO, { listChanged }, era);
  const transport = makeTransport(input, transports);
  await client.connect(transport);
  const received = recordProgress(transport);
  try {
    process.stdout.write(JSON.stringify(await use(client, call, transport, input, change, received)));
  } finally {
    await client.close();
  }
}

function makeTransport(input, transports) {
  if (input.mode.startsWith("stdio")) {
    const [command, ...args] = input.bridge;
    const transport = new transports.stdio({ command, args, env: input.environment });
    transport.setProtocolVersion ??= (version) => (transport.protocolVersion = version);
    return transport;
  }
  const Transport = input.mode === "sse" ? transports.sse : transports.http;
  const headers = { Authorization: `Bearer ${input.secret}` };
  return new Transport(new URL(input.url), { requestInit: { headers } });
}

// The clients drop the listener of a call before they handle progress that arrives in one chunk with
// the answer, as on a shared stream; so the transport's messages are recorded here.
function recordProgress(transport) {
  const received = [];
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.method === "notifications/progress") received.push(message.params.progress);
    take(message, extra);
  };
  return received;
}

async function use(client, call, transport, input, change, received) {
  const opened = await call("browser_open_tab", { url: input.page });
  const { tabId } = opened.structuredContent;
  const progress = [];
  const report = {
    server: client.getServerVersion().name,
    revision:
      client.getNegotiatedProtocolVersion?.() ??
      transport.protocolVersion ??
      transport._protocolVersion,
    tools: (await client.listTools()).tools,
    resources: (await client.listResources()).resources,
    prompts: (await client.listPrompts()).prompts,
    opened,
    change: await change,
    ran: await call("browser_execute_script", { code: "1+1", tabId }),
    failed: await call("browser_close_tab", { tabId: NO_TAB }),
    unknown: await call("no_such_tool", {}).catch(({ code, message }) => ({ code, message })),
    moved: await call("browser_navigate_tab", { tabId, url: input.next_page }, (update) =>
      progress.push(update.progress),
    ),
  };
  const closed = await call("browser_close_tab", { tabId });
  const hasOwnStream = ["auto", "legacy"].includes(input.mode);
  return { ...report, progress: hasOwnStream ? progress : received, closed };
}

async function text(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
