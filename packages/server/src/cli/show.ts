/**
 * `blockyard show`: a conversation as text, or one block's text exactly as it is.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { wholeId } from "./named-id.ts";
import { printJson } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  full: { type: "boolean", summary: "print whole results and thinking instead of their first lines" },
  session: {
    type: "boolean",
    summary: "print the session's settings: model, permissions, tools, MCP servers",
  },
} as const;

export const show: Command = {
  name: "show",
  usage: "show <conversation | block> [--full | --session] [--json]",
  summary: "print a conversation, or the text of one block",
  examples: [
    "blockyard show k3vq2mz",
    "blockyard show k3vq2mz --full | less",
    "blockyard show k3vq2mz --session",
    "blockyard show k3vq2mz/claude/12",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "show", options }, args, [
      1,
      1,
      "the id of a conversation or a block",
    ]);
    const client = await openClient({ home: values.home });
    try {
      const id = await wholeId(client, positionals[0] as string);
      const { showBlock, showConversation, showSession } = await import("./show-text.ts");
      if (values.session) await showSession(client, id.split("/", 1)[0] ?? id, values.json === true);
      else if (id.includes("/")) await showBlock(client, id, values.json === true);
      else if (values.json) for await (const line of client.lines(id)) await printJson(line);
      else await showConversation(client, id, values.full === true);
      return EXIT.done;
    } finally {
      await client.close();
    }
  },
};
