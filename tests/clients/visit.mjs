// One of the official clients lists all tools and calls some. In: one JSON object on stdin. Out: the
// names of the tools, and each call's result or the error of the client, on stdout.

import { Client as Client1 } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js";
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from "../npm/node_modules/@modelcontextprotocol/client/dist/index.mjs";

const INFO = { name: "tabhub-tests", version: "1" };
const MAKERS = {
  "sdk 1.x": () => [new Client1(INFO), Transport1],
  "client 2.x, older era": () => [newer("legacy"), Transport2],
  "client 2.x, newer era": () => [newer("auto"), Transport2],
};

function newer(mode) {
  return new Client2(INFO, { versionNegotiation: { mode } });
}

async function read(stream) {
  let read = "";
  for await (const piece of stream) read += piece;
  return read;
}

const input = JSON.parse(await read(process.stdin));
const [client, Transport] = MAKERS[input.client]();
const headers = { Authorization: `Bearer ${input.secret}` };
await client.connect(new Transport(new URL(input.url), { requestInit: { headers } }));
const report = { tools: (await client.listTools()).tools.map((tool) => tool.name), results: {} };
for (const name of input.calls) {
  try {
    report.results[name] = await client.callTool({ name, arguments: {} });
  } catch (error) {
    report.results[name] = { refused: String(error) };
  }
}
process.stdout.write(JSON.stringify(report));
await client.close();
