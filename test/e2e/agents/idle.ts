/**
 * The benefit and cost of Claude Code staying alive between turns: how much sooner the next turn reaches the model than
 * in a new process, in one run, and the memory of each waiting one. `npm run lifecycle -- idle`.
 */
import { readFileSync } from "node:fs";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { bounds } from "../../../packages/server/src/turns/drivers/limits.ts";
import { say } from "../../model/script.ts";
import { fetchCli } from "../clis/fetch.ts";
import { Lab } from "../clis/lab.ts";

const CONVERSATIONS = bounds.idleAgents + 2;
const WANTED = 3;

/** Prints both figures; whether they are as promised. */
export async function runIdle(print: (line: string) => void): Promise<boolean> {
  const found = await fetchCli("claude");
  if ("missing" in found) throw new Error(found.missing);
  const lab = await Lab.open("claude", found.program);
  try {
    const starts = await startTimes(lab);
    const ratio = median(starts.map(([fresh, kept]) => fresh / kept));
    const [fresh, kept] = [0, 1].map((at) => median(starts.map((each) => each[at] as number)));
    print(
      `to the model's first request: ${fresh?.toFixed(0)} ms in a new process, ${kept?.toFixed(0)} ms in one that waits: ${ratio.toFixed(1)} times as fast (at least ${WANTED} wanted)`,
    );
    const pids = await findMarked(homeMark(lab.home));
    const sizes = pids.map(memoryMib);
    const sum = sizes.reduce((all, each) => all + each, 0);
    const waiting = sizes.filter((size) => size > LEAST_MIB).length;
    print(
      `${CONVERSATIONS} conversations had a turn: ${waiting} agents wait (${bounds.idleAgents} at most, ${bounds.idleMs / 60_000} minutes each), ${(sum / waiting).toFixed(0)} MiB each, ${sum.toFixed(0)} MiB in all`,
    );
    return ratio >= WANTED && waiting <= bounds.idleAgents;
  } finally {
    await lab.close();
  }
}

/** In each conversation the first turn, which starts a process, and the second, which finds it waiting. */
async function startTimes(lab: Lab): Promise<readonly (readonly [number, number])[]> {
  const times: [number, number][] = [];
  for (let i = 0; i < CONVERSATIONS; i++) {
    const conversation = await lab.conversation();
    times.push([await toModel(lab, conversation), await toModel(lab, conversation)]);
  }
  return times;
}

async function toModel(lab: Lab, conversation: string): Promise<number> {
  const since = performance.now();
  const asked = lab.model.asked.length;
  const { turn } = await lab.start(conversation, "Say yes", [say("Yes.")]);
  await lab.model.askedTimes(asked + 1);
  const ms = performance.now() - since;
  await lab.over(conversation, turn);
  return ms;
}

/** What watches over an agent, and shells, are small. */
const LEAST_MIB = 40;

/** Its own memory, and its share of what it has in common with others. */
function memoryMib(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}
