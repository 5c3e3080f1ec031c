/**
 * Turns that continue when a usage limit resets: once, at that time, also after a restart; or not, if somebody
 * continued before.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { afterEach, expect, it } from "vitest";
import { atLimit, GO_ON, Later, limitText } from "./later.ts";
import type { TurnRequest } from "./run.ts";
import { keepSwitched } from "./switched.ts";
import type { TurnEnd } from "./turn-end.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function harness() {
  const home = mkdtempSync(join(tmpdir(), "blockyard-later-"));
  folders.push(home);
  const env = new VirtualEnv(1);
  const kernel = new Kernel(env, new MemoryStore("m"));
  const conversation = await kernel.createConversation("root", "limited");
  if (typeof conversation !== "string") throw new Error(conversation.message);
  const started: TurnRequest[] = [];
  const open = () => new Later({ kernel, home, start: async (_by, request) => void started.push(request) });
  return { env, kernel, conversation, started, open };
}

it("[D67] continues once, when its time has come", async () => {
  const { env, conversation, started, open } = await harness();
  const later = open();
  later.set({ conversation, provider: "claude", at: env.now() + 2 * 3_600_000, by: "root", cwd: "/w" });
  await env.advance(2 * 3_600_000);
  expect(started).toEqual([]);
  await env.advance(10_000);
  expect(started).toEqual([
    { conversation, provider: "claude", prompt: GO_ON, author: "blockyard", cwd: "/w" },
  ]);
  expect(later.list()).toEqual([]);
  await env.advance(86_400_000);
  expect(started).toHaveLength(1);
});

it("[D67] outlives its server, and is late rather than lost", async () => {
  const { env, conversation, started, open } = await harness();
  const first = open();
  first.set({ conversation, provider: "codex", at: env.now() + 60_000, by: "root" });
  first.close();
  await env.advance(3_600_000);
  expect(started).toEqual([]);
  open();
  await env.advance(1_000);
  expect(started).toHaveLength(1);
});

it("[D67] can be cancelled, and is replaced by a later request", async () => {
  const { env, conversation, started, open } = await harness();
  const later = open();
  later.set({ conversation, provider: "claude", at: env.now() + 60_000, by: "root" });
  later.set({ conversation, provider: "claude", at: env.now() + 120_000, by: "root" });
  expect(later.list()).toHaveLength(1);
  expect(later.drop(conversation)).toBe(true);
  expect(later.drop(conversation)).toBe(false);
  await env.advance(3_600_000);
  expect(started).toEqual([]);
  expect(later.set({ conversation, provider: "claude", at: env.now() + 1e10, by: "root" })).toMatchObject({
    problem: "out_of_range",
  });
});

it("[D62] [D67] continues with the model and the effort that the turn had at last", async () => {
  const { env, kernel, conversation, started, open } = await harness();
  const later = open();
  const request = {
    conversation,
    provider: "claude",
    prompt: "Go",
    model: "opus",
    effort: "low",
    goesOn: true,
  };
  await kernel.write(conversation, {
    agent: "root",
    plan: (draft) => {
      keepSwitched(draft, "t1", request);
      keepSwitched(draft, "t1", { model: "sonnet" });
      return null;
    },
  });
  const end = { show: async () => undefined } as unknown as TurnEnd;
  await atLimit(end, later, { id: "t1", request, by: "root", prompt: "p" }, env.now() + 60_000);
  await env.advance(3_600_000);
  expect(started).toEqual([
    { conversation, provider: "claude", prompt: GO_ON, author: "blockyard", model: "sonnet", effort: "low" },
  ]);
});

it("[D67] says when", () => {
  const at = new Date(2026, 10, 17, 9, 5).getTime();
  expect(limitText(at, false)).toBe("The account's usage limit is reached. It resets at 2026-11-17 09:05.");
  expect(limitText(at, true)).toContain("automatically");
  expect(limitText(undefined, false)).toContain("does not say when");
});
