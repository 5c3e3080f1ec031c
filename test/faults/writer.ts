/**
 * A process to be killed: it writes to a database through the kernel, as fast as it can, and says on standard output
 * what was acknowledged, as one JSON line per commit. Whoever started it ends it, or the disk does.
 */
import { writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import {
  type BlockId,
  type ConversationId,
  isProblem,
  Kernel,
  StoreError,
  splicesOf,
} from "@blockyard/kernel";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { Random } from "../sim/random.ts";

export interface WriterConfig {
  readonly path: string;
  readonly seed: number;
  readonly durability?: "full" | "normal";
  readonly streams: number;
  /** Ends after this many writes of each stream, and closes; without it, goes on for ever. */
  readonly writes?: number;
}

/** A block as it was acknowledged: its text at that version is known by its length and its checksum. */
export interface AckedBlock {
  readonly id: BlockId;
  readonly version: number;
  readonly chars: number;
  readonly sum: number;
}

export type WriterLine =
  | { readonly type: "open"; readonly ms: number }
  | {
      readonly type: "ack";
      readonly conversation: ConversationId;
      readonly seq: number;
      readonly blocks: AckedBlock[];
    }
  | {
      readonly type: "key";
      readonly conversation: ConversationId;
      readonly key: string;
      readonly answer: string;
    }
  | { readonly type: "raw"; readonly conversation: ConversationId; readonly bytes: number }
  /** `reads`: whether everything that was acknowledged could still be read then. */
  | { readonly type: "refused"; readonly problem: string; readonly message: string; readonly reads: boolean }
  | { readonly type: "done" };

/** Raw bytes are numbered, so that any part of them can be checked. */
export function rawByte(at: number): number {
  return (at * 31 + (at >> 8)) % 251;
}

const nap = new Int32Array(new SharedArrayBuffer(4));

if (import.meta.main) await main(JSON.parse(process.argv[2] as string) as WriterConfig);

async function main(config: WriterConfig): Promise<void> {
  const startMs = performance.now();
  const { durability } = config;
  const store = await openSqliteStore(config.path, durability === undefined ? {} : { durability });
  say({ type: "open", ms: performance.now() - startMs });
  const kernel = new Kernel(nodeEnv, store);
  const texts = acknowledge(kernel);
  const reads = () => canRead(kernel, texts);
  const random = new Random(config.seed);
  const streams = Array.from({ length: config.streams }, () =>
    stream(kernel, new Random(random.below(2 ** 31)), config, reads),
  );
  await Promise.all(streams);
  await kernel.close();
  await store.close();
  say({ type: "done" });
}

/** Says what the kernel tells its listeners, which is what was committed. */
function acknowledge(kernel: Kernel): ReadonlyMap<BlockId, string> {
  const texts = new Map<BlockId, string>();
  kernel.listen(({ conversation, record, ops, blocks }) => {
    for (const op of ops) {
      if (op.block === null) continue;
      let text = texts.get(op.block) ?? "";
      for (const { at, del, ins } of splicesOf(op))
        text = text.slice(0, at) + ins + text.slice(at + del.length);
      texts.set(op.block, text);
    }
    const acked = blocks.map(({ id, version }) => {
      const text = texts.get(id) ?? "";
      return { id, version, chars: text.length, sum: crc32(text) };
    });
    say({ type: "ack", conversation, seq: record.seq, blocks: acked });
  });
  return texts;
}

/** Whether the last texts can be read. A commit that is not told yet may be ahead of us: then look again. */
async function canRead(kernel: Kernel, texts: ReadonlyMap<BlockId, string>): Promise<boolean> {
  for (const id of [...texts.keys()].slice(-20)) {
    let tries = 20;
    while ((await kernel.store.text(id)) !== texts.get(id)) {
      if (--tries === 0) return false;
      await new Promise((resume) => setImmediate(resume));
    }
  }
  return true;
}

/** One conversation: blocks that are streamed, edited by a person, ended; keys; raw bytes. */
async function stream(
  kernel: Kernel,
  random: Random,
  { writes = Number.POSITIVE_INFINITY }: WriterConfig,
  reads: () => Promise<boolean>,
): Promise<void> {
  const conversation = await insist(reads, () => kernel.createConversation("ada", random.text(3)));
  let block = "";
  let rawBytes = 0;
  for (let n = 0; n < writes; n++) {
    const kind =
      block === "" ? "create" : random.weighted({ create: 4, append: 70, edit: 8, end: 6, large: 3, raw: 9 });
    if (kind === "create" || kind === "end") {
      const before = block;
      const key = `key-${n}`;
      block = await insist(reads, () =>
        kernel.write(conversation, {
          agent: "model",
          key,
          plan: (draft) => {
            if (before !== "") draft.status(before, "done");
            const made = draft.create({ kind: "text", role: "model", text: random.text(5) });
            return isProblem(made) ? made : made.id;
          },
        }),
      );
      say({ type: "key", conversation, key, answer: block });
    } else if (kind === "raw") {
      const from = rawBytes;
      const bytes = Uint8Array.from({ length: random.below(2_000) }, (_, i) => rawByte(from + i));
      if (await kept(() => kernel.store.appendRaw({ conversation, run: "turn" }, bytes))) {
        rawBytes += bytes.length;
        say({ type: "raw", conversation, bytes: rawBytes });
      } else return; // whether the bytes are there is not known: nothing after them can be checked
    } else {
      const id = block;
      const words = kind === "large" ? random.between(2_000, 20_000) : random.between(1, 40);
      const text = random.text(words);
      await insist(reads, () =>
        kernel.write(conversation, {
          agent: kind === "edit" ? "ada" : "model",
          plan: (draft) => {
            if (kind !== "edit") return settled(draft.append(id, text));
            const length = draft.text(id).length;
            const at = Math.min(length, random.below(length + 1) === 0 ? 0 : length);
            return settled(draft.splice(id, [{ at, del: "", ins: text }]));
          },
        }),
      );
    }
  }
}

function settled(answer: unknown): true | Parameters<typeof isProblem>[0] {
  return isProblem(answer) ? answer : true;
}

/** Asks again as long as the store refuses, or does not know whether it has written, and says so. */
async function insist<T>(
  reads: () => Promise<boolean>,
  ask: () => Promise<T>,
): Promise<Exclude<T, { readonly problem: unknown }>> {
  for (;;) {
    const answer = await ask();
    if (!isProblem(answer)) return answer as Exclude<T, { readonly problem: unknown }>;
    say({ type: "refused", problem: answer.problem, message: answer.message, reads: await reads() });
    if (answer.problem !== "storage" && answer.problem !== "uncertain") throw new Error(answer.message);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

async function kept(ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    say({ type: "refused", problem: "storage", message: error.message, reads: true });
    return false;
  }
}

/** At once: what was said before a kill was said. */
function say(line: WriterLine): void {
  let bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
      Atomics.wait(nap, 0, 0, 1); // the reader is behind
    }
  }
}
