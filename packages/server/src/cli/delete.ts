/** `blockyard delete`: a conversation, really. It asks first; for a short time --undo brings it back. */

import { createInterface } from "node:readline/promises";
import type { ConversationView } from "@blockyard/kernel";
import { limits, plural } from "@blockyard/kernel/plain";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { wholeId } from "./named-id.ts";
import { oneLine, print, printJson, printNote } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  yes: { type: "boolean", short: "y", summary: "delete without asking" },
  undo: { type: "boolean", summary: "restore a conversation that was just deleted" },
} as const;

const UNDO_SECONDS = limits.deletedUndoMs / 1_000;

export const deleteCommand: Command = {
  name: "delete",
  usage: "delete <conversation>… [--yes | --undo] [--json]",
  summary: "delete a conversation with everything in it",
  examples: ["blockyard delete k3vq2mz", "blockyard delete k3vq2mz --undo", "blockyard delete k3vq2mz --yes"],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "delete", options }, args, [
      1,
      1_000,
      "a conversation's id",
    ]);
    const client = await openClient({ home: values.home });
    try {
      for (const given of positionals) {
        if (values.undo) await undo(client, given, values.json === true);
        else await remove(client, given, values.yes === true, values.json === true);
      }
      return EXIT.done;
    } finally {
      await client.close();
    }
  },
};

async function remove(client: BlockSource, given: string, isSure: boolean, isJson: boolean): Promise<void> {
  const conversation = await wholeId(client, given);
  const read = known(await client.call("conversation.read", { conversation, blocks: 0 }));
  if (!isSure && !(await confirmed(read.conversation)))
    throw new CommandError(`${conversation} was not deleted`);
  const deleted = known(await client.call("conversation.delete", { conversation }));
  if (isJson) return void (await printJson(deleted));
  await print(`${conversation} deleted.\n`);
  printNote(asTyped(`To undo within ${UNDO_SECONDS} seconds: blockyard delete ${conversation} --undo`));
}

/** Without a terminal the option has to be given beforehand. */
async function confirmed({ conversation, title, blocks }: ConversationView): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandError(
      `not deleted. To delete ${conversation} without being asked, add --yes`,
      EXIT.usage,
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const name = title === "" ? "(no title)" : oneLine(title, 60);
    const said = await terminal.question(
      `Delete ${conversation}, ${name}, ${plural(blocks, "block")}? [y/N] `,
    );
    return /^y(es)?$/i.test(said.trim());
  } finally {
    terminal.close();
  }
}

/**
 * A deleted conversation is in no list, but the audit log has its id: a prefix names it if it is unique among recent
 * deletions.
 */
async function deletedId(client: BlockSource, given: string): Promise<string> {
  const since = Date.now() - 2 * limits.deletedUndoMs;
  const { entries } = known(await client.call("audit.list", { action: "conversation.delete", since }));
  const ids = new Set(entries.map(({ details }) => String(details["conversation"])));
  const [only, ...others] = [...ids].filter((id) => id.startsWith(given));
  return only === undefined || others.length > 0 || ids.has(given) ? given : only;
}

async function undo(client: BlockSource, given: string, isJson: boolean): Promise<void> {
  const conversation = await deletedId(client, given);
  const restored = known(await client.call("conversation.restore", { conversation }));
  if (isJson) await printJson(restored);
  else await print(`${conversation} restored.\n`);
}
