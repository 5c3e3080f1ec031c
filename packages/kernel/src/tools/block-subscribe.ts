/**
 * block.subscribe: an endless stream of patches. The queue of a slow reader is the set of changed blocks, nothing more;
 * a patch is made when it is taken, from the last version sent. So the queue is bounded, several changes of a block
 * become one patch, and nothing is lost or sent twice.
 */

import { z } from "zod";
import type { Change } from "../model/change.ts";
import { type BlockId, type ConversationId, conversationOf } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { deletedProblem } from "../write/deletions.ts";
import { type BlockPatch, patchSchema, patchSince, type WholePatch, wholeSchema } from "./block-patch.ts";
import { versionsField } from "./block-sync.ts";
import { followAll } from "./follow.ts";
import { blockIdField, type Call, conversationField, type Streamed, streamTool } from "./tool.ts";

const input = z.strictObject({
  block_ids: z
    .array(blockIdField)
    .max(limits.syncBlocks)
    .default([])
    .describe("Only these blocks; default: all"),
  conversation: conversationField.optional().describe("Only blocks of this conversation"),
  from_versions: versionsField.default([]).describe("Versions you have: later changes are sent first"),
});

type Input = z.infer<typeof input>;
type Item = BlockPatch | WholePatch;

export const blockSubscribe = streamTool({
  name: "block.subscribe",
  description:
    "Follow blocks as they change: those of block_ids, of a conversation, or all. Each item is a patch (splices in UTF-16 " +
    "units, applied one after the other) or a snapshot; the first item of a block whose version you did not give is a " +
    "snapshot. A slow reader gets fewer, larger patches.",
  input,
  output: z.discriminatedUnion("type", [patchSchema, wholeSchema]),
  access: "read",
  async run(call, given): Promise<Streamed<Item> | Problem> {
    const ids = new Set([...given.block_ids, ...given.from_versions.map(({ block_id }) => block_id)]);
    for (const id of ids) {
      const block = await call.kernel.block(id);
      if (isProblem(block)) return block;
    }
    if (given.conversation !== undefined) {
      const record = await call.kernel.conversation(given.conversation);
      if (isProblem(record)) return record;
    }
    const unfollow = await followAll(call.kernel, [...ids], given.conversation);
    return { stream: new Subscription(call, given, unfollow) };
  },
});

class Subscription implements AsyncIterable<Item>, AsyncIterator<Item> {
  readonly #call: Call;
  readonly #scope: Input;
  readonly #ids: ReadonlySet<BlockId>;
  /** The version of each block that was given last. */
  readonly #sent = new Map<BlockId, number>();
  readonly #changed = new Set<BlockId>();
  readonly #stopListening: () => void;
  readonly #unfollow: () => void;
  #wake: (() => void) | undefined;
  #isOver = false;
  /** Why it ended, if its reader has not. */
  #cut: Problem | undefined;

  constructor(call: Call, scope: Input, unfollow: () => void) {
    this.#call = call;
    this.#unfollow = unfollow;
    this.#scope = scope;
    this.#ids = new Set(scope.block_ids);
    for (const { block_id, version } of scope.from_versions) {
      this.#sent.set(block_id, version);
      this.#changed.add(block_id);
    }
    for (const id of scope.block_ids) this.#changed.add(id);
    this.#stopListening = call.kernel.listen((change) => this.#take(change));
    call.signal?.addEventListener("abort", this.#end);
    if (call.signal?.aborted) this.#end();
  }

  [Symbol.asyncIterator](): AsyncIterator<Item> {
    return this;
  }

  async next(): Promise<IteratorResult<Item>> {
    while (!this.#isOver) {
      const id = this.#changed.values().next().value;
      if (id === undefined) {
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
        continue;
      }
      this.#changed.delete(id);
      const item = await patchSince(this.#call.kernel, id, this.#sent.get(id) ?? 0);
      if (item === undefined) continue;
      if (isProblem(item)) {
        this.#end();
        throw new StreamProblem(item);
      }
      this.#remember(id, item.version);
      return { done: false, value: item };
    }
    if (this.#cut) throw new StreamProblem(this.#cut);
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Item>> {
    this.#end();
    return { done: true, value: undefined };
  }

  #take({ conversation, blocks, record: { deleted } }: Change): void {
    if (this.#scope.conversation !== undefined && conversation !== this.#scope.conversation) return;
    if (deleted && this.#isNamed(conversation)) {
      this.#cut = deletedProblem(conversation, deleted);
      return this.#end();
    }
    for (const { id } of blocks) if (this.#ids.size === 0 || this.#ids.has(id)) this.#changed.add(id);
    if (this.#changed.size > limits.loadedBlocks) {
      this.#cut = problem(
        "busy",
        `more than ${limits.loadedBlocks} changed blocks are waiting for the reader; subscribe again from your versions, or to fewer blocks`,
        { max_blocks: limits.loadedBlocks },
      );
      this.#end();
    }
    this.#wake?.();
  }

  /** Whether the reader has asked for this conversation, or for blocks of it. */
  #isNamed(conversation: ConversationId): boolean {
    return (
      this.#scope.conversation === conversation ||
      [...this.#ids].some((id) => conversationOf(id) === conversation)
    );
  }

  /** What is forgotten here is given as a snapshot when it changes again. */
  #remember(id: BlockId, version: number): void {
    this.#sent.delete(id);
    this.#sent.set(id, version);
    if (this.#sent.size <= limits.loadedBlocks) return;
    const oldest = this.#sent.keys().next().value;
    if (oldest !== undefined) this.#sent.delete(oldest);
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#stopListening();
    this.#unfollow();
    this.#call.signal?.removeEventListener("abort", this.#end);
    this.#wake?.();
  };
}

/** A stream can only end or throw: this is a problem that ended it. */
export class StreamProblem extends Error {
  override name = "StreamProblem";
  readonly problem: Problem;

  constructor(refused: Problem) {
    super(refused.message);
    this.problem = refused;
  }
}

/** The problem that ended a stream, whatever was thrown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof StreamProblem) return thrown.problem;
  return problem("unavailable", "internal error in the stream; subscribe again from your versions");
}
