/**
 * Ids as people type them: the whole id, or a beginning of it that no other conversation has. A block is named by its
 * conversation's beginning and the rest of its id. Where several fit, they are listed; nothing is guessed.
 */

import { type ConversationView, isProblem } from "@blockyard/kernel";
import { CommandError, EXIT } from "./command.ts";
import { oneLine } from "./terminal.ts";
import { known, type Yard } from "./yard.ts";

const PAGE = 500;
const SHOWN = 10;
const TITLE_CHARS = 60;

interface Page {
  readonly conversations: readonly ConversationView[];
  readonly more: boolean;
}

/** The whole id of a conversation or of a block. Throws where none fits, or several do. */
export async function wholeId(yard: Yard, given: string): Promise<string> {
  const [name = "", ...rest] = given.split("/");
  return [await conversationId(yard, name), ...rest].join("/");
}

async function conversationId(yard: Yard, given: string): Promise<string> {
  const exact = await yard.call("conversation.read", { conversation: given, blocks: 0 });
  if (!isProblem(exact)) return given;
  const found = exact.problem === "not_found" ? await beginningWith(yard, given) : [];
  const [only, ...others] = found;
  if (only === undefined) return known(exact) as never;
  if (others.length === 0) return only.conversation;
  const lines = found
    .slice(0, SHOWN)
    .map(({ conversation, title }) => `  ${conversation}  ${oneLine(title, TITLE_CHARS)}`);
  const more = found.length > SHOWN ? [`  … and ${found.length - SHOWN} more`] : [];
  throw new CommandError(
    [`${given} is the beginning of ${found.length} conversations: give more of it`, ...lines, ...more].join(
      "\n",
    ),
    EXIT.usage,
  );
}

async function beginningWith(yard: Yard, given: string): Promise<readonly ConversationView[]> {
  const found = new Map<string, ConversationView>();
  for (let before: number | undefined; given !== ""; ) {
    const page = known(
      await yard.call("conversation.list", { limit: PAGE, ...(before === undefined ? {} : { before }) }),
    ) as unknown as Page;
    for (const view of page.conversations)
      if (view.conversation.startsWith(given)) found.set(view.conversation, view);
    before = page.conversations.at(-1)?.updated_at;
    if (!page.more || before === undefined) break;
  }
  return [...found.values()];
}
