/**
 * block.sync: catch up, once. Returns patches for the blocks and versions that the caller names, and snapshots of new
 * ones; with `wait_ms` a long poll, for callers that cannot hold a stream open.
 */

import { z } from "zod";
import type { Change } from "../model/change.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { type BlockPatch, patchSchema, patchSince, type WholePatch, wholeSchema } from "./block-patch.ts";
import type { Answer } from "./calls.ts";
import { followAll } from "./follow.ts";
import { blockIdField, type Call, conversationField, tool, versionField } from "./tool.ts";
import { snapshotView } from "./view.ts";

export const versionsField = z
  .array(
    z.strictObject({
      block_id: blockIdField,
      version: versionField.describe("The version you have; 0 for none"),
    }),
  )
  .max(limits.syncBlocks);

const input = z.strictObject({
  versions: versionsField.default([]),
  conversation: conversationField
    .optional()
    .describe("Also return blocks of this conversation that you do not have"),
  since_seq: versionField
    .default(0)
    .describe("With conversation: seq of the last answer; only blocks created after it"),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(limits.syncWaitMs)
    .default(0)
    .describe("If nothing changed yet, wait this long"),
});

const output = z.object({
  patches: z.array(patchSchema),
  new_blocks: z
    .array(wholeSchema)
    .describe("Whole blocks: new ones, and those whose version is too old for a patch"),
  seq: z.number().int().optional().describe("With conversation: pass it as since_seq next time"),
  more: z.boolean().describe("The answer was full: call again"),
});

type Input = z.infer<typeof input>;
type Output = Answer<typeof output>;

export const blockSync = tool({
  name: "block.sync",
  description:
    "Catch up with blocks: returns for each block_id and your version the splices since (or the whole block). With " +
    "conversation, also blocks created after since_seq. With wait_ms it waits for the first change. Call again with the " +
    "new versions and seq to continue.",
  input,
  output,
  access: "read",
  async run(call, given): Promise<Output | Problem> {
    if (given.versions.length === 0 && given.conversation === undefined) {
      return problem("invalid", "pass versions, conversation, or both", {
        valid_fields: Object.keys(input.shape),
      });
    }
    const blocks = given.versions.map(({ block_id }) => block_id);
    const unfollow =
      given.wait_ms === 0 ? undefined : await followAll(call.kernel, blocks, given.conversation);
    const wait = new Wait(call, given);
    try {
      for (;;) {
        const answer = await collect(call, given);
        if (isProblem(answer) || answer.patches.length > 0 || answer.new_blocks.length > 0) return answer;
        if (!(await wait.change())) return answer;
      }
    } finally {
      wait.stop();
      unfollow?.();
    }
  },
});

async function collect({ kernel }: Call, given: Input): Promise<Output | Problem> {
  const answer: { patches: BlockPatch[]; new_blocks: WholePatch[]; more: boolean } = {
    ...{ patches: [], new_blocks: [], more: false },
  };
  let chars = 0;
  const add = (item: BlockPatch | WholePatch): void => {
    if (item.type === "patch") {
      answer.patches.push(item);
      for (const { insert } of item.splices) chars += insert.length;
    } else {
      answer.new_blocks.push(item);
      chars += item.content.length;
    }
  };
  for (const { block_id, version } of given.versions) {
    const item = await patchSince(kernel, block_id, version);
    if (isProblem(item)) return item;
    if (item === undefined) continue;
    if (chars >= limits.frameChars) {
      answer.more = true;
      break;
    }
    add(item);
  }
  if (given.conversation === undefined) return answer;
  const record = await kernel.conversation(given.conversation);
  if (isProblem(record)) return record;
  // A cursor from the future belongs to another life of this store: everything is new.
  const since = given.since_seq > record.seq ? 0 : given.since_seq;
  const found = await kernel.blocks({
    conversation: given.conversation,
    after: since,
    order: "first",
    limit: limits.syncBlocks + 1,
  });
  if (isProblem(found)) return found;
  const known = new Set<BlockId>(given.versions.map(({ block_id }) => block_id));
  let { seq } = record;
  for (const [i, { id, born }] of found.entries()) {
    if (i === limits.syncBlocks || chars >= limits.frameChars) {
      answer.more = true;
      seq = born - 1;
      break;
    }
    if (known.has(id)) continue;
    const whole = await kernel.whole(id);
    if (isProblem(whole)) return whole;
    add({ type: "snapshot", ...snapshotView(whole) });
  }
  return { ...answer, seq };
}

/** Listens from the beginning, so that no change falls between looking and waiting. */
class Wait {
  readonly #stops: (() => void)[] = [];
  #changed = false;
  #over: boolean;
  #wake: (() => void) | undefined;

  constructor({ kernel, signal }: Call, { versions, conversation, wait_ms }: Input) {
    this.#over = wait_ms === 0;
    if (this.#over) return;
    const blocks = new Set<BlockId>(versions.map(({ block_id }) => block_id));
    const concerns = (change: Change) =>
      change.blocks.some(({ id }) => blocks.has(id) || change.conversation === conversation);
    this.#stops.push(kernel.listen((change) => concerns(change) && this.#set("changed")));
    const end = () => this.#set("over");
    this.#stops.push(kernel.env.after(wait_ms, end));
    signal?.addEventListener("abort", end);
    this.#stops.push(() => signal?.removeEventListener("abort", end));
    if (signal?.aborted) this.#over = true;
  }

  /** Whether something changed before the time was over. */
  async change(): Promise<boolean> {
    if (!this.#changed && !this.#over) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #set(what: "changed" | "over"): void {
    if (what === "changed") this.#changed = true;
    else this.#over = true;
    this.#wake?.();
  }
}
