// @modelcontextprotocol/sdk 1.x: the client of the era with sessions.

import { Client } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js";
import { StreamableHTTPClientTransport } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js";
import { converse } from "./conversation.mjs";

await converse((info, options) => {
  const client = new Client(info, options);
  const call = (name, given, onprogress) =>
    client.callTool({ name, arguments: given }, undefined, { onprogress });
  return { client, call };
}, StreamableHTTPClientTransport);
