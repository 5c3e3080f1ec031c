/**
 * The thread that makes exports: lines of a conversation in, pieces of a file out. It asks for what it needs and waits until
 * each piece is taken. It keeps nothing between two exports, and counts on being ended at any time. Started by export-pool.ts.
 */

import { parentPort } from "node:worker_threads";
import type { ExportLine } from "@blockyard/kernel";
import { yieldToWriters } from "../system/yield.ts";
import { exportAs } from "./export.ts";
import type { FromThread, ToThread } from "./message.ts";

const heard: ((message: ToThread) => void)[] = [];

yieldToWriters();
parentPort?.on("message", (message: ToThread) => {
  if (message.type === "begin") void make(message);
  else heard.shift()?.(message);
});

async function make({ format, redact }: ToThread & { type: "begin" }): Promise<void> {
  try {
    const found = redact ? () => undefined : undefined;
    for await (const piece of exportAs(format, { lines, raw, redact: found })) {
      const more = next();
      say({ type: "piece", piece });
      await more;
    }
    say({ type: "done" });
  } catch (error) {
    say({ type: "failed", message: (error as Error).message });
  }
}

async function* lines(): AsyncGenerator<ExportLine> {
  for (;;) {
    const message = await wanted();
    if (message.type !== "lines" || message.lines.length === 0) return;
    yield* message.lines;
  }
}

async function* raw(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const message = await wanted();
    if (message.type !== "bytes" || message.bytes === undefined) return;
    yield message.bytes;
  }
}

function wanted(): Promise<ToThread> {
  const message = next();
  say({ type: "want" });
  return message;
}

function next(): Promise<ToThread> {
  return new Promise((hear) => heard.push(hear));
}

function say(message: FromThread): void {
  parentPort?.postMessage(message);
}
