/** Secrets removed before they are stored: lines of every form, cut anywhere, with ids and everything else unchanged. */
import { Kernel, MemoryStore } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { ingestStream } from "./ingest-stream.ts";
import { redactBody, redactRaw } from "./redact-body.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;
const owner = { agent: "ann", role: "owner", by: "token" } as const;

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const bytes of body) all.push(bytes);
  return Buffer.concat(all).toString();
}

it.each([
  [`{"text":"key ${SECRET} é"}`, '{"text":"key [redacted GitHub token] é"}'],
  [`data: {"a":["${SECRET}"]}`, 'data: {"a":["[redacted GitHub token]"]}'],
  [`plain ${SECRET}`, "plain [redacted GitHub token]"],
  ['{"password":"correct horse battery"}', '{"password":"[redacted named secret]"}'],
  ['{"id":"toolu_01Ab9ZkQ7rXw2LmN4pTs8v","b":1.50}', '{"id":"toolu_01Ab9ZkQ7rXw2LmN4pTs8v","b":1.50}'],
  [
    `{"accessKeyId":"AKIA${"Q7".repeat(8)}","tool_use_id":"toolu_01Ab9ZkQ7rXw2LmN4pTs8v"}`,
    '{"accessKeyId":"[redacted AWS key]","tool_use_id":"toolu_01Ab9ZkQ7rXw2LmN4pTs8v"}',
  ],
  [`{"${SECRET}":1,"b":{"${SECRET}":2}}`, '{"[redacted GitHub token]":1,"b":{"[redacted GitHub token]":2}}'],
  ["", ""],
])("[AC251] %s", async (line, expected) => {
  expect(redactRaw(line)).toBe(expected);
  for (const size of [1, 3, 1_000])
    expect(await read(redactBody(pieces(`${line}\n${line}`, size)))).toBe(`${expected}\n${expected}`);
});

it("[AC251] a log that is not a text as a whole: its texts are scanned, and other bytes stay", () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from(`key ${SECRET}\n`)]);
  const line = JSON.stringify({ type: "raw", base64: bytes.toString("base64") });
  const { base64 } = JSON.parse(redactRaw(line)) as { base64: string };
  const clean = Buffer.from(base64, "base64");
  expect(clean.toString("latin1")).toContain("key [redacted GitHub token]");
  expect(clean.subarray(0, 3)).toEqual(bytes.subarray(0, 3));
  const picture = JSON.stringify({ type: "raw", base64: Buffer.from([1, 2, 3, 255]).toString("base64") });
  expect(redactRaw(picture)).toBe(picture);
});

it("[AC251] an ingested stream leaves its secrets in no block and no raw line", async () => {
  const store = new MemoryStore("epoch");
  const kernel = new Kernel(nodeEnv, store);
  const lines = [
    { type: "system", subtype: "init", session_id: "s", model: "m", cwd: "/x", tools: [] },
    {
      type: "assistant",
      message: { id: "m1", role: "assistant", content: [{ type: "text", text: `use ${SECRET}` }] },
    },
    { type: "result", subtype: "success", result: `use ${SECRET}`, session_id: "s" },
  ];
  const body = redactBody(pieces(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), 40));
  const answer = (await ingestStream(kernel, owner, { provider: "claude" }, body)) as {
    conversation: string;
    run: string;
  };
  const blocks = await store.blocks({ order: "first", limit: 100 });
  const texts = await Promise.all(blocks.map(({ id }) => store.text(id)));
  const raw = Buffer.from(await store.raw({ conversation: answer.conversation, run: answer.run })).toString();
  expect(texts.join()).toContain("use [redacted GitHub token]");
  expect(raw).toContain("[redacted GitHub token]");
  expect(JSON.stringify([blocks, texts]) + raw).not.toContain(SECRET);
  await kernel.close();
});
