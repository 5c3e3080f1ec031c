/** `blockyard mcp`: the block tools for an agent, over standard input and output. How they are served is mcp-stdio.ts. */

import { HOME_OPTION, readArguments } from "./args.ts";
import type { Command } from "./command.ts";

const options = { home: HOME_OPTION } as const;

export const mcp: Command = {
  name: "mcp",
  usage: "mcp [--home DIR]",
  summary: "serve the block tools to an agent over standard input and output",
  examples: [
    "claude mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent claude-mcp) -- blockyard mcp",
    "codex mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent codex-mcp) -- blockyard mcp",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "mcp", options }, args, [0, 0]);
    return (await import("./mcp-stdio.ts")).serveStandardIo(values.home);
  },
};
