/** Queued messages, and a server that is killed or stopped: none is lost, and none is sent before somebody says so. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { Server } from "../server.ts";
import { FAKE } from "./world.ts";

const RECORDING = fileURLToPath(
  new URL("../../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);

const home = mkdtempSync(join(tmpdir(), "blockyard-queue-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

it.each(["kill", "stop"] as const)("[D15] a message that waits outlives the server: %s", async (end) => {
  const heard = join(home, `heard-${end}.json`);
  const start = () => Server.start({ home, root: home, env: { BLOCKYARD_CLAUDE: FAKE } });
  const before = await start();
  const plan = (act: string) => JSON.stringify({ recording: RECORDING, lines: 6, act, heard });
  const { conversation } = await before.do("turn.start", {
    provider: "claude",
    prompt: JSON.stringify({ recording: RECORDING, lines: 6, act: "stay" }),
    title: "waits",
  });
  const attachments = [{ type: "text", name: "notes.md", text: "the notes, whole" }];
  const request = { conversation, provider: "claude", attachments };
  const first = await before.do("turn.start", { ...request, prompt: plan("exit0") });
  const second = await before.do("turn.start", { ...request, prompt: "not this one" });
  expect([first.queued, second.queued]).toEqual([true, true]);
  await before[end]();

  const after = await start();
  const held = (await after.blocks(conversation)).filter(({ metadata }) => metadata.queued);
  expect(held).toMatchObject([
    { content: plan("exit0"), status: "pending", metadata: { queued: { held: "restarted" } } },
    { content: "not this one", status: "pending", metadata: { queued: { held: "restarted" } } },
  ]);
  expect(existsSync(heard)).toBe(false);
  expect(await after.do("turn.stop", { conversation, turn: second.turn })).toMatchObject({ dropped: 1 });
  expect(await after.do("turn.release", { conversation })).toEqual({ sent: 1 });
  await expect.poll(() => existsSync(heard) && readFileSync(heard, "utf8")).toContain("the notes, whole");
  await expect
    .poll(async () => (await after.do("turn.list", { conversation })).turns.length, { timeout: 10_000 })
    .toBe(2);
  expect((await after.call("turn.release", { conversation })).status).toBe(410);
  await after.kill();
});
