/**
 * conversation.fork: continue from an older block. In the same conversation, that is a new block whose parent is not
 * the head. Into a new one, the path to the block is copied in one commit, each copy naming its source.
 */

import { z } from "zod";
import { expiredAsk } from "../model/ask.ts";
import type { Block } from "../model/block.ts";
import { copiedKind } from "../model/file-copy.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { type PathBlock, pathOf } from "../write/context.ts";
import type { Draft } from "../write/draft.ts";
import type { NewBlock } from "../write/draft-base.ts";
import { mayDirect, maySpeak } from "./rights.ts";
import { blockIdField, type Call, textField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField.describe("The block to continue from"),
  content: textField.optional().describe("The user's next message. Default: none, only the head moves there"),
  into_new: z.boolean().default(false).describe("Copy the path to the block into a new conversation"),
  title: z
    .string()
    .max(limits.titleChars)
    .optional()
    .describe("Of the new conversation. Default: the source's, marked as a fork"),
});

const output = z.object({
  conversation: z.string(),
  head: z.string().nullable(),
  block_id: z.string().optional().describe("The new user block, if content was given"),
  copied: z.number().int().optional(),
});

type Input = z.infer<typeof input>;
type Output = z.infer<typeof output>;

export const conversationFork = tool({
  name: "conversation.fork",
  description:
    "Continue from an older block: with content, a user message is added after it and becomes the head; without, the head " +
    "moves to it. into_new copies the path (with tool results) into a new conversation instead; the source is unchanged.",
  input,
  output,
  access: "write",
  carriesText: true,
  async run(call, given): Promise<Output | Problem> {
    // The next message is a user's.
    const refused = given.content === undefined ? undefined : maySpeak(call.caller, "user");
    if (refused) return refused;
    const from = await call.kernel.block(given.block_id);
    if (isProblem(from)) return from;
    if (from.side) {
      return problem(
        "invalid",
        `block ${from.id} is attached to ${from.parent}; fork at a block of the path, such as that one`,
        {
          block_id: from.id,
          parent_id: from.parent,
        },
      );
    }
    return given.into_new ? forkIntoNew(call, from, given) : forkHere(call, from, given);
  },
});

function forkHere(call: Call, from: Block, { content }: Input): Promise<Output | Problem> {
  const { conversation } = from;
  return call.kernel.writeBlock(from.id, {
    ...writer(call),
    plan: (draft) => {
      const refused = mayDirect(call.caller, draft.record);
      if (refused) return refused;
      if (content !== undefined) return say(draft, from.id, content);
      if (draft.record.head !== from.id) draft.conversation({ head: from.id });
      return { conversation, head: from.id };
    },
  });
}

function say(draft: Draft, parent: BlockId, content: string): Output | Problem {
  const block = draft.create({
    kind: "text",
    role: "user",
    parent,
    side: false,
    status: "done",
    text: content,
  });
  if (isProblem(block)) return block;
  return { conversation: block.conversation, head: block.id, block_id: block.id };
}

interface Copy {
  readonly source: PathBlock;
  readonly text: string;
}

async function forkIntoNew(call: Call, from: Block, { content, title }: Input): Promise<Output | Problem> {
  const { kernel } = call;
  const record = await kernel.conversation(from.conversation);
  if (isProblem(record)) return record;
  const copies = await gather(call, from);
  if (isProblem(copies)) return copies;
  return kernel.openConversation(call.caller.agent, call.key, (draft, conversation) => {
    const { cwd } = record.metadata; // the copy works where the original did
    const place = cwd === undefined ? {} : { metadata: { cwd } };
    draft.conversation({ title: title ?? forkTitle(record.title), forkedFrom: from.id, ...place });
    for (const id of record.included) draft.conversation({ include: id });
    const ids = new Map<BlockId, BlockId>();
    let last: BlockId | null = null;
    for (const copy of copies) {
      const block = draft.create(copyOf(copy, call.caller.agent, ids, last));
      if (isProblem(block)) return block;
      ids.set(copy.source.id, block.id);
      if (!copy.source.side) last = block.id;
      if (!copy.source.pruned) continue;
      const pruned = draft.prune(block.id, true);
      if (isProblem(pruned)) return pruned;
    }
    const said = content === undefined ? undefined : say(draft, last as BlockId, content);
    if (isProblem(said)) return said;
    return { ...(said ?? { conversation, head: last }), copied: copies.length };
  });
}

/** Tells the copy from its source, and a fork of a fork from both. */
function forkTitle(title: string): string {
  if (title === "") return title;
  const [, name = title, mark, count = "1"] = /^(.*?)( \(fork(?: (\d{1,4}))?\))?$/s.exec(title) ?? [];
  const end = mark === undefined ? " (fork)" : ` (fork ${Number(count) + 1})`;
  return `${name.slice(0, limits.titleChars - end.length).toWellFormed()}${end}`;
}

async function gather(call: Call, from: Block): Promise<Copy[] | Problem> {
  const path = await pathOf(call.kernel, from.conversation, from.id);
  if (isProblem(path)) return path;
  const isOwner = call.caller.role === "owner";
  const max_blocks = isOwner ? limits.forkedBlocks : limits.guestForkedBlocks;
  const max_chars = isOwner ? limits.blockTextChars : limits.guestForkedChars;
  const blocks = path.length;
  const chars = path.reduce((sum, source) => sum + source.chars, 0);
  if (blocks > max_blocks || chars > max_chars)
    return problem(
      "too_large",
      `the path has ${blocks} blocks with ${chars} characters; a fork copies at most ${max_blocks} with ${max_chars}`,
      { blocks, chars, max_blocks, max_chars },
    );
  const copies: Copy[] = [];
  for (const source of path) {
    const whole = await call.kernel.whole(source.id);
    if (isProblem(whole)) return whole;
    copies.push({ source: { ...whole, pruned: source.pruned }, text: whole.text });
  }
  return copies;
}

/** A copy of what is not finished is finished: nothing will ever write to it again. */
function copyOf(
  { source, text }: Copy,
  by: AgentId,
  ids: ReadonlyMap<BlockId, BlockId>,
  last: BlockId | null,
): NewBlock {
  const ended = isEnded(source.status);
  const { signature, author = source.agent, ...rest } = source.metadata;
  // A signature is of the words that were signed: it does not go with words that somebody edited.
  const isSigned = signature !== undefined && !source.promoted;
  const metadata: JsonObject = {
    ...rest,
    ...expiredAsk(source.metadata), // nobody asks in the copy
    ...(isSigned ? { signature } : {}),
    includes: source.id,
    ...(author === by ? {} : { author }),
    ...(ended ? {} : { reason: "interrupted" }),
  };
  const copy = copiedKind(source.kind, metadata);
  const parent = source.side && source.parent !== null ? (ids.get(source.parent) ?? last) : last;
  const { role, side } = source;
  return { ...copy, role, parent, side, status: ended ? source.status : "error", text };
}
