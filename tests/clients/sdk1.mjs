// @modelcontextprotocol/sdk 1.x: the client of the era with sessions, over HTTP, SSE or stdio.

import { Client } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js";
import { SSEClientTransport } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/sse.js";
import { StdioClientTransport } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js";
import { StreamableHTTPClientTransport } from "../npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js";
import { converse } from "./conversation.mjs";

await converse(
  (info, options) => {
    const client = new Client(info, options);
    const call = (name, args, onprogress) =>
      client.callTool({ name, arguments: args }, undefined, { onprogress });
    return { client, call };
  },
  { http: StreamableHTTPClientTransport, sse: SSEClientTransport, stdio: StdioClientTransport },
);
