/** The recorded sessions of a first start: what they show, and what they do on a failing store. */
import { readFileSync } from "node:fs";
import { setImmediate as breath } from "node:timers/promises";
import {
  type Block,
  isProblem,
  Kernel,
  MemoryStore,
  type Problem,
  StoreError,
  VirtualEnv,
} from "@blockyard/kernel";
import { expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { RECORDINGS, recordingPath, replay } from "./replay.ts";

/** The content of a recording, once it is played. */
async function played(name: string): Promise<readonly Block[]> {
  const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
  const recording = RECORDINGS.find((each) => each.name === name);
  if (!recording) throw new Error(`no recording ${name}`);
  const begun = await replay(kernel, recording, "ann", 1_000);
  if (isProblem(begun)) throw new Error(begun.message);
  expect(await begun.done).toBeUndefined();
  expect(await kernel.conversation(begun.conversation)).toMatchObject({
    metadata: { cwd: "/home/dev/shop", recorded: true },
  });
  return (await kernel.allBlocks(begun.conversation)) as readonly Block[];
}

it("[AC65] the first start tells a story in which nothing fails and everything is understood", async () => {
  for (const { name } of RECORDINGS) {
    const blocks = await played(name);
    expect(blocks.filter(({ status }) => status !== "done").map(({ id }) => id)).toEqual([]);
    expect(blocks.filter(({ kind }) => kind === "unknown" || kind === "error")).toEqual([]);
    const text = readFileSync(recordingPath(name), "utf8");
    expect(text).not.toMatch(/\/(root|work|Users)\/|dummy-key/);
  }
});

it("[AC65] Claude finds a bug: a sub-agent, a question, a diff, and tests that pass; Codex reviews it", async () => {
  const claude = await played("claude-shop");
  const tools = claude.flatMap(({ metadata: { toolName } }) => (toolName === undefined ? [] : [toolName]));
  expect(new Set(tools)).toEqual(new Set(["Bash", "Read", "Agent", "AskUserQuestion", "Edit"]));
  const changes = claude.filter(({ kind }) => kind === "file_change");
  expect(changes.length).toBeGreaterThanOrEqual(2);
  const codex = await played("codex-shop");
  expect(codex.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["thinking", "command", "file_change", "text"]),
  );
});

it.each(RECORDINGS)(
  "[AC65] $name ends with a reason where the store fails, and rejects nothing",
  async (recording) => {
    const store = new MemoryStore("epoch");
    const env = new VirtualEnv(1);
    const kernel = new Kernel(env, store);
    store.appendRaw = () => Promise.reject(new StoreError("full", "the disk is full"));
    const played = await replay(kernel, recording, "ann", 1_000);
    if (isProblem(played)) throw new Error(played.message);
    // It is held for a while: the disk may have room again.
    const ended: (Problem | undefined)[] = [];
    void played.done.then((cut) => ended.push(cut));
    for (; ended.length === 0; await breath()) await env.advance(10_000);
    expect(ended[0]).toMatchObject({ problem: "storage", details: { reason: "the disk is full" } });
  },
);

it("[AC65] a recording that cannot be read ends with a reason, and rejects nothing", async () => {
  const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
  const [recording] = RECORDINGS;
  if (!recording) throw new Error("no recordings");
  const begun = await replay(kernel, { ...recording, name: "not-there" }, "ann", 1_000);
  if (isProblem(begun)) throw new Error(begun.message);
  expect(await begun.done).toMatchObject({ problem: "storage", message: expect.stringContaining("ENOENT") });
});
