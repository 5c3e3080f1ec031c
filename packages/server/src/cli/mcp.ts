/**
 * `blockyard mcp`: MCP on stdin and stdout, for agents that start their tools as processes. It talks to the running server
 * and never opens the database itself; standard output carries nothing but the protocol.
 */

import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer } from "../faces/mcp.ts";
import { VERSION } from "../version.ts";
import { serverClient } from "./client.ts";
import type { Command } from "./command.ts";

export const mcp: Command = {
  name: "mcp",
  usage: "mcp [--home DIR]",
  summary: "serve the block tools to an agent over standard input and output",
  examples: [
    "claude mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent claude) -- blockyard mcp",
    "codex mcp add blockyard -- blockyard mcp",
  ],
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { home: { type: "string" } } });
    const client = serverClient({ home: values.home });
    const port = { version: VERSION, tools: () => client.tools(), call: client.call };
    const handle = serveStdio(() => mcpServer(port), {
      onerror: (error) => process.stderr.write(`blockyard mcp: ${error.message}\n`),
    });
    await new Promise<void>((resolve) => {
      process.stdin.once("close", resolve);
      process.once("SIGTERM", resolve);
      process.once("SIGINT", resolve);
    });
    await handle.close();
    return 0;
  },
};
