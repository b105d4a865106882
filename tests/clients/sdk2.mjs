// @modelcontextprotocol/client 2.x: speaks both eras, as `mode` says.

import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "../npm/node_modules/@modelcontextprotocol/client/dist/index.mjs";
import { StdioClientTransport } from "../npm/node_modules/@modelcontextprotocol/client/dist/stdio.mjs";
import { converse } from "./conversation.mjs";

await converse(
  (info, options, mode) => {
    const client = new Client(info, { ...options, versionNegotiation: { mode } });
    const call = (name, args, onprogress) =>
      client.callTool({ name, arguments: args }, { onprogress });
    return { client, call };
  },
  { http: StreamableHTTPClientTransport, sse: SSEClientTransport, stdio: StdioClientTransport },
);
