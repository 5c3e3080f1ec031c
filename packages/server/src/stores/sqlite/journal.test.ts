/** The journal's short entries, read back from their bytes: also those that this version no longer writes. */

import type { Block, BlockId, Commit, Conversation, ConversationId } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ByteWriter } from "../encoding/bytes.ts";
import { type Before, isStreamed, readEntries, type StreamedEntry, writeStreams } from "./journal.ts";

/** The records before the next entry. */
class Records implements Before {
  readonly #conversations = new Map<ConversationId, Conversation>();
  readonly #blocks = new Map<BlockId, Block>();

  conversation(id: ConversationId): Conversation | undefined {
    return this.#conversations.get(id);
  }

  block(id: BlockId): Block | undefined {
    return this.#blocks.get(id);
  }

  take({ record, blocks }: Commit): void {
    this.#conversations.set(record.id, record);
    for (const block of blocks) this.#blocks.set(block.id, block);
  }
}

/** Two conversations with two blocks each, known to both ends, and appends to them in the order of `steps`. */
function streams(steps: readonly { to: number; text: string; pause: boolean }[]) {
  const [written, read] = [new Records(), new Records()];
  const scripts = [new StoreScript("c"), new StoreScript("d\u00e9")];
  const blocks = scripts.flatMap((script) => {
    const ids = [script.create({ status: "running" }), script.create({ status: "running", agent: "bob" })];
    const commit = script.take();
    written.take(commit);
    read.take(commit);
    return ids.map((id) => ({ script, id }));
  });
  const entries: StreamedEntry[] = [];
  for (const { to, text, pause } of steps) {
    const { script, id } = blocks[to] as (typeof blocks)[number];
    for (const each of scripts) if (pause) each.now += 1_000;
    script.append(id, text, 2);
    const commit = script.take();
    const older = written.block(id) as Block;
    expect(isStreamed(commit, written.conversation(script.id) as Conversation, older)).toBe(true);
    entries.push({ commit, newlines: script.block(id).newlines - older.newlines });
    written.take(commit);
  }
  return { entries, read };
}

function readAll(bytes: Uint8Array, before: Records): Commit[] {
  const commits: Commit[] = [];
  const commit = (each: Commit) => {
    before.take(each);
    commits.push(each);
  };
  readEntries(bytes, before, { commit, raw: () => expect.unreachable() });
  return commits;
}

const steps = fc.array(
  fc.record({
    to: fc.integer({ min: 0, max: 3 }),
    text: fc.oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.constantFrom("\n", "\u{1f600}\n\n", "\u00e9".repeat(200)),
    ),
    pause: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

it("[S5] appends of several streams come back from one entry unchanged", () => {
  fc.assert(
    fc.property(steps, fc.nat(3), (given, skipped) => {
      const { entries, read } = streams(given);
      const from = Math.min(skipped, entries.length - 1);
      for (const { commit } of entries.slice(0, from)) read.take(commit);
      const writer = new ByteWriter(16);
      writeStreams(writer, entries, from);
      const wanted = entries.slice(from).map(({ commit }) => commit);
      expect(readAll(writer.view(), read)).toEqual(wanted);
    }),
    { numRuns: 300 },
  );
});

it("[S5] appends that an earlier version has written come back too", () => {
  const { entries, read } = streams([
    { to: 0, text: "one\n", pause: false },
    { to: 3, text: "zw\u00f6lf", pause: true },
    { to: 0, text: "two\n\n", pause: false },
  ]);
  const writer = new ByteWriter(16);
  for (const { commit, newlines } of entries) {
    const [op] = commit.ops;
    if (op?.body.type !== "append") throw new Error("an append");
    writer.varint(3);
    writer.string(op.block as string);
    writer.varint(op.seq);
    writer.varint(op.version - op.unit);
    writer.number(op.at);
    writer.varint(newlines);
    writer.string(op.body.text);
  }
  expect(readAll(writer.view(), read)).toEqual(entries.map(({ commit }) => commit));
});

it("[S25] an entry whose strings are too short for its numbers, or whose block is not there, is refused", () => {
  const { entries, read } = streams([{ to: 1, text: "words", pause: false }]);
  const writer = new ByteWriter();
  writeStreams(writer, entries, 0);
  const bytes = writer.copy();
  expect(() => readAll(bytes, new Records())).toThrow(/not there/);
  // The third byte is the number of units of the block id, the fourth that of the text.
  bytes[3] = (bytes[3] as number) + 1;
  expect(() => readAll(bytes, read)).toThrow(/end early/);
});
