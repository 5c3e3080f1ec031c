/** What every search thread has in common: how it begins, takes one request after the other, and answers. */
import { parentPort } from "node:worker_threads";
import type { ThreadGate } from "../system/thread-gate.ts";
import { yieldToWriters } from "../system/yield.ts";
import { useGate } from "../system/zstd.ts";
import type { Reply, Request } from "./message.ts";
import { warmUp } from "./stoppable.ts";

type Work = Exclude<Request, { type: "end" }>;

/** Begins to take requests. What `respond` throws is the answer. */
export function serveRequests(gate: ThreadGate["shared"], respond: (request: Work) => Promise<void>): void {
  useGate(gate);
  yieldToWriters();
  warmUp();
  parentPort?.on("message", (request: Request) => {
    if (request.type === "end") process.exit();
    void respond(request).catch((error: unknown) => fail(request, error));
  });
}

export function say(reply: Reply): void {
  parentPort?.postMessage(reply);
}

/** Nobody waits for work on the index: its failure is a note. */
function fail(request: Work, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (request.type === "index") say({ type: "note", message: stack ?? message });
  else say({ type: "failed", message, stack });
}
