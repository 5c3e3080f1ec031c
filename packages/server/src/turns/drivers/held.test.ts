/** Unprocessed output of agents is bounded, however much they print. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { StreamIngest } from "../../ingest/ingest-stream.ts";
import type { Child } from "../../processes/child.ts";
import { ProcessTracker } from "../../processes/process-tracker.ts";
import { nodeEnv } from "../../system/env.ts";
import { Connection } from "./acp/connection.ts";
import { ClaudePeer } from "./claude/peer.ts";
import { Kept } from "./codex/kept.ts";
import { bounds } from "./limits.ts";

const LINE = `{"type":"x","text":"${"x".repeat(1024 * 1024)}"}\n`;

it("[AC270] an ACP agent that talks on before it has a session is ended", async () => {
  const home = mkdtempSync(join(tmpdir(), "blockyard-held-"));
  const talk = `const line = ${JSON.stringify(LINE)};
    const on = () => process.stdout.write(line, on);
    on();`;
  const spec = { file: process.execPath, args: ["-e", talk], cwd: home, env: {} };
  const connection = new Connection(spec, { env: nodeEnv, tracker: new ProcessTracker(home) });
  const greeted = await connection.greet();
  expect(greeted).toMatchObject({ problem: "unavailable" });
  await connection.ended;
  const held = connection.hello.reduce((sum, line) => sum + line.length, 0);
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThanOrEqual(bounds.heldChars);
  rmSync(home, { recursive: true, force: true });
});

it("[AC270] a Claude Code that talks on between two turns is ended", async () => {
  let isKilled = false;
  let printed = 0;
  const child = {
    ended: Promise.resolve(),
    kill: () => {
      isKilled = true;
    },
    async *output() {
      for (; !isKilled && printed < 5 * bounds.heldChars; printed += LINE.length) yield Buffer.from(LINE);
    },
  } as unknown as Child;
  const peer = new ClaudePeer(new VirtualEnv(1), child, "/", undefined);
  await expect.poll(() => peer.isClosed).toBe(true);
  expect(isKilled).toBe(true);
  expect(printed).toBeLessThan(bounds.heldChars + 2 * LINE.length);
});

it("[AC270] a Codex that talks on before its turn ends its run", async () => {
  let stored = 0;
  const stream = {
    keepAside: async (bytes: Uint8Array) => {
      stored += bytes.length;
    },
  } as unknown as StreamIngest;
  const kept = new Kept(stream, () => 0);
  for (let n = 0; n < 20; n++) kept.add("out", LINE);
  expect(await kept.settled()).toMatchObject({ problem: "too_large" });
  await kept.aside();
  expect(stored).toBeLessThan(bounds.heldChars * 1.2);
});
