/** Exports are made in a thread that can be ended, with the same result as without it. */
import { type ExportLine, isProblem, limits, StreamProblem } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { exportAs } from "./export.ts";
import { ExportPool } from "./export-pool.ts";
import type { Format } from "./format.ts";

let pool: ExportPool | undefined;
afterEach(() => pool?.close());

const program = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

const HEAD = {
  ...{ type: "conversation", epoch: "e", conversation: "c", title: "T", created_by: "root", created_at: 0 },
  ...{
    updated_at: 0,
    seq: 3,
    blocks: 2,
    turns: 0,
    head: "c/root/2",
    running: [],
    sessions: {},
    included: [],
  },
  ...{ usage: { input: 0, output: 0 }, cost_usd: null, metadata: {} },
} as unknown as ExportLine;

function block(n: number, content: string): ExportLine {
  const parent_id = n === 1 ? null : `c/root/${n - 1}`;
  return {
    ...{
      type: "block",
      block_id: `c/root/${n}`,
      conversation: "c",
      agent: "root",
      kind: "text",
      role: "user",
    },
    ...{ status: "done", parent_id, side: false, pruned: false, version: 1, born: n, newlines: 0 },
    ...{ chars: content.length, metadata: {}, created_at: 0, updated_at: 0, content },
  } as unknown as ExportLine;
}

async function* conversation(): AsyncGenerator<ExportLine> {
  yield HEAD;
  yield block(1, "# One\n\n`code` and sk-ant-REDACTED");
  yield block(2, "$$x^2$$\n\n| a | b |\n|---|---|\n| 1 | 2 |");
  yield { type: "end", blocks: 2 } as unknown as ExportLine;
}

async function* raw(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"a":1}\n');
}

const source = (format: Format, redact = false) => ({ format, redact, lines: conversation, raw });

async function whole(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
  return text;
}

async function refusal(pieces: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of pieces);
  } catch (error) {
    return error instanceof StreamProblem ? error.problem.problem : error;
  }
  return undefined;
}

describe("[AC228] an export in a thread", () => {
  it.each([
    ["html", false],
    ["html", true],
    ["markdown", false],
    ["markdown", true],
    ["jsonl", true],
    ["raw", true],
  ] as const)("%s is the same as without one (redacted: %s)", async (format, redact) => {
    pool = new ExportPool();
    const found = redact ? () => undefined : undefined;
    const expected = await whole(exportAs(format, { lines: conversation, raw, redact: found }));
    expect(expected.length).toBeGreaterThan(5);
    expect(await whole(pool.make(source(format, redact), true))).toBe(expected);
    expect(await whole(pool.make(source(format, redact), true))).toBe(expected); // and again, in the same thread
  });

  it("that is incomplete counts as none", async () => {
    pool = new ExportPool();
    async function* half(): AsyncGenerator<ExportLine> {
      yield HEAD;
    }
    expect(await refusal(pool.make({ ...source("html"), lines: half }, true))).toBe("unavailable");
    expect(await whole(pool.make(source("html"), true))).toContain("</html>");
  });

  it("is ended if it takes too long or too much memory, and the next one is made", async () => {
    const listen = 'import { parentPort } from "node:worker_threads"; parentPort.on("message", (m) => {';
    const stuck = `${listen} if (m.format === "html") for (;;); parentPort.postMessage({ type: "done" }); });`;
    pool = new ExportPool(program(stuck), 2_000);
    expect(await refusal(pool.make(source("html"), false))).toBe("timeout");
    expect(await refusal(pool.make(source("markdown"), false))).toBeUndefined();
    await pool.close();
    const greedy = `${listen} const all = []; if (m.format === "html") for (;;) all.push(new Array(1e6).fill(all.length)); parentPort.postMessage({ type: "done" }); });`;
    pool = new ExportPool(program(greedy), 60_000);
    expect(await refusal(pool.make(source("html"), false))).toBe("too_large");
    expect(await refusal(pool.make(source("markdown"), false))).toBeUndefined();
  }, 30_000);

  it("whose reader leaves makes room for the next, and stops reading the conversation", async () => {
    pool = new ExportPool();
    let isLeft = false;
    async function* endless(): AsyncGenerator<ExportLine> {
      try {
        yield HEAD;
        for (let n = 1; ; n++) yield block(n, "x");
      } finally {
        isLeft = true;
      }
    }
    const first = pool.make({ ...source("jsonl", true), lines: endless }, false);
    expect((await first.next()).done).toBe(false);
    const second = whole(pool.make(source("html"), false));
    await first.return(undefined);
    expect(isLeft).toBe(true);
    expect(await second).toContain("</html>");
  });

  it("of the owner waits for nobody; those of others wait for each other, and too many are busy", async () => {
    pool = new ExportPool();
    const held = pool.make(source("html"), false);
    await held.next();
    const waiting = Array.from({ length: limits.queuedExports - 1 }, () =>
      whole((pool as ExportPool).make(source("html"), false)),
    );
    await new Promise(setImmediate);
    expect(await refusal(pool.make(source("html"), false))).toBe("busy");
    expect(isProblem(await whole(pool.make(source("html"), true)))).toBe(false);
    await held.return(undefined);
    expect(await Promise.all(waiting)).toHaveLength(limits.queuedExports - 1);
  }, 30_000);
});
