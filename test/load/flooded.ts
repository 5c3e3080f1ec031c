/** A flood over a server, and how long the owner's calls take before, while and after it. For the trial and for its short test. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { FloodOrder, FloodOutcome } from "./flood-load.ts";

export interface Times {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Processor time of the server's main thread from asking to the answer: what other programs on the machine do not lengthen. */
  readonly workP99Ms: number;
}

export interface Flooded {
  readonly idle: Times;
  /** The same flood, aimed at another program: what the busy machine alone costs. */
  readonly elsewhere: Times;
  readonly flooded: Times;
  /** From the end of the flood until ten calls in a row took as long as before it. */
  readonly overMs: number;
  readonly outcome: FloodOutcome;
}

const EVERY_MS = 10;

/** The owner's call, and the server that answers it. */
export interface Owner {
  readonly pid: number;
  call(): Promise<unknown>;
}

/** A call of the owner's, often. */
export async function probe(owner: Owner, until: Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  const works: number[] = [];
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const before = workMs(owner.pid);
    times.push(await timeOf(owner.call));
    works.push(workMs(owner.pid) - before);
    await new Promise((next) => setTimeout(next, EVERY_MS));
  }
  const at = (part: number) => quantile(times, part);
  const workP99Ms = quantile(works, 0.99);
  return { calls: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), workP99Ms };
}

function quantile(values: number[], part: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
}

/** What a process's main thread has worked so far. */
function workMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

export async function flood(order: FloodOrder, idleSeconds: number, owner: Owner): Promise<Flooded> {
  const pause = (ms: number) => new Promise((over) => setTimeout(over, ms));
  await probe(owner, pause(1_000)); // nobody measures programs that have just started
  const idle = await probe(owner, pause(idleSeconds * 1_000));
  const elsewhere = await floodElsewhere(order, idleSeconds, owner);
  const ended = sent(order);
  const flooded = await probe(owner, ended);
  const outcome = await ended;
  const overMs = await timeOf(async () => {
    for (let quick = 0; quick < 10; ) quick = (await timeOf(owner.call)) <= idle.p99Ms ? quick + 1 : 0;
  });
  return { idle, elsewhere, flooded, overMs, outcome };
}

async function floodElsewhere(order: FloodOrder, seconds: number, owner: Owner): Promise<Times> {
  const control = fork(new URL("./flood-control.ts", import.meta.url), { stdio: "inherit" });
  const [port] = (await once(control, "message")) as [number];
  const times = await probe(owner, sent({ ...order, url: `http://127.0.0.1:${port}`, seconds }));
  control.disconnect();
  await once(control, "exit");
  return times;
}

/** The flood itself, to its end. */
async function sent(order: FloodOrder): Promise<FloodOutcome> {
  const load: ChildProcess = fork(new URL("./flood-load.ts", import.meta.url), { stdio: "inherit" });
  const ended = once(load, "message") as Promise<[FloodOutcome]>;
  load.send(order);
  return (await ended)[0];
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}
