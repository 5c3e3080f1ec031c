/** A flood over a server, and how long the owner's calls take before, while and after it. For the trial and for its short test. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { FloodOrder, FloodOutcome } from "./flood-load.ts";

export interface Times {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Flooded {
  readonly idle: Times;
  readonly flooded: Times;
  /** From the end of the flood until ten calls in a row took as long as before it. */
  readonly overMs: number;
  readonly outcome: FloodOutcome;
}

const EVERY_MS = 10;

/** A call of the owner's, often. */
export async function probe(call: () => Promise<unknown>, until: Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  while (!isOver) {
    times.push(await timeOf(call));
    await new Promise((next) => setTimeout(next, EVERY_MS));
  }
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return { calls: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

export async function flood(
  order: FloodOrder,
  idleSeconds: number,
  call: () => Promise<unknown>,
): Promise<Flooded> {
  const pause = (ms: number) => new Promise((over) => setTimeout(over, ms));
  await probe(call, pause(1_000)); // nobody measures programs that have just started
  const idle = await probe(call, pause(idleSeconds * 1_000));
  const load: ChildProcess = fork(new URL("./flood-load.ts", import.meta.url), { stdio: "inherit" });
  const ended = once(load, "message") as Promise<[FloodOutcome]>;
  load.send(order);
  const flooded = await probe(call, ended);
  const [outcome] = await ended;
  const overMs = await timeOf(async () => {
    for (let quick = 0; quick < 10; ) quick = (await timeOf(call)) <= idle.p99Ms ? quick + 1 : 0;
  });
  return { idle, flooded, overMs, outcome };
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}
