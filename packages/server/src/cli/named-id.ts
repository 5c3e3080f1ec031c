/**
 * Ids as people type them: the whole id, or a beginning of it that no other conversation has. A block is named by its
 * conversation's beginning and the rest of its id. Where several fit, they are listed; nothing is guessed.
 */

import type { ConversationView } from "@blockyard/kernel";
import { isProblem } from "@blockyard/kernel/plain";
import { type BlockSource, known } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { AMBIGUOUS_ROWS, AMBIGUOUS_TITLE_CHARS, NAMED_PAGE_ROWS } from "./limits.ts";
import { oneLine } from "./terminal.ts";

/** The whole id of a conversation or of a block. Throws where none fits, or several do. */
export async function wholeId(client: BlockSource, given: string): Promise<string> {
  const [name = "", ...rest] = given.split("/");
  return [await conversationId(client, name), ...rest].join("/");
}

async function conversationId(client: BlockSource, given: string): Promise<string> {
  const exact = await client.call("conversation.read", { conversation: given, blocks: 0 });
  if (!isProblem(exact)) return given;
  if (exact.details?.["restorable_until"] !== undefined)
    throw new CommandError(
      `conversation ${given} was deleted. To restore it: blockyard delete ${given} --undo`,
    );
  const found = exact.problem === "not_found" ? await beginningWith(client, given) : [];
  const [only, ...others] = found;
  if (only === undefined) {
    if (exact.problem !== "not_found") return known<string>(exact);
    throw new CommandError(`${exact.message}. List them: blockyard ls`, EXIT.nothing);
  }
  if (others.length === 0) return only.conversation;
  const lines = found
    .slice(0, AMBIGUOUS_ROWS)
    .map(({ conversation, title }) => `  ${conversation}  ${oneLine(title, AMBIGUOUS_TITLE_CHARS)}`);
  const more = found.length > AMBIGUOUS_ROWS ? [`  … and ${found.length - AMBIGUOUS_ROWS} more`] : [];
  throw new CommandError(
    [`${given} matches ${found.length} conversations. Type more of the id`, ...lines, ...more].join("\n"),
    EXIT.usage,
  );
}

async function beginningWith(client: BlockSource, given: string): Promise<readonly ConversationView[]> {
  const found = new Map<string, ConversationView>();
  for (let before: number | undefined; given !== ""; ) {
    const page = known(
      await client.call("conversation.list", {
        limit: NAMED_PAGE_ROWS,
        ...(before === undefined ? {} : { before }),
      }),
    );
    for (const view of page.conversations)
      if (view.conversation.startsWith(given)) found.set(view.conversation, view);
    before = page.conversations.at(-1)?.updated_at;
    if (!page.more || before === undefined) break;
  }
  return [...found.values()];
}
