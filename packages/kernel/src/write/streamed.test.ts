/** The fast path of a streamed piece against the normal one: both make the same commit. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { type Block, blockOf, type LooseBlock } from "../model/block.ts";
import { newConversation } from "../model/conversation.ts";
import { KINDS, STATUSES } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import type { Commit, CommitAnswer } from "../ports/store.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Draft } from "./draft.ts";
import type { DraftBase } from "./draft-base.ts";
import { Kernel } from "./kernel.ts";
import { commitOf, isPlain } from "./streamed.ts";

const record = { ...newConversation("c", "ann", 1), seq: 6, blocks: 2, head: "c/ann/5" };

const blocks = fc
  .record<LooseBlock>({
    id: fc.constant("c/bot/2"),
    conversation: fc.constant("c"),
    agent: fc.constant("bot"),
    kind: fc.constantFrom(...KINDS),
    role: fc.constant("model"),
    status: fc.constantFrom(...STATUSES),
    parent: fc.constant(null),
    side: fc.boolean(),
    version: fc.integer({ min: 1, max: 9 }),
    seq: fc.constant(6),
    born: fc.constant(2),
    createdAt: fc.constant(1),
    updatedAt: fc.constant(2),
    chars: fc.constantFrom(0, 7, limits.blockTextChars - 2),
    newlines: fc.integer({ min: 0, max: 3 }),
    pruned: fc.boolean(),
    promoted: fc.boolean(),
    metadata: fc.constantFrom({}, { stage: "start" }, { stage: "running" }),
  })
  .map(blockOf);

const texts = fc.oneof(
  fc.constantFrom("", "\0", "\ud800", "a\udc00b", "\n", "é\n\n", "\u{1f600}"),
  fc.string({ maxLength: 6 }),
);

it("[K35] the fast path makes the commit that a draft makes", () => {
  const seen = { short: 0, long: 0 };
  fc.assert(
    fc.property(
      blocks,
      texts,
      fc.constantFrom("bot", "ann"),
      fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      (block, text, agent, unit) => {
        const piece = { block: block.id, text, agent, refused: undefined };
        if (!isPlain(piece, block)) {
          seen.long++;
          return;
        }
        seen.short++;
        const base: DraftBase = {
          conversation: "c",
          record,
          block: () => block,
          text: () => undefined,
          turn: () => undefined,
          isFresh: () => true,
          openUnit: () => unit,
        };
        const draft = new Draft(base);
        const after = draft.plan(agent, 9, { plan: (it) => it.append(block.id, text) });
        const commit = commitOf(piece, block, record, unit, 9);
        expect(isProblem(after)).toBe(false);
        expect(commit).toEqual({
          conversation: "c",
          expectedSeq: 6,
          ops: draft.ops,
          blocks: draft.changedBlocks,
          record: draft.record,
          turns: [],
          answers: [],
        });
        // The fields are in the same order too: objects of another shape would make everything behind them slower.
        expect(JSON.stringify(commit.ops)).toBe(JSON.stringify(draft.ops));
        expect(JSON.stringify(commit.blocks)).toBe(JSON.stringify(draft.changedBlocks));
      },
    ),
    { numRuns: 3_000 },
  );
  expect(Math.min(seen.short, seen.long)).toBeGreaterThan(100);
});

it("[K35] a piece after a refused one, and one into another's or an ended block, does not take the fast path", () => {
  const [block] = fc.sample(blocks, 1);
  const plain: Block = { ...(block as Block), status: "running", promoted: false, chars: 0 };
  const piece = { block: plain.id, text: "x", agent: "bot", refused: undefined };
  expect(isPlain(piece, plain)).toBe(true);
  expect(isPlain({ ...piece, refused: problem("busy", "later") }, plain)).toBe(false);
  expect(isPlain({ ...piece, agent: "ann" }, plain)).toBe(false);
  for (const status of ["done", "error"] as const) expect(isPlain(piece, { ...plain, status })).toBe(false);
  expect(isPlain(piece, { ...plain, promoted: true })).toBe(false);
});

/** Gives one promise to all that were committed together, as SQLite's does. */
class GroupStore extends MemoryStore {
  #group: Promise<CommitAnswer> | undefined;
  fails: Error | undefined;
  size = 0;

  override commit(commit: Commit): Promise<CommitAnswer> {
    this.size++;
    const taken = this.fails ? undefined : super.commit(commit);
    this.#group ??= Promise.resolve().then(async (): Promise<CommitAnswer> => {
      this.#group = undefined;
      if (this.fails) throw this.fails;
      await taken;
      return { type: "committed" };
    });
    return this.#group;
  }
}

it("[K35] all who wait for one promise of the store are answered, each for itself, also when it fails", async () => {
  const env = new VirtualEnv(3);
  const store = new GroupStore("epoch");
  const kernel = new Kernel(env, store);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const conversation = (await kernel.createConversation("bot", "")) as string;
    const block = await kernel.write(conversation, {
      agent: "bot",
      plan: (draft) => draft.create({ kind: "text", role: "model" }),
    });
    ids.push((block as Block).id);
  }
  const drained = (text: string) =>
    Promise.all(
      ids.map((id) => {
        void kernel.append(id, "bot", text);
        return kernel.drain(id, "bot");
      }),
    );
  store.size = 0;
  expect(await drained("one\n")).toEqual([2, 2, 2, 2, 2]);
  expect(store.size).toBe(5);
  store.fails = new Error("no space");
  expect(await drained("two\n")).toEqual(ids.map(() => expect.objectContaining({ problem: "storage" })));
  store.fails = undefined;
  await env.advance(2_000);
  expect(await Promise.all(ids.map((id) => store.text(id)))).toEqual(ids.map(() => "one\ntwo\n"));
});
