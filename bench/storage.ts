/**
 * How large does a streamed conversation become on disk? A million tokens go through ingest, kernel and SQLite store as
 * a provider would send them, many streams at once, flushed by the kernel's rule. Beside it, the same flushes as
 * updates of the CRDT libraries, one document per block, and the same tokens as one JSON event each, all in SQLite
 * tables of their own without any index of words. Then the size against the number of tokens, for each of them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Report, TableRow } from "./bench.ts";
import type { Series } from "./report/plot.ts";
import { bytesOf, flushesOf, makeBlocks, SEED, TOKENS_PER_BLOCK } from "./storage/blocks.ts";
import { measureOther, type OtherStored, others as otherStores } from "./storage/others.ts";
import { measureOurs, type Ours } from "./storage/ours.ts";

const BLOCKS = 2_000;
/** For the curve. The others are slower; what they need for each byte does not depend on the number of blocks. */
const CURVE = [20, 80, 320];
const COMPARED_BLOCKS = CURVE.at(-1) as number;

export const bench: Bench = {
  name: "storage",
  question: "How many bytes does the database need for each byte of streamed text, search index included?",
  targets: { bytesPerTextByte: { max: 1.4 } },
  async run(report) {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-bench-"));
    try {
      const blocks = makeBlocks(BLOCKS);
      const ours = await measureOurs(join(directory, "ours.db"), blocks);
      const others = await curve(directory, blocks, ours, report);
      tell(report, blocks, ours, others);
      return {
        bytesPerTextByte: ours.bytesPerTextByte,
        openBytesPerTextByte: ours.openBytesPerTextByte,
        ...Object.fromEntries(
          others.map((other) => [`${other.name}BytesPerTextByte`, other.bytesPerTextByte]),
        ),
      };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** What each needs for more and more tokens; the others at the largest number that they are tried with. */
async function curve(
  directory: string,
  blocks: readonly string[][],
  whole: Ours,
  report: Report,
): Promise<OtherStored[]> {
  const lines = new Map<string, [number, number][]>();
  const add = (name: string, count: number, bytesPerTextByte: number) => {
    const kb = (bytesPerTextByte * bytesOf(blocks.slice(0, count))) / 1_000;
    lines.set(name, [...(lines.get(name) ?? []), [count * TOKENS_PER_BLOCK, kb]]);
  };
  const compared = await otherStores();
  let last: OtherStored[] = [];
  for (const count of CURVE) {
    const some = blocks.slice(0, count);
    add("Blockyard", count, (await measureOurs(join(directory, `ours-${count}.db`), some)).bytesPerTextByte);
    add("the text itself", count, 1);
    last = compared.map((other) => measureOther(join(directory, `${other.name}-${count}.db`), other, some));
    for (const { name, bytesPerTextByte } of last) add(name, count, bytesPerTextByte);
  }
  add("Blockyard", blocks.length, whole.bytesPerTextByte);
  add("the text itself", blocks.length, 1);
  report.plot({
    name: "tokens",
    title: "Database size against streamed tokens",
    x: { label: "tokens", isLog: true },
    y: { label: "KB on disk", isLog: true },
    series: [...lines].map(
      ([name, points]): Series =>
        name === "the text itself" ? { name, points, isDashed: true } : { name, points },
    ),
  });
  return last;
}

function tell(report: Report, blocks: readonly string[][], ours: Ours, others: readonly OtherStored[]): void {
  const flushes = blocks.reduce((sum, block) => sum + flushesOf(block).length, 0);
  report.note(
    `${BLOCKS} blocks, ${BLOCKS * TOKENS_PER_BLOCK} tokens, ${ours.textBytes} bytes of text, ${flushes} flushes; ` +
      `the others: the first ${COMPARED_BLOCKS} blocks; seed ${SEED}`,
  );
  const row = (what: string, share: number, seconds?: number): TableRow => ({
    what,
    "bytes/text byte": share.toFixed(3),
    seconds: seconds === undefined ? "" : seconds.toFixed(1),
  });
  report.table([
    row("ours, closed", ours.bytesPerTextByte, ours.seconds),
    row("ours, open, with its log", ours.openBytesPerTextByte),
    ...ours.parts.map(([what, share]) => row(`  including ${what}`, share)),
    ...others.map(({ name, bytesPerTextByte, seconds }) => row(name, bytesPerTextByte, seconds)),
  ]);
}
