/** Pictures of agents: out of the blocks, in the exports, and the same after an import. */
import { createHash } from "node:crypto";
import {
  type BlockEvent,
  type ExportLine,
  exportLines,
  isProblem,
  type JsonObject,
  Kernel,
  MemoryStore,
  VirtualEnv,
} from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { importStream } from "../import/import-stream.ts";
import { nodeEnv } from "../system/env.ts";
import { ingestStream } from "./ingest-stream.ts";
import { keepPictures } from "./kept-pictures.ts";

const owner = { role: "owner", agent: "ada", by: "token" } as const;
const bytes = Buffer.alloc(30_000, "a picture, as far as anybody here looks ");
const data = bytes.toString("base64");
const blob = createHash("sha256").update(bytes).digest("hex");

/** A turn of Claude Code in which a tool shows a picture. */
function stream(): Buffer {
  const session_id = "s1";
  const tool = { type: "tool_use", id: "t1", name: "mcp__browser__shot", input: {} };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const result = { type: "tool_result", tool_use_id: "t1", content: [image] };
  const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [tool], usage: {} };
  const lines = [
    { type: "system", subtype: "init", session_id, model: "m", tools: [], cwd: "/tmp" },
    { type: "assistant", session_id, message },
    { type: "user", session_id, message: { role: "user", content: [result] } },
    { type: "result", subtype: "success", session_id, is_error: false, result: "", usage: {} },
  ];
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function* piece(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

async function linesOf(kernel: Kernel, conversation: string): Promise<ExportLine[]> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) throw new Error(record.message);
  const lines: ExportLine[] = [];
  for await (const line of exportLines(kernel, record)) lines.push(line);
  return lines;
}

async function metadataOf(kernel: Kernel, conversation: string): Promise<JsonObject[]> {
  const blocks = await kernel.blocks({ conversation, order: "first", limit: 100 });
  if (isProblem(blocks)) throw new Error(blocks.message);
  return blocks.map((block) => block.metadata).filter((metadata) => metadata["images"] !== undefined);
}

describe("pictures of agents", () => {
  it("[E12] are stored once, exported with their data, and named alike after an import", async () => {
    const store = new MemoryStore("here");
    const kernel = new Kernel(nodeEnv, store);
    const made = (await ingestStream(kernel, owner, { provider: "claude" }, piece(stream()))) as JsonObject;
    const conversation = made["conversation"] as string;
    const shown = await metadataOf(kernel, conversation);
    expect(shown.length).toBeGreaterThan(0);
    for (const { images } of shown) expect(images).toEqual([{ blob, mediaType: "image/png" }]);
    expect(Buffer.from((await store.blob(blob))?.bytes ?? [])).toEqual(bytes);

    const lines = await linesOf(kernel, conversation);
    const exported = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    expect(exported).toContain(data);
    expect(exported).not.toContain(blob);

    const there = new MemoryStore("there");
    const other = new Kernel(nodeEnv, there);
    const copy = (await importStream(other, owner, piece(Buffer.from(exported)))) as JsonObject;
    expect(await metadataOf(other, copy["conversation"] as string)).toEqual(shown);
    expect(Buffer.from((await there.blob(blob))?.bytes ?? [])).toEqual(bytes);
  });

  it.each<[string, JsonObject]>([
    ["small", { data: "iVBORw0KGgo=", mediaType: "image/png" }],
    ["no picture that a browser shows", { data, mediaType: "image/svg+xml" }],
    ["not base64", { data: `${data.slice(0, -8)}!!!!!!!!`, mediaType: "image/png" }],
    ["nothing but padding", { data: `${"=".repeat(1_000_000)}a`, mediaType: "image/png" }],
    ["a blob already", { blob, mediaType: "image/png" }],
  ])("[E12] stay as they are: %s", async (_, picture) => {
    const event: BlockEvent = { type: "block-meta", key: "k", metadata: { images: [picture] } };
    expect(await keepPictures(keeper(), [event])).toEqual([event]);
  });

  it("[V134] keep their size with the block", async () => {
    const png = Buffer.alloc(8_000);
    png.write("89504e470d0a1a0a0000000d49484452", "hex");
    png.writeUInt32BE(300, 16);
    png.writeUInt32BE(100, 20);
    const picture = { data: png.toString("base64"), mediaType: "image/png" };
    const event: BlockEvent = { type: "block-meta", key: "k", metadata: { images: [picture] } };
    expect(await keepPictures(keeper(), [event])).toMatchObject([
      { metadata: { images: [{ width: 300, height: 100, mediaType: "image/png" }] } },
    ]);
  });

  it("[E12] are extracted from data URLs and from blocks that are one picture", async () => {
    const metadata = { data: `data:image/jpeg;base64,${data}`, width: 3 };
    const event: BlockEvent = { type: "block-start", key: "k", kind: "image", role: "user", metadata };
    const [kept] = await keepPictures(keeper(), [event]);
    expect(kept).toEqual({ ...event, metadata: { blob, mediaType: "image/jpeg", width: 3 } });
  });
});

function keeper() {
  return { env: new VirtualEnv(1), store: new MemoryStore("x") };
}
