/**
 * Does opening a conversation cost what is shown of it, or what it holds? A client subscribes to a conversation of 10,000
 * blocks, and to one of 100, through a connection of its own to a kernel that has just been opened, on a database that has
 * just been opened: until its window is there (the record, the last blocks, the texts near the end) and readable.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Connection,
  type ConversationId,
  isProblem,
  Kernel,
  limits,
  type Problem,
  Replica,
  type Store,
} from "@blockyard/kernel";
import { openSqliteStore } from "../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../packages/server/src/system/env.ts";
import { alternate, type Bench, type Comparison, elapsedMs } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";

const SEED = 20265;
const SMALL = 100;
const BIG = 10_000;
const TOKENS_PER_BLOCK = 200;
const PAIRS = 25;
const BLOCKS_PER_WRITE = 500;

export const bench: Bench = {
  name: "open",
  question: "How much more does opening a conversation of 10,000 blocks cost than one of 100?",
  targets: { bigConversationRatio: { max: 1.5 } },
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    const path = join(directory, "open.db");
    try {
      const { small, big } = await fill(path);
      const store = await openSqliteStore(path);
      const opened = await compare(store, small, big, limits.windowBlocks);
      await store.close();
      report.table([row(`the last ${limits.windowBlocks}`, opened)]);
      return { bigConversationRatio: opened.figure, openMs: opened.medianA };
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

async function fill(path: string): Promise<{ small: ConversationId; big: ConversationId }> {
  const store = await openSqliteStore(path);
  const kernel = new Kernel(nodeEnv, store);
  const big = await converse(kernel, BIG);
  const small = await converse(kernel, SMALL);
  await kernel.close();
  await store.close();
  return { small, big };
}

async function converse(kernel: Kernel, blocks: number): Promise<ConversationId> {
  const id = must(await kernel.createConversation("bench", `${blocks} blocks`));
  const source = tokens(seeded(SEED));
  const text = () => Array.from({ length: TOKENS_PER_BLOCK }, () => source.next().value as string).join("");
  for (let made = 0; made < blocks; made += BLOCKS_PER_WRITE) {
    const texts = Array.from({ length: Math.min(BLOCKS_PER_WRITE, blocks - made) }, text);
    const written = await kernel.write(id, {
      agent: "bench",
      plan: (draft) => {
        for (const each of texts) {
          const block = draft.create({ kind: "text", role: "model", status: "done", text: each });
          if (isProblem(block)) return block;
        }
        return { made: texts.length };
      },
    });
    must(written);
  }
  return id;
}

function compare(
  store: Store,
  small: ConversationId,
  big: ConversationId,
  window: number,
): Promise<Comparison> {
  return alternate(
    PAIRS,
    () => openMs(store, big, window),
    () => openMs(store, small, window),
  );
}

/** From nothing in memory to a window that can be read. */
async function openMs(store: Store, conversation: ConversationId, windowBlocks: number): Promise<number> {
  const kernel = new Kernel(nodeEnv, store);
  const replica = new Replica({ env: nodeEnv, windowBlocks });
  const view = replica.subscribe(conversation);
  let connection: Connection | undefined;
  const ms = await elapsedMs(
    () =>
      new Promise<void>((opened) => {
        connection = new Connection({
          kernel,
          agent: "bench",
          role: "viewer",
          // As over a socket: each frame becomes JSON once and is read once.
          pipe: {
            send: (frame) => replica.receive(JSON.parse(JSON.stringify(frame))),
            buffered: () => 0,
            close: () => {},
          },
          call: () => Promise.resolve(null),
        });
        replica.listen(() => {
          if (view.isOpen) opened();
        });
        replica.connected((frame) => connection?.receive(JSON.parse(JSON.stringify(frame))));
      }),
  );
  const shown = view.order.filter((id) => (view.texts.get(id)?.length ?? 0) > 0);
  if (shown.length < Math.min(windowBlocks, SMALL)) throw new Error(`only ${shown.length} texts are shown`);
  connection?.close();
  return ms;
}

function row(
  window: string,
  { medianA, medianB, ratio, spread }: Comparison,
): Record<string, string | number> {
  return {
    window,
    "10,000 blocks ms": Number(medianA.toFixed(2)),
    "100 blocks ms": Number(medianB.toFixed(2)),
    ratio: Number(ratio.toFixed(2)),
    spread: Number(spread.toFixed(2)),
  };
}

function must<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}
