/**
 * The ways in which an agent can end a turn badly [R17], each as one row: what it does, and the turn's state
 * afterwards. What is true after every one of them is in world.ts.
 */
import { isProblem, type Turn } from "@blockyard/kernel";
import { CUTS, type Plan, RECORDING, World } from "./world.ts";

export interface Death {
  readonly name: string;
  readonly plan: Omit<Plan, "recording">;
  /** The owner stops it once it has printed what it prints. */
  readonly isStopped?: boolean;
  readonly turn: Partial<Pick<Turn, "status" | "reason">>;
  /** What somebody is told of it. */
  readonly told?: RegExp;
}

const interrupted = { status: "error", reason: "interrupted" } as const;
const cancelled = { status: "error", reason: "cancelled" } as const;
const { insideInput, callRunning, beforeResult, whole } = CUTS;

export const DEATHS: readonly Death[] = [
  {
    name: "is killed before its first word",
    plan: { lines: 0, act: "kill" },
    turn: { status: "error", reason: "failed" },
    told: /by signal SIGKILL/,
  },
  {
    name: "is killed inside the input of a call",
    plan: { lines: insideInput, act: "kill" },
    turn: interrupted,
    told: /by signal SIGKILL/,
  },
  { name: "is killed while a call runs", plan: { lines: callRunning, act: "kill" }, turn: interrupted },
  {
    name: "exits with 0 while a call runs",
    plan: { lines: callRunning, act: "exit0" },
    turn: interrupted,
    told: /exit code 0 before its turn was over/,
  },
  { name: "exits with 0 inside an input", plan: { lines: insideInput, act: "exit0" }, turn: interrupted },
  {
    name: "exits with 1",
    plan: { lines: callRunning, act: "exit1" },
    turn: interrupted,
    told: /exit code 1 [\s\S]*something went wrong inside/,
  },
  {
    name: "closes its output and lives on",
    plan: { lines: insideInput, act: "closeOutput" },
    turn: interrupted,
    told: /closed its output/,
  },
  {
    name: "falls silent",
    plan: { lines: callRunning, act: "stay" },
    turn: interrupted,
    told: /sent nothing for/,
  },
  { name: "falls silent, deaf", plan: { lines: insideInput, act: "stay", deaf: true }, turn: interrupted },
  { name: "hangs after its result", plan: { lines: whole, act: "stay" }, turn: { status: "done" } },
  {
    name: "hangs after its result, deaf",
    plan: { lines: whole, act: "stay", deaf: true },
    turn: { status: "done" },
  },
  {
    name: "prints no result",
    plan: { lines: beforeResult, act: "exit0" },
    turn: { status: "error" },
    told: /before its turn was over/,
  },
  {
    name: "leaves a process at its pipes",
    plan: { lines: whole, act: "leavePipes" },
    turn: { status: "done" },
  },
  {
    name: "leaves one at its pipes in mid-call",
    plan: { lines: insideInput, act: "leavePipes" },
    turn: interrupted,
  },
  {
    name: "leaves processes elsewhere",
    plan: { lines: whole, act: "leaveBehind" },
    turn: { status: "done" },
  },
  { name: "leaves some in mid-call", plan: { lines: callRunning, act: "leaveBehind" }, turn: interrupted },
  {
    name: "asks without end",
    plan: { lines: callRunning, act: "asks" },
    turn: { status: "error", reason: "failed" },
    told: /more than 100 of its requests/,
  },
  { name: "floods, then fails", plan: { lines: insideInput, act: "flood" }, turn: interrupted },
  { name: "prints garbage, then fails", plan: { lines: insideInput, act: "garbage" }, turn: interrupted },
  { name: "is stopped", plan: { lines: callRunning, act: "stay" }, isStopped: true, turn: cancelled },
  {
    name: "is stopped, deaf",
    plan: { lines: insideInput, act: "stay", deaf: true },
    isStopped: true,
    turn: cancelled,
  },
  {
    name: "is stopped, frozen",
    plan: { lines: callRunning, act: "freeze" },
    isStopped: true,
    turn: cancelled,
  },
];

/** Short enough for a test; a loaded machine must still start a program within the silence. */
const TIMES = { silentMs: 4_000, lingerMs: 300, graceMs: 300 };

/** One death in a fresh world; what was wrong afterwards. */
export async function die({ name, plan, isStopped, turn, told }: Death): Promise<string[]> {
  const world = await World.open(TIMES);
  try {
    const conversation = await world.begin({ ...plan, recording: RECORDING });
    if (isStopped) {
      // It has printed everything when the third call is there, whose input or result is missing.
      await world.until(async () => {
        const calls = (await world.blocks(conversation)).filter(({ kind }) => kind === "tool_call");
        return calls.length === 3;
      });
      const stopped = await world.turns.stop("ann", conversation, true);
      if (isProblem(stopped)) return [`${name}: ${stopped.message}`];
    }
    await world.over(conversation);
    const complaints = await world.complaints(conversation);
    complaints.push(...(await compare(world, conversation, turn, told)));
    return complaints.map((complaint) => `${name}: ${complaint}`);
  } finally {
    await world.close();
  }
}

async function compare(
  world: World,
  conversation: string,
  expected: Death["turn"],
  told: RegExp | undefined,
): Promise<string[]> {
  const turns = await world.kernel.turns(conversation);
  const [turn] = isProblem(turns) ? [] : turns;
  const complaints: string[] = [];
  for (const [field, value] of Object.entries(expected)) {
    const found = turn?.[field as keyof Turn];
    if (found !== value) complaints.push(`the turn's ${field} is ${String(found)}, not ${value}`);
  }
  if (told === undefined) return complaints;
  const errors: string[] = [];
  for (const { id, kind } of await world.blocks(conversation)) {
    const block = kind === "error" ? await world.kernel.whole(id) : undefined;
    if (block && !isProblem(block)) errors.push(block.text);
  }
  if (!errors.some((text) => told.test(text)))
    complaints.push(`nobody is told ${told}, only ${JSON.stringify(errors)}`);
  return complaints;
}
