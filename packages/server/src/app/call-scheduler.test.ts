/** The order of calls: the owner's at once, all others in turn. */
import { isProblem, limits } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Caller } from "../access/auth.ts";
import { OwnerFirst } from "../system/owner-first.ts";
import { CallScheduler } from "./call-scheduler.ts";

const caller = (agent: string, role: Caller["role"] = "viewer"): Caller => ({ agent, role, by: "token" });

/** A process that has always rested enough. */
function rested(): CallScheduler {
  let idle = 0;
  return new CallScheduler(new OwnerFirst(), () => {
    idle += 100;
    return { active: 0, idle };
  });
}

/** Work that ends on request. */
class Work {
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];

  run = (name: string) => () => {
    this.begun.push(name);
    return new Promise<string>((end) => this.#ends.push(() => end(name)));
  };

  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

const rounds = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

it("[AC224] one caller has a few calls under way, the rest waits, and more than that is busy", async () => {
  const scheduler = rested();
  const work = new Work();
  const all = limits.callerCalls + limits.callerQueue;
  const calls = Array.from({ length: all }, (_, i) => scheduler.run(caller("a"), work.run(`${i}`)));
  await rounds(2 * all);
  expect(work.begun).toEqual(["0", "1", "2", "3"]);
  // The queue holds waiting calls; running ones have left it.
  const more = Array.from({ length: limits.callerCalls }, () => scheduler.run(caller("a"), work.run("more")));
  const over = await scheduler.run(caller("a"), work.run("over"));
  expect(over).toMatchObject({ problem: "busy", details: { retry_ms: expect.any(Number) } });
  while (scheduler.pending > 0) {
    work.end();
    await rounds(8);
  }
  const answers = await Promise.all([...calls, ...more]);
  expect(answers.filter(isProblem)).toHaveLength(limits.callerCalls);
  expect(work.begun).toHaveLength(all);
});

it("[AC224] callers take turns, however many calls one of them has", async () => {
  const scheduler = rested();
  const begun: string[] = [];
  const quick = (name: string) => async () => void begun.push(name);
  const greedy = Array.from({ length: 20 }, () => scheduler.run(caller("greedy"), quick("greedy")));
  const modest = scheduler.run(caller("modest"), quick("modest"));
  await Promise.all([...greedy, modest]);
  expect(begun.indexOf("modest")).toBeLessThan(3);
});

it("[AC224] the owner's begin at once, whatever others wait for", async () => {
  const scheduler = new CallScheduler(new OwnerFirst(), () => ({ active: performance.now(), idle: 0 }));
  const begun: string[] = [];
  const calls = Array.from({ length: 9 }, () => scheduler.run(caller("a"), async () => void begun.push("a")));
  await scheduler.run(caller("root", "owner"), async () => void begun.push("owner"));
  expect(begun).toEqual(["owner"]);
  expect(scheduler.pending).toBe(calls.length);
});

it("[AC224] while the process is busy, one begins at a time and others wait", async () => {
  let idle = 0;
  const scheduler = new CallScheduler(new OwnerFirst(), () => ({ active: performance.now(), idle }));
  const begun: number[] = [];
  const calls = [0, 1, 2].map((i) => scheduler.run(caller(`v${i}`), async () => void begun.push(i)));
  await rounds(20);
  expect(begun).toEqual([0]);
  idle = 1e9;
  await Promise.all(calls);
  expect(begun).toEqual([0, 1, 2]);
});

it("[AC225] a call queued for a closed connection never begins", async () => {
  const scheduler = rested();
  const work = new Work();
  const gone = new AbortController();
  const calls = Array.from({ length: 20 }, (_, i) =>
    scheduler.run(caller("a"), work.run(`${i}`), { signal: gone.signal }),
  );
  await rounds(30);
  gone.abort();
  await rounds(30);
  expect(work.begun).toHaveLength(limits.callerCalls);
  work.end();
  const answers = await Promise.all(calls);
  expect(answers.filter(isProblem)).toHaveLength(20 - limits.callerCalls);
  expect(scheduler.pending).toBe(0);
  expect(await scheduler.run(caller("a"), work.run("late"), { signal: gone.signal })).toMatchObject({
    problem: "unavailable",
  });
});

it("[AC260] work in pieces waits for a turn for each, continues before new work, and lets others run in between", async () => {
  const scheduler = rested();
  const done: string[] = [];
  const long = scheduler.run(caller("a"), async (turn) => {
    for (const piece of ["a1", "a2", "a3"]) {
      done.push(piece);
      await turn();
    }
    return "a";
  });
  const later = [1, 2].map(() => scheduler.run(caller("a"), async () => void done.push("a later")));
  const others = [1, 2, 3].map((i) => scheduler.run(caller("b"), async () => void done.push(`b${i}`)));
  expect(await long).toBe("a");
  await Promise.all([...later, ...others]);
  expect(done).toEqual(["a1", "b1", "a2", "b2", "a3", "b3", "a later", "a later"]);
  expect(scheduler.pending).toBe(0);
});

it("[AC260] work in pieces that waits for its turn blocks nobody else", async () => {
  let idle = 0;
  const scheduler = new CallScheduler(new OwnerFirst(), () => ({ active: 0, idle }));
  const done: string[] = [];
  const long = scheduler.run(caller("a"), async (turn) => {
    await turn();
    done.push("a");
  });
  const other = scheduler.run(caller("b"), async () => void done.push("b"));
  for (let i = 0; i < 10 && done.length < 2; i++) {
    idle++; // far less than a call that waits for something
    await rounds(3);
  }
  expect(done).toEqual(["b", "a"]);
  await Promise.all([long, other]);
});

it("[AC260] the end of a call is never over its caller's limit, and comes next", async () => {
  const scheduler = rested();
  const work = new Work();
  const all = limits.callerCalls + limits.callerQueue;
  const calls = Array.from({ length: all }, (_, i) => scheduler.run(caller("a"), work.run(`${i}`)));
  await rounds(2 * all);
  const more = Array.from({ length: limits.callerCalls }, () => scheduler.run(caller("a"), work.run("more")));
  const end = scheduler.run(caller("a"), async () => "the end", { isNext: true });
  expect(await end).toBe("the end");
  expect(work.begun).toHaveLength(limits.callerCalls);
  while (scheduler.pending > 0) {
    work.end();
    await rounds(8);
  }
  await Promise.all([...calls, ...more]);
});

it("[AC224] nothing of others begins while the owner waits for an answer, for a moment", async () => {
  let nowMs = 0;
  let idle = 0;
  const owner = new OwnerFirst(() => nowMs);
  const scheduler = new CallScheduler(owner, () => {
    idle += 100;
    return { active: 0, idle };
  });
  const begun: string[] = [];
  await scheduler.run(caller("a"), async () => void begun.push("first"));
  const answered = owner.begin();
  void scheduler.run(caller("a"), async () => void begun.push("second"));
  await rounds(20);
  expect(begun).toEqual(["first"]);
  answered();
  await expect.poll(() => begun).toEqual(["first", "second"]);
  owner.begin(); // a call that never ends
  void scheduler.run(caller("a"), async () => void begun.push("third"));
  nowMs += 1_000;
  await expect.poll(() => begun).toEqual(["first", "second", "third"]);
  expect(owner.isWaiting).toBe(false);
});
