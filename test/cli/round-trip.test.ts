/**
 * Every recording: ingested, exported, imported again, and equal; shown as HTML and Markdown with every block in it. Logs
 * are imported twice, and half first.
 */
import {
  type BlockSnapshot,
  type ConversationView,
  type ExportLine,
  exportLines,
  Ingest,
  isProblem,
  Kernel,
  MemoryStore,
  type TurnView,
} from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { nodeEnv, StreamIngest } from "@blockyard/server";
import { describe, expect, it } from "vitest";
import { exportAs } from "../../packages/server/src/export/export.ts";
import { readTree } from "../../packages/server/src/export/tree.ts";
import { importStream } from "../../packages/server/src/import/import-stream.ts";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../recordings.ts";

const owner = { agent: "ada", role: "owner", by: "token" } as const;

function newKernel(epoch = "epoch"): Kernel {
  return new Kernel(nodeEnv, new MemoryStore(epoch));
}

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

async function ingested(kernel: Kernel, recording: Recording): Promise<string> {
  const conversation = must(await kernel.createConversation("ada", ""));
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  if (recording.source === "log") {
    const ingest = new Ingest(kernel, {
      conversation,
      agent: provider.name,
      keep: true,
      from: 1_700_000_000_000,
    });
    await ingest.open();
    await ingest.push(provider.importLog?.(logFilesOf(recording), "log") ?? []);
    await ingest.finish();
  } else {
    const stream = new StreamIngest(kernel, { conversation, agent: provider.name, provider });
    await stream.open();
    await stream.push(bytesOf(recording));
    await stream.end();
  }
  return conversation;
}

async function linesOf(kernel: Kernel, conversation: string): Promise<ExportLine[]> {
  return gather(exportLines(kernel, must(await kernel.conversation(conversation))));
}

async function textOf(
  kernel: Kernel,
  conversation: string,
  format: "html" | "markdown" | "jsonl",
): Promise<string> {
  const record = must(await kernel.conversation(conversation));
  const raw = async function* () {};
  const pieces = exportAs(format, { lines: () => exportLines(kernel, record), raw });
  return (await gather(pieces)).map(String).join("");
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* inChunks(text: string, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What must come back: everything but ids and numbers that belong to one store. */
function comparable(lines: readonly ExportLine[]): unknown {
  const ids = new Map<string, number>();
  for (const line of lines) if (line.type === "block") ids.set(line.block_id, ids.size);
  const named = (id: unknown) => (typeof id === "string" ? (ids.get(id) ?? id) : id);
  return lines.map((line) => {
    if (line.type === "block") return comparableBlock(line, named);
    if (line.type === "turn") return comparableTurn(line, named);
    if (line.type === "end") return line.blocks;
    return comparableRecord(line, named);
  });
}

function comparableBlock(block: BlockSnapshot, named: (id: unknown) => unknown): unknown {
  const {
    block_id,
    parent_id,
    conversation: _c,
    seq: _s,
    born: _b,
    version: _v,
    promoted: _p,
    metadata,
    ...rest
  } = block;
  const { includes } = metadata;
  return {
    ...rest,
    id: named(block_id),
    parent: named(parent_id),
    metadata: unasked(includes === undefined ? metadata : { ...metadata, includes: named(includes) }),
  };
}

/** What was asked where it was exported is not asked where it is imported: [AC64]. */
function unasked(metadata: Readonly<Record<string, unknown>>): unknown {
  const ask = metadata["ask"] as { state?: string } | undefined;
  return ask?.state === "asked" ? { ...metadata, ask: { ...ask, state: "expired" } } : metadata;
}

function comparableTurn({ messages, ...turn }: TurnView, named: (id: unknown) => unknown): unknown {
  const each = Object.entries(messages ?? {}).map(([id, message]) => [
    id,
    { ...message, parent_id: named(message.parent_id) },
  ]);
  return { ...turn, messages: each };
}

function comparableRecord(
  record: ConversationView & { epoch?: string },
  named: (id: unknown) => unknown,
): unknown {
  const { conversation: _c, seq: _s, epoch: _e, asking: _a, head, metadata, cost_usd, ...rest } = record;
  const { imported: _i, ...kept } = metadata;
  return { ...rest, head: named(head), metadata: kept, cost: cost_usd?.toFixed(9) };
}

describe("round trips", () => {
  for (const recording of [...streams, ...logs]) {
    it(`[E5] ${recording.name} comes back equal`, async () => {
      const kernel = newKernel();
      const conversation = await ingested(kernel, recording);
      const before = await linesOf(kernel, conversation);
      const jsonl = await textOf(kernel, conversation, "jsonl");
      const other = newKernel("other");
      const answer = must(await importStream(other, owner, inChunks(jsonl))) as { conversation: string };
      const after = await linesOf(other, answer.conversation);
      expect(comparable(after)).toEqual(comparable(before));

      const again = must(await importStream(other, owner, inChunks(jsonl)));
      expect(again, "[E6]").toMatchObject({ conversation: answer.conversation, added: 0 });
      expect(await linesOf(other, answer.conversation)).toEqual(after);

      const page = await textOf(kernel, conversation, "html");
      const drawn = [...page.matchAll(/data-block="([^"]*)" data-kind="([^"]*)"/g)].map(
        ([, id, kind]) => `${id} ${kind}`,
      );
      const blocks = before.filter((line) => line.type === "block");
      expect(drawn.toSorted(), "[E2]").toEqual(
        blocks.map(({ block_id, kind }) => `${block_id} ${kind}`).toSorted(),
      );
      expect(page, "[E1]").not.toMatch(/<script|<link|<iframe|\son\w+=|src="(?!data:image)/i);
      const numbered = await textOf(kernel, conversation, "markdown");
      const markdown = numbered.replace(/\\\[\d+\]/g, "");
      for (const { kind, role, metadata, content } of blocks) {
        if (kind !== "text" || role === "system" || metadata["notice"] !== undefined) continue;
        expect(markdown, "[E4]").toContain(content.trimEnd());
      }
    });
  }
});

describe("[E6] cut exports", () => {
  it("a cut export is refused, and completed by the whole one", async () => {
    const kernel = newKernel();
    const recording = streams.find(({ name }) => name === "claude/subagent.jsonl") ?? streams[0];
    const conversation = await ingested(kernel, recording as Recording);
    const before = await linesOf(kernel, conversation);
    const jsonl = await textOf(kernel, conversation, "jsonl");
    const lines = jsonl.trimEnd().split("\n");
    const other = newKernel("other");
    for (let kept = 1; kept < lines.length; kept++) {
      const cut = `${lines.slice(0, kept).join("\n")}\n`;
      expect(await importStream(other, owner, inChunks(cut))).toMatchObject({ problem: "invalid" });
    }
    const torn = await importStream(other, owner, inChunks(jsonl.slice(0, -20)));
    expect(torn).toMatchObject({ problem: "invalid" });
    const answer = must(await importStream(other, owner, inChunks(jsonl))) as { conversation: string };
    expect(comparable(await linesOf(other, answer.conversation))).toEqual(comparable(before));
  });

  it.each<[string, string]>([
    ["", "empty"],
    ["hello\n", "not JSON"],
    ["[1]\n", "not a JSON object"],
    ['{"type":"block"}\n', "the first line"],
    ['{"type":"conversation"}\n', "the first line"],
    ['{"type":"log","provider":"claude"}\n', "the first line"],
  ])("%j is refused: %s", async (body, message) => {
    const answer = await importStream(newKernel(), owner, inChunks(body));
    expect(answer).toMatchObject({ problem: "invalid", message: expect.stringContaining(message) });
  });

  it.each(["agent", "viewer"] as const)("[E11] %s may not import", async (role) => {
    const answer = await importStream(newKernel(), { agent: "codex", role, by: "token" }, inChunks("{}\n"));
    expect(answer).toMatchObject({ problem: "forbidden" });
  });
});

describe("trees", () => {
  it("[E2] a fork's ways and what was pruned are all there, once", async () => {
    const kernel = newKernel();
    const conversation = must(await kernel.createConversation("ada", "Forked"));
    const say = (text: string, parent?: string) =>
      kernel.write(conversation, {
        agent: "ada",
        plan: (draft) => {
          const block = draft.create({
            kind: "text",
            role: "user",
            status: "done",
            text,
            ...(parent === undefined ? {} : { parent }),
          });
          return isProblem(block) ? block : { id: block.id };
        },
      });
    const a = must(await say("a"));
    const b = must(await say("b", a.id));
    await say("c", b.id);
    const d = must(await say("d", a.id));
    await kernel.write(conversation, { agent: "ada", plan: (draft) => draft.prune(d.id, true) });
    const tree = await readTree(exportLines(kernel, must(await kernel.conversation(conversation))));
    expect(tree.path.map(({ block }) => block.content)).toEqual(["a", "d"]);
    expect(tree.path[0]?.branches.map((way) => way.map(({ block }) => block.content))).toEqual([["b", "c"]]);
    const before = await linesOf(kernel, conversation);
    const other = newKernel("other");
    const jsonl = await textOf(kernel, conversation, "jsonl");
    const answer = must(await importStream(other, owner, inChunks(jsonl))) as { conversation: string };
    expect(comparable(await linesOf(other, answer.conversation))).toEqual(comparable(before));
  });
});
