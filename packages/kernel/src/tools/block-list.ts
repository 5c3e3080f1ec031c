/** block.list: blocks with a one-line summary, below a parent to a depth, or flat over a conversation or everything. */

import { z } from "zod";
import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { BlockQuery } from "../ports/store.ts";
import { fitsQuery, newestBlockFirst } from "../ports/store-rules.ts";
import type { Kernel } from "../write/kernel.ts";
import { blockIdField, conversationField, kindField, rowsField, statusField, tool } from "./tool.ts";
import { blockSchema } from "./view.ts";

/** Blocks examined below one parent. */
const MOST_BELOW = limits.listRows * 10;
/** Blocks that are passed over to read on in a list of everything. */
const MOST_PASSED = limits.listRows * 10;

const input = z.strictObject({
  parent_id: blockIdField.optional().describe("Only blocks below this one, down to depth"),
  conversation: conversationField.optional(),
  kind: kindField.optional(),
  status: statusField.optional(),
  path_prefix: z
    .string()
    .max(limits.pathChars)
    .optional()
    .describe("Only file blocks whose path starts with this"),
  depth: z
    .number()
    .int()
    .min(1)
    .max(limits.listDepth)
    .default(1)
    .describe("How many levels below parent_id; without parent_id all levels are listed"),
  after: blockIdField.optional().describe("Only blocks created after this one: for the next page"),
  limit: rowsField(limits.listRows, 200),
});

export const rowSchema = blockSchema
  .pick({
    block_id: true,
    parent_id: true,
    agent: true,
    role: true,
    kind: true,
    status: true,
    side: true,
    pruned: true,
    version: true,
    chars: true,
  })
  .extend({
    path: z.string().optional(),
    turn: z.string().optional(),
    summary: z.string(),
    dirty: z.boolean().describe("The text is newer than the file on disk"),
  });

export const blockList = tool({
  name: "block.list",
  description:
    "List blocks, oldest first, with a summary of each (its first line, or its size). With parent_id: what is below it, " +
    "down to depth (default 1). Otherwise: every block of the conversation, or of all, that matches kind, status and path_prefix. " +
    "more means there are further ones; get the next page with after.",
  input,
  output: z.object({ blocks: z.array(rowSchema), more: z.boolean() }),
  access: "read",
  async run(call, given) {
    const { kernel } = call;
    const wanted = await queryOf(kernel, given);
    if (isProblem(wanted)) return wanted;
    const query = { ...wanted.query, order: "first" as const, limit: given.limit + 1 };
    const found =
      given.parent_id !== undefined
        ? await below(kernel, given.parent_id, given.depth, query)
        : wanted.last === undefined
          ? await kernel.blocks(query)
          : await everywhereAfter(kernel, wanted.last, query);
    if (isProblem(found)) return found;
    const rows: z.infer<typeof rowSchema>[] = [];
    for (const block of found.slice(0, given.limit)) rows.push(await rowOf(kernel, block));
    return { blocks: rows, more: found.length > given.limit };
  },
});

async function queryOf(
  kernel: Kernel,
  given: z.infer<typeof input>,
): Promise<{ readonly query: Omit<BlockQuery, "order" | "limit">; readonly last?: Block } | Problem> {
  const { conversation, parent_id, kind, status, path_prefix, after } = given;
  if (conversation !== undefined) {
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
  }
  const last = after === undefined ? undefined : await kernel.block(after);
  if (isProblem(last)) return last;
  if (last && conversation !== undefined && last.conversation !== conversation) {
    return problem("invalid", `after: ${after} is not in conversation ${conversation}`, { conversation });
  }
  const isEverywhere = conversation === undefined && parent_id === undefined;
  const within = conversation ?? (isEverywhere ? undefined : last?.conversation);
  const query = {
    ...(within === undefined ? {} : { conversation: within }),
    ...(kind === undefined ? {} : { kinds: [kind] }),
    ...(status === undefined ? {} : { status }),
    ...(path_prefix === undefined ? {} : { pathPrefix: path_prefix }),
    ...(last === undefined || isEverywhere ? {} : { after: last.born }),
  };
  return { query, ...(last !== undefined && isEverywhere ? { last } : {}) };
}

/**
 * Creation order only counts inside one conversation; across all of them a page continues after a block by skipping
 * those before it.
 */
async function everywhereAfter(
  kernel: Kernel,
  last: Block,
  query: BlockQuery,
): Promise<readonly Block[] | Problem> {
  for (let limit = query.limit * 4; ; limit *= 4) {
    const most = Math.min(limit, MOST_PASSED);
    const found = await kernel.blocks({ ...query, limit: most });
    if (isProblem(found)) return found;
    const rest = found.filter((block) => newestBlockFirst(block, last) < 0);
    if (rest.length >= query.limit || found.length < most) return rest.slice(0, query.limit);
    if (most === MOST_PASSED) return tooFar();
  }
}

function tooFar(): Problem {
  return problem(
    "too_large",
    `more than ${MOST_PASSED} blocks come before these; list by conversation, or filter by kind, status or path_prefix`,
    { max_blocks: MOST_PASSED },
  );
}

/** Level by level; a block that does not fit is not listed, but those below it may be. */
async function below(
  kernel: Kernel,
  parent: BlockId,
  depth: number,
  query: BlockQuery,
): Promise<readonly Block[] | Problem> {
  const top = await kernel.block(parent);
  if (isProblem(top)) return top;
  const found: Block[] = [];
  let level: BlockId[] = [parent];
  let seen = 0;
  for (let down = 0; down < depth && level.length > 0; down++) {
    const next: BlockId[] = [];
    for (const id of level) {
      const children = await kernel.blocks({ parent: id, order: "first", limit: MOST_BELOW + 1 });
      if (isProblem(children)) return children;
      seen += children.length;
      if (seen > MOST_BELOW) return tooMany(parent);
      for (const block of children) {
        next.push(block.id);
        if (fitsQuery(block, query)) found.push(block);
      }
    }
    level = next;
  }
  return found.sort((a, b) => a.born - b.born).slice(0, query.limit);
}

function tooMany(parent: BlockId): Problem {
  return problem(
    "too_large",
    `more than ${MOST_BELOW} blocks below ${parent}; list fewer levels, or by conversation`,
    {
      parent_id: parent,
      max_blocks: MOST_BELOW,
    },
  );
}

export async function rowOf(kernel: Kernel, block: Block): Promise<z.infer<typeof rowSchema>> {
  const { id, parent, agent, role, kind, status, side, pruned, version, chars, metadata } = block;
  const { path, turn } = metadata;
  return {
    block_id: id,
    parent_id: parent,
    agent,
    role,
    kind,
    status,
    side,
    pruned,
    version,
    chars,
    ...(typeof path === "string" ? { path } : {}),
    ...(typeof turn === "string" ? { turn } : {}),
    summary: await summaryOf(kernel, block),
    dirty: isDirty(block),
  };
}

function isDirty({ kind, version, metadata }: Block): boolean {
  const persisted = metadata.persistedVersion;
  return kind === "file" && version > (typeof persisted === "number" ? persisted : 0);
}

/** The first line that says something, or the size of a text too large to be loaded for it. */
async function summaryOf(kernel: Kernel, { id, chars, newlines }: Block): Promise<string> {
  if (chars === 0) return "";
  if (chars > limits.summarizedChars) return `(${newlines} newlines, ${chars} characters)`;
  const read = await kernel.read(id);
  if (isProblem(read)) return `(${newlines} newlines, ${chars} characters)`;
  const head = read.text.slice(0, Math.min(read.text.length, limits.summaryChars * 8));
  const line = head.replace(/\s+/g, " ").trim();
  const cut = [...line].slice(0, limits.summaryChars).join("");
  return (cut.length < line.length || chars > head.length ? `${cut}…` : cut).toWellFormed();
}
