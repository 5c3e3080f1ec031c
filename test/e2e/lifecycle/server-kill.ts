/**
 * A server that is killed with many agents running [R18]: no child survives it, and the next start closes what it left
 * open, once. The children are killed, not taken over: by the reaper within moments; where that is killed too, by the
 * next start.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isEnded } from "@blockyard/kernel";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { openSqliteStore } from "../../../packages/server/src/stores/sqlite/sqlite.ts";
import { Server } from "../server.ts";
import { CUTS, FAKE, type Plan, RECORDING } from "./world.ts";

export interface KillOptions {
  readonly agents: number;
  /** The reaper is killed with the server: only the next start can clear up. */
  readonly withReaper: boolean;
}

const WAIT_MS = 20_000;

export async function killServer({ agents, withReaper }: KillOptions): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "blockyard-kill-"));
  const options = { home, root: home, env: { BLOCKYARD_CLAUDE: FAKE } };
  const complaints: string[] = [];
  const mark = homeMark(home);
  let server = await Server.start(options);
  try {
    const conversations = await startAgents(server, agents);
    const before = (await findMarked(mark)).length;
    if (before < agents) complaints.push(`only ${before} processes run for ${agents} agents`);
    if (withReaper) for (const pid of reapers(mark)) process.kill(pid, "SIGKILL");
    await server.kill();
    if (!withReaper) complaints.push(...(await noneLeft(mark, "after the server was killed")));
    else if ((await findMarked(mark)).length < agents)
      complaints.push("the agents died by themselves: this round shows nothing");
    server = await Server.start(options);
    complaints.push(...(await noneLeft(mark, "after the next start")));
    complaints.push(...(await everythingClosed(server, conversations)));
    await server.stop();
    server = await Server.start(options);
    await server.stop();
    complaints.push(...(await endedOnce(home)));
    if (reapers(mark).length > 0) complaints.push("a reaper outlived its server");
    return complaints;
  } finally {
    await server.kill();
    for (const pid of await findMarked(mark)) process.kill(pid, "SIGKILL");
    rmSync(home, { recursive: true, force: true });
  }
}

/** Each in its own conversation, and at work: some in the middle of an input, some with a call that runs. */
async function startAgents(server: Server, agents: number): Promise<string[]> {
  const conversations = await Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      const { conversation } = await server.do("conversation.create", { title: `agent ${index}` });
      const lines = index % 2 === 0 ? CUTS.insideInput : CUTS.callRunning;
      const plan: Plan = { recording: RECORDING, lines, act: "stay", deaf: index % 3 === 0 };
      await server.do("turn.start", { conversation, provider: "claude", prompt: JSON.stringify(plan) });
      return conversation as string;
    }),
  );
  for (const conversation of conversations) {
    const isAtWork = async () => {
      const { blocks } = await server.do("conversation.read", { conversation });
      return (blocks as { kind: string }[]).filter(({ kind }) => kind === "tool_call").length === 3;
    };
    for (const since = Date.now(); !(await isAtWork()); await sleep(50))
      if (Date.now() - since > WAIT_MS) throw new Error("an agent did not get to work");
  }
  return conversations;
}

async function noneLeft(mark: string, when: string): Promise<string[]> {
  const since = Date.now();
  for (;;) {
    const left = await findMarked(mark);
    if (left.length === 0) return [];
    if (Date.now() - since > WAIT_MS) return [`${left.length} processes are left ${when}`];
    await sleep(20);
  }
}

async function everythingClosed(server: Server, conversations: readonly string[]): Promise<string[]> {
  const complaints: string[] = [];
  for (const conversation of conversations) {
    const { blocks, turns } = await server.do("conversation.read", { conversation });
    for (const { block_id, status } of blocks as { block_id: string; status: string }[])
      if (status !== "done" && status !== "error") complaints.push(`${block_id} is still ${status}`);
    for (const { turn, status, reason } of turns as { turn: string; status: string; reason?: string }[])
      if (status !== "error" || reason !== "interrupted") complaints.push(`${turn} is ${status} ${reason}`);
  }
  return complaints;
}

/** From the log itself: one end for each block, however often the server has started since. */
async function endedOnce(home: string): Promise<string[]> {
  const complaints: string[] = [];
  const store = await openSqliteStore(join(home, "blockyard.db"));
  for (const { id } of await store.blocks({ order: "first", limit: 1e9 })) {
    const { ops } = await store.log(id, { version: 0 });
    const ends = ops.filter(
      ({ body }) => (body.type === "status" || body.type === "create") && isEnded(body.status),
    );
    if (ends.length !== 1) complaints.push(`${id} ended ${ends.length} times`);
  }
  await store.close();
  return complaints;
}

function reapers(mark: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes("child-reaper") && command.includes(mark);
      } catch {
        return false;
      }
    });
}
