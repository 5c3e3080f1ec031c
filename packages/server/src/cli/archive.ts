/**
 * `blockyard archive`, `unarchive` and `rename`: what the page does in the menu of a conversation. An archived conversation leaves the
 * lists, nothing else.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { RENAMED_TITLE_CHARS } from "./limits.ts";
import { wholeId } from "./named-id.ts";
import { oneLine, print, printJson } from "./terminal.ts";

const options = { home: HOME_OPTION, json: JSON_OPTION } as const;

export const archive: Command = {
  name: "archive",
  usage: "archive <conversation>… [--json]",
  summary: "hide a conversation from lists",
  examples: ["blockyard archive k3vq2mz", "blockyard ls --archived              # lists it too"],
  options,
  run: (args) => move("archive", args, true),
};

export const unarchive: Command = {
  name: "unarchive",
  usage: "unarchive <conversation>… [--json]",
  summary: "show an archived conversation in lists again",
  examples: ["blockyard unarchive k3vq2mz"],
  options,
  run: (args) => move("unarchive", args, false),
};

export const rename: Command = {
  name: "rename",
  usage: 'rename <conversation> "title" [--json]',
  summary: "change a conversation's title",
  examples: ['blockyard rename k3vq2mz "Fix the cart"'],
  options,
  async run(args) {
    const needs = [2, 2, "a conversation's id and a title"] as const;
    const { values, positionals } = readArguments({ name: "rename", options }, args, needs);
    const [given, title] = positionals as [string, string];
    if (title.trim() === "") throw new CommandError("the title is empty", EXIT.usage);
    return withClient(values.home, async (client) => {
      const conversation = await wholeId(client, given);
      const updated = known(await client.call("conversation.update", { conversation, title: title.trim() }));
      if (values.json) await printJson({ conversation, ...updated });
      else await print(`${conversation} is now called ${oneLine(updated.title, RENAMED_TITLE_CHARS)}\n`);
    });
  },
};

async function move(name: string, args: readonly string[], archived: boolean): Promise<number> {
  const { values, positionals } = readArguments({ name, options }, args, [1, 1_000, "a conversation's id"]);
  return withClient(values.home, async (client) => {
    for (const given of positionals) {
      const conversation = await wholeId(client, given);
      const updated = known(await client.call("conversation.update", { conversation, archived }));
      if (values.json) await printJson({ conversation, ...updated });
      else await print(`${conversation} ${archived ? "archived" : "unarchived"}.\n`);
    }
  });
}

async function withClient(
  home: string | undefined,
  act: (client: BlockSource) => Promise<void>,
): Promise<number> {
  const client = await openClient({ home });
  try {
    await act(client);
    return EXIT.done;
  } finally {
    await client.close();
  }
}
