/** The search thread: deadlines, queues, threads that hang or die, and hostile patterns. */
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { isProblem, limits, type MatchQuery, type Problem } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { hostilePatterns, hostileText } from "../../../../test/hostile-patterns.ts";
import { SEARCH_PROGRAM } from "../stores/sqlite/search/program.ts";
import { SearchPool } from "./pool.ts";

const pools: SearchPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function pool(program?: string): SearchPool {
  const made = new SearchPool({
    program:
      program === undefined ? SEARCH_PROGRAM : new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  pools.push(made);
  return made;
}

function query(pattern: string, literal = false): MatchQuery {
  return { pattern, literal, ignoreCase: false, contextLines: 0, maxMatches: 5 };
}

const IMPORT = `import { parentPort } from "node:worker_threads";`;
/** A thread that is stuck as soon as it has something to do. */
const STUCK = `${IMPORT} parentPort.on("message", () => { parentPort.postMessage({ type: "begun" }); for (;;); });`;
/** A thread that gets no processor for a while, and then answers. */
const STARVED = `${IMPORT} parentPort.on("message", () => { parentPort.postMessage({ type: "begun" });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  parentPort.postMessage({ type: "answer", answer: { matches: [], more: false } }); });`;
const DYING = `${IMPORT} parentPort.on("message", () => { throw new Error("out of luck"); });`;

describe("[Q20] a thread that does not come back", () => {
  it("does not keep its caller; it is ended, and the next search has a new one", async () => {
    const stuck = pool(STUCK);
    const answer = (await stuck.matcher("text", query("t"), 20)) as Problem;
    expect(answer).toMatchObject({ problem: "timeout", details: { deadline_ms: 20 } });
    expect(stuck.kills).toBe(0);
    expect(await stuck.matcher("text", query("t"), 20)).toMatchObject({ problem: "timeout" });
    expect(stuck.kills).toBe(1);
  });

  it("[Q20] has more time if it gets no processor", async () => {
    const starved = pool(STARVED);
    expect(await starved.matcher("text", query("t"), 20)).toEqual({ matches: [], more: false });
    expect(starved.kills).toBe(0);
  });

  it("[Q20] is waited for until it has had its time, however it shares its processor", async () => {
    const { cpuUsage } = Worker.prototype;
    let begunMs: number | undefined;
    // It has one most of the time, but shorter than it may keep it.
    Worker.prototype.cpuUsage = async () => {
      begunMs ??= performance.now();
      return { user: 1_000 * Math.min(0.6 * (performance.now() - begunMs), 160), system: 0 };
    };
    try {
      expect(await pool(STARVED).matcher("text", query("t"), 20)).toEqual({ matches: [], more: false });
    } finally {
      Worker.prototype.cpuUsage = cpuUsage;
    }
  });

  it("is replaced when it dies by itself", async () => {
    const reports: string[] = [];
    const dying = new SearchPool({
      program: new URL(`data:text/javascript,${encodeURIComponent(DYING)}`),
      report: (message) => reports.push(message),
    });
    pools.push(dying);
    expect(await dying.matcher("text", query("t"), 20)).toMatchObject({ problem: "storage" });
    expect(await dying.matcher("text", query("t"), 20)).toMatchObject({ problem: "storage" });
    expect(reports).toHaveLength(2);
    expect(reports[0]).toContain("out of luck");
  });

  it("is not ended for a slow pattern: that is stopped inside, and the thread continues", async () => {
    const real = pool();
    const text = "a".repeat(200_000);
    expect(await real.matcher(text, query("(a?){250}a{250}$"), 60)).toMatchObject({ problem: "timeout" });
    expect(await real.matcher(text, query("b"), 250)).toEqual({ matches: [], more: false });
    expect(real.kills).toBe(0);
  });
});

it("[Q34] a thread that is not needed any more ends by itself, between two steps of its work", async () => {
  const reports: string[] = [];
  const program = `${IMPORT} parentPort.on("message", ({ type }) => { parentPort.postMessage({ type: "begun" });
    if (type === "end") { parentPort.postMessage({ type: "note", message: "ended by itself" }); process.exit(); }
    parentPort.postMessage({ type: "answer", answer: { matches: [], more: false } }); });`;
  const polite = new SearchPool({
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    report: (message) => reports.push(message),
  });
  expect(await polite.matcher("text", query("t"), 1_000)).toEqual({ matches: [], more: false });
  await polite.close();
  expect(reports).toEqual(["ended by itself"]);
});

it("[S80] a thread that hangs is not ended while it is behind its gate", async () => {
  const reports: string[] = [];
  // Behind it for longer than any thread is awaited.
  const program = `import { parentPort, workerData } from "node:worker_threads";
    parentPort.on("message", () => { parentPort.postMessage({ type: "begun" }); Atomics.store(workerData.gate, 0, 1);
      for (const endMs = performance.now() + 3_000; performance.now() < endMs; );
      parentPort.postMessage({ type: "note", message: "out" }); Atomics.store(workerData.gate, 0, 0); for (;;); });`;
  const stuck = new SearchPool({
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    report: (message) => reports.push(message),
  });
  pools.push(stuck);
  expect(await stuck.matcher("text", query("t"), 20)).toMatchObject({ problem: "timeout" });
  await expect.poll(() => reports, { timeout: 10_000 }).toEqual(["out"]);
  await expect.poll(() => stuck.kills, { timeout: 10_000 }).toBe(1);
});

describe.runIf(process.platform === "linux")("[Q19] the thread", () => {
  it("yields to writers", async () => {
    const before = priorities();
    await pool().matcher("text", query("t"), 5_000);
    const searching = priorities().filter((priority) => priority > getPriority());
    expect(searching.length - before.filter((priority) => priority > getPriority()).length).toBe(1);
    expect(getPriority()).toBe(Math.min(...before));
  });
});

/** Of all threads of this program. */
function priorities(): number[] {
  return readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")")).split(" ")[17]);
  });
}

describe("[Q21] waiting searches", () => {
  it("are limited, and all are told when it closes", async () => {
    const stuck = pool(STUCK);
    const asked = Array.from({ length: limits.queuedSearches + 3 }, () =>
      stuck.matcher("text", query("t"), 250),
    );
    const busy = await Promise.all(asked.slice(-2));
    expect(busy).toMatchObject([{ problem: "busy" }, { problem: "busy" }]);
    await stuck.close();
    const answers = await Promise.all(asked.slice(0, -2));
    expect(answers.every((answer) => isProblem(answer) && answer.problem === "unavailable")).toBe(true);
    expect(await stuck.matcher("text", query("t"), 20)).toMatchObject({ problem: "unavailable" });
  });
});

describe("[AC229] the owner's searches", () => {
  /** Answers with its text. */
  const echo = `${IMPORT} parentPort.on("message", ({ text }) => { parentPort.postMessage({ type: "begun" });
    parentPort.postMessage({ type: "answer", answer: { matches: [text], more: false } }); });`;

  it("come before those of others, which cannot take their places", async () => {
    const echoing = pool(echo);
    const order: string[] = [];
    const ask = (name: string, match = echoing.guestMatcher) =>
      match(name, query("t"), 250).then((answer) => {
        order.push(isProblem(answer) ? `${name} ${answer.problem}` : name);
      });
    const guests = Array.from({ length: limits.guestSearches + 2 }, (_, i) => ask(`guest ${i}`));
    const owners = [ask("owner 1", echoing.matcher), ask("owner 2", echoing.matcher)];
    await Promise.all([...guests, ...owners]);
    const busy = `guest ${limits.guestSearches + 1} busy`;
    expect(order.slice(0, 5)).toEqual([busy, "guest 0", "owner 1", "owner 2", "guest 1"]);
  });
});

describe("[Q23] [R36] hostile patterns", () => {
  // Every family has five rules in five sizes; the whole table is in bench/hostile.ts.
  const rows = hostilePatterns.filter((_, row) => row % 12 === 4 || row % 25 === 24);

  it.each([1_024, 1_048_576])(
    "%d characters: each is answered or refused, and so is the next",
    async (chars) => {
      const real = pool();
      const text = hostileText(chars);
      expect(new Set(rows.map((row) => row.family)).size).toBe(8);
      const outcomes = new Map<string, number>();
      for (const { pattern } of rows) {
        const answer = await real.matcher(text, query(pattern), limits.searchDeadlineMs);
        const outcome = isProblem(answer) ? answer.problem : "answer";
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        expect(["answer", "pattern", "timeout"], pattern).toContain(outcome);
      }
      expect(outcomes.get("answer")).toBeGreaterThan(3);
      expect(outcomes.get("pattern")).toBeGreaterThan(1);
      expect(await real.matcher("after all that", query("that"), 250)).toMatchObject({
        matches: [{ start: 10 }],
      });
    },
  );
});
