/**
 * Guarded files that the owner has opened: no tool, on no transport, returns their text to an agent or a viewer, or
 * lets them change it, until the owner grants that file; and no longer once the grant is revoked.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { GUARDED_PATHS, PLAIN_PATHS } from "./guarded-paths.ts";
import { TestHarness } from "./harness.ts";
import { inputOf } from "./inputs.ts";
import { overHttp, overMcp, overSocket } from "./transports.ts";

const SECRET = "s3cret-of-the-owner";
/** Not all of them can be files of one folder. */
const PLAIN_FILES = PLAIN_PATHS.filter(
  (each) => each !== "package.json/a" && !PLAIN_PATHS.some((other) => other.startsWith(`${each}/`)),
);
let harness: TestHarness;
const ids = new Map<string, string>();

beforeAll(async () => {
  harness = await TestHarness.start();
  for (const path of [...GUARDED_PATHS, ...PLAIN_FILES]) {
    mkdirSync(dirname(join(harness.root, path)), { recursive: true });
    writeFileSync(join(harness.root, path), `${SECRET}\n`);
    const { block_id = "" } = await harness.call("file.open", { path });
    ids.set(path, block_id);
  }
});
afterAll(() => harness.stop());

const textOf = (path: string) => readFileSync(join(harness.root, path), "utf8");
/** Pairs of an agent and a viewer: one alone would ask more often than it may. */
const pairs: (readonly [string, string])[] = [];
function pairAt(at: number): readonly [string, string] {
  const nth = Math.floor(at / 50);
  pairs[nth] ??= [harness.agent(`curious-${nth}`), harness.viewer(`wall-${nth}`)];
  return pairs[nth];
}
const edit = (block_id: string) => ({ block_id, operations: [{ op: "insert", line: 0, content: "evil" }] });

describe("files that the owner has opened", () => {
  it("[AC125] is not thereby anybody else's, for each of the guarded files", async () => {
    for (const [at, path] of GUARDED_PATHS.entries()) {
      const [agent, viewer] = pairAt(at);
      const block_id = ids.get(path) ?? "";
      expect([path, block_id]).toEqual([path, expect.stringContaining("/disk/")]);
      for (const token of [agent, viewer]) {
        const read = await harness.call("block.read", { block_id }, token);
        expect([path, read["problem"]]).toEqual([path, "forbidden"]);
        expect(read["message"]).toMatch(/is guarded: .+\. The owner can grant access: blockyard grant /);
      }
      expect(await harness.call("file.open", { path }, agent)).toMatchObject({ problem: "forbidden" });
      expect(await harness.call("block.edit", edit(block_id), agent)).toMatchObject({ problem: "forbidden" });
      const made = { role: "tool", kind: "file", content: "evil", metadata: { path } };
      expect(await harness.call("block.create", made, agent)).toHaveProperty("problem");
    }
    for (const [at, path] of PLAIN_PATHS.entries()) {
      if (!ids.has(path)) continue;
      const [, viewer] = pairAt(at);
      expect([path, await harness.call("block.read", { block_id: ids.get(path) }, viewer)]).toEqual([
        path,
        expect.objectContaining({ content: expect.anything() }),
      ]);
    }
    await harness.call("file.flush", {});
    for (const path of GUARDED_PATHS) expect([path, textOf(path)]).toEqual([path, `${SECRET}\n`]);
  }, 60_000);

  it("[AC125] shows in no answer of any tool, on any transport, and is changed by none", async () => {
    const path = ".env";
    const block_id = ids.get(path) ?? "";
    const conversation = block_id.split("/", 1)[0] ?? "";
    const known: Record<string, Json> = {
      ...{
        conversation,
        block_id,
        block: block_id,
        parent_id: block_id,
        path,
        query: SECRET,
        pattern: SECRET,
      },
      ...{
        metadata: {},
        kind: "text",
        role: "model",
        since_seq: 0,
        wait_ms: 0,
        disk_content: true,
        version: 0,
      },
    };
    const without = (names: readonly string[], input: Record<string, Json>) =>
      Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
    for (const path of PLAIN_PATHS) if (ids.has(path)) writeFileSync(join(harness.root, path), "plain\n");
    let calls = 0;
    for (const [at, open] of [overHttp, overSocket, overMcp].entries()) {
      for (const token of [harness.agent(`thorough-${at}`), harness.viewer(`thorough-viewer-${at}`)]) {
        const transport = await open(harness, token);
        for (const schema of harness.running.tools.schemas().filter(({ streams }) => !streams)) {
          const whole = inputOf(schema, known);
          const inputs = [
            whole,
            without(["block_id"], whole),
            without(["path"], whole),
            without(["block_id", "path"], whole),
          ];
          for (const input of inputs) {
            const answer = JSON.stringify(await transport.call(schema.name, input));
            expect([transport.name, schema.name, answer]).not.toEqual([
              ...[transport.name, schema.name],
              expect.stringContaining("rate limit"),
            ]);
            // A caller's own input may be repeated to it: only the text of a file is at stake.
            const said = answer.replaceAll(`"query":"${SECRET}"`, "");
            const isPlain = schema.name === "kernel.search" || schema.name === "block.search";
            if (!isPlain)
              expect([transport.name, schema.name, said.includes(SECRET)]).toEqual([
                transport.name,
                schema.name,
                false,
              ]);
            else expect(answer).not.toContain(block_id);
            calls++;
          }
        }
        await transport.close();
      }
    }
    expect(calls).toBeGreaterThan(200);
    await harness.call("file.flush", {});
    expect(textOf(path)).toBe(`${SECRET}\n`);
  }, 60_000);

  it("[AC125] shows in no stream, export or socket", async () => {
    const block_id = ids.get(".env") ?? "";
    const conversation = block_id.split("/", 1)[0] ?? "";
    for (const token of [harness.agent("streamer"), harness.viewer("stream-viewer")]) {
      for (const format of ["jsonl", "html", "markdown"]) {
        const { body } = await harness.ask(`/v1/conversations/${conversation}/export?format=${format}`, {
          token,
        });
        expect([format, body.includes(SECRET)]).toEqual([format, false]);
      }
      const exported = await harness.ask("/v1/tools/conversation.export", {
        ...{ method: "POST", token, body: JSON.stringify({ conversation }) },
      });
      expect(exported.body.includes(SECRET)).toBe(false);
      const frames = await frameTexts(token, [
        { type: "subscribe", sub: 1, conversation },
        { type: "want", sub: 1, blocks: [block_id] },
        { type: "sync", block: block_id },
        { type: "update", id: 7, block: block_id, update: "AAA=", key: "k" },
        { type: "call", id: 8, tool: "file.grants", input: {} },
      ]);
      expect(frames).toContain('"id":8');
      expect(frames.includes(SECRET)).toBe(false);
    }
  });
});

describe("grants", () => {
  it("[AC126] open one file, for one name or for all, are listed, and end when they are revoked", async () => {
    const [mine, other, viewer] = [
      harness.agent("granted"),
      harness.agent("not-granted"),
      harness.viewer("granted-viewer"),
    ];
    const block_id = ids.get("package.json") ?? "";
    const may = async (token: string, path = "package.json") =>
      (await harness.call("block.read", { block_id: ids.get(path) }, token))["problem"] === undefined;
    const all = async () => [await may(mine), await may(other), await may(viewer)];
    expect(await all()).toEqual([false, false, false]);
    for (const token of [mine, viewer])
      expect(await harness.call("file.grant", { path: "package.json" }, token)).toMatchObject({
        problem: "forbidden",
      });
    const grants = await harness.call("file.grant", { path: "./package.json", agent: "granted" });
    expect(grants).toMatchObject({
      grants: [
        { path: "package.json", agent: "granted", reason: expect.stringContaining("package managers") },
      ],
    });
    expect(await all()).toEqual([true, false, false]);
    expect(await may(mine, ".env")).toBe(false);
    expect(await harness.call("block.edit", edit(block_id), mine)).toHaveProperty("version");
    expect(await harness.call("file.open", { path: "package.json" }, mine)).toHaveProperty("block_id");
    await harness.call("file.grant", { path: "package.json" });
    expect(await all()).toEqual([true, true, true]);
    expect((await harness.call("file.grants", {}, viewer))["grants"]).toHaveLength(2);
    await harness.call("file.revoke", { path: "package.json" });
    expect(await all()).toEqual([true, false, false]);
    await harness.call("file.revoke", { path: "package.json", agent: "granted" });
    expect(await all()).toEqual([false, false, false]);
    expect(await harness.call("block.edit", edit(block_id), mine)).toMatchObject({ problem: "forbidden" });
    expect(await harness.call("file.revoke", { path: "package.json" })).toMatchObject({
      problem: "not_found",
    });
    expect(await harness.call("file.grant", { path: "src/main.ts" })).toMatchObject({ problem: "invalid" });
  });

  it("[AC126] outlive the server", async () => {
    await harness.call("file.grant", { path: ".env", agent: "kept" });
    const token = harness.agent("kept");
    await harness.running.stop();
    const again = await TestHarness.start({ home: harness.home, root: harness.root });
    try {
      expect(await again.call("block.read", { block_id: ids.get(".env") }, token)).toHaveProperty("content");
      expect(await again.call("block.read", { block_id: ids.get("CLAUDE.md") }, token)).toHaveProperty(
        "problem",
      );
    } finally {
      await again.running.stop();
    }
  });
});

/** Everything that comes back on a socket until the last call is answered. */
async function frameTexts(token: string, frames: readonly object[]): Promise<string> {
  const socket = new WebSocket(`ws://${harness.host}/v1/feed`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await new Promise((open) => socket.once("open", open));
  let heard = "";
  const done = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      heard += data.toString();
      if (heard.includes('"id":8')) resolve();
    });
    socket.on("close", () => resolve());
  });
  for (const frame of [{ type: "hello", protocol: 1 }, ...frames]) socket.send(JSON.stringify(frame));
  await done;
  socket.terminate();
  return heard;
}
