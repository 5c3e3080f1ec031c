/** kernel.search: a pattern in all blocks, narrowed by the store's index. */

import { z } from "zod";
import type { Kind } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { SearchPlace } from "../ports/store.ts";
import { matchSchema, matchView, patternFields } from "./block-search.ts";
import { conversationField, kindField, rowsField, tool } from "./tool.ts";

const input = z.strictObject({
  ...patternFields,
  kinds: z
    .union([z.literal("all"), z.array(kindField).min(1)])
    .default(["file"])
    .describe('Kinds of blocks to search, or "all"'),
  path_prefix: z
    .string()
    .max(limits.pathChars)
    .optional()
    .describe("Only file blocks whose path starts with this"),
  conversation: conversationField.optional().describe("Only blocks of this conversation"),
  after: z
    .string()
    .max(160)
    .optional()
    .describe("For the next page: next of the previous result, same query"),
  max_matches_per_block: rowsField(limits.searchMatches, 10),
  max_blocks: rowsField(limits.searchBlocks, 50),
});

export const kernelSearch = tool({
  name: "kernel.search",
  description:
    "Find a regular expression (or literal text) across blocks; by default in files that someone has opened (others " +
    'are no blocks yet), with kinds: "all" everywhere. Newest blocks first, with line numbers (0-based) and ' +
    "block ids that the other tools accept. No match returns an empty list. If the result has next, pass it as after for the next page.",
  input,
  output: z.object({
    blocks: z.array(
      z.object({
        block_id: z.string(),
        conversation: z.string(),
        kind: kindField,
        path: z.string().optional(),
        version: z.number().int(),
        matches: z.array(matchSchema),
        more: z.boolean().describe("More matches in this block"),
      }),
    ),
    more: z.boolean().describe("The search is incomplete: a limit on blocks or time was reached"),
    next: z.string().optional().describe("Where the next page starts: pass it as after"),
    indexing: z
      .object({ indexed: z.number().int(), total: z.number().int() })
      .optional()
      .describe("The search index is being built: conversations in it, and all. Older blocks may be missing"),
    hint: z.string().optional().describe("What else to try when nothing was found"),
  }),
  access: "read",
  async run(call, given) {
    // A mistyped id must not look like a search that found nothing.
    const record =
      given.conversation === undefined ? undefined : await call.kernel.conversation(given.conversation);
    if (isProblem(record)) return record;
    const after = given.after === undefined ? undefined : readPlace(given.after);
    if (isProblem(after)) return after;
    const kinds: readonly Kind[] | undefined = given.kinds === "all" ? undefined : given.kinds;
    const answer = await call.kernel.search({
      isOwners: call.caller.role === "owner",
      pattern: given.query,
      literal: given.literal,
      ignoreCase: given.ignore_case,
      ...(given.conversation === undefined ? {} : { conversation: given.conversation }),
      ...(kinds === undefined ? {} : { kinds }),
      ...(given.path_prefix === undefined ? {} : { pathPrefix: given.path_prefix }),
      ...(after === undefined ? {} : { after }),
      contextLines: given.context_lines,
      maxMatchesPerBlock: given.max_matches_per_block,
      maxBlocks: given.max_blocks,
      deadlineMs: limits.searchDeadlineMs,
    });
    if (isProblem(answer)) return answer;
    const blocks = answer.hits.map(({ block, matches, more }) => ({
      block_id: block.id,
      conversation: block.conversation,
      kind: block.kind,
      ...(typeof block.metadata.path === "string" ? { path: block.metadata.path } : {}),
      version: block.version,
      matches: matches.map(matchView),
      more,
    }));
    return {
      blocks,
      more: answer.more,
      ...(answer.next === undefined ? {} : { next: writePlace(answer.next) }),
      ...(answer.indexing === undefined ? {} : { indexing: answer.indexing }),
      ...(blocks.length === 0 && kinds?.join() === "file" ? { hint: FILES_ONLY } : {}),
    };
  },
});

const FILES_ONLY = 'Only files that someone has opened were searched; kinds: "all" searches every block';

/** `createdAt:born:conversation`, in one word. */
function writePlace({ createdAt, born, conversation }: SearchPlace): string {
  return `${createdAt}:${born}:${conversation}`;
}

function readPlace(text: string): SearchPlace | Problem {
  const [, createdAt, born, conversation] = /^(-?\d+(?:\.\d+)?):(\d{1,15}):(.+)$/su.exec(text) ?? [];
  if (conversation === undefined)
    return problem("invalid", "after must be the next of an earlier result of the same query", {
      after: text,
    });
  return { createdAt: Number(createdAt), born: Number(born), conversation };
}
