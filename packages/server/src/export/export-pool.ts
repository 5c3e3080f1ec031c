/**
 * Makes exports off the main thread: agents' text is rendered, highlighted and searched for secrets in a thread that
 * can be terminated if its reader has gone, if one piece takes too long, or if it needs too much memory. The owner has
 * a thread; all others share one and queue for it.
 *
 * Invariant: an export that does not finish throws; an incomplete one never looks complete.
 */

import { Worker } from "node:worker_threads";
import { type ExportLine, limits, type Problem, problem, StreamProblem } from "@blockyard/kernel";
import type { Format } from "./format.ts";
import { SENT_CHARS, SENT_LINES, THREAD_MB } from "./limits.ts";
import type { FromThread, ToThread } from "./message.ts";

interface ExportSource {
  readonly format: Format;
  readonly redact: boolean;
  readonly lines: () => AsyncIterable<ExportLine>;
  readonly raw: () => AsyncIterable<Uint8Array>;
}

export class ExportPool {
  readonly #owner: ExportThread;
  readonly #others: ExportThread;

  /** `program`: the threads', where it is not the one beside this file. */
  constructor(
    program = new URL("./export.worker.ts", import.meta.url),
    pieceMs: number = limits.exportPieceMs,
  ) {
    this.#owner = new ExportThread(program, pieceMs);
    this.#others = new ExportThread(program, pieceMs);
  }

  make(source: ExportSource, isOwners: boolean): AsyncGenerator<string | Uint8Array> {
    return (isOwners ? this.#owner : this.#others).make(source);
  }

  async close(): Promise<void> {
    await Promise.all([this.#owner.close(), this.#others.close()]);
  }
}

class ExportThread {
  readonly #program: URL;
  readonly #pieceMs: number;
  #worker: Worker | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(program: URL, pieceMs: number) {
    this.#program = program;
    this.#pieceMs = pieceMs;
  }

  async *make(source: ExportSource): AsyncGenerator<string | Uint8Array> {
    if (this.#waiting >= limits.queuedExports) throw new StreamProblem(BUSY);
    const before = this.#last;
    let leave = () => {};
    this.#last = new Promise((left) => {
      leave = left;
    });
    this.#waiting++;
    let isWhole = false;
    try {
      await before;
      yield* this.#made(source);
      isWhole = true;
    } finally {
      if (!isWhole) this.close();
      this.#waiting--;
      leave();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async *#made({ format, redact, lines, raw }: ExportSource): AsyncGenerator<string | Uint8Array> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const input = format === "raw" ? bytesFrom(raw()) : linesFrom(lines());
    let message: ToThread = { type: "begin", format, redact };
    try {
      for (;;) {
        const reply = await this.#ask(worker, message);
        if (reply.type === "done") return;
        if (reply.type === "failed") throw new StreamProblem(problem("unavailable", reply.message));
        if (reply.type === "piece") {
          yield reply.piece;
          message = { type: "more" };
        } else message = (await input.next()).value;
      }
    } finally {
      // What a generator that is ended gives back, nobody reads.
      await input.return(undefined as never);
    }
  }

  /** One message for one; whoever does not answer in time is ended. */
  #ask(worker: Worker, message: ToThread): Promise<FromThread> {
    return new Promise((hear, fail) => {
      const off = () => {
        clearTimeout(timer);
        worker.off("message", answered).off("error", ended).off("exit", ended);
      };
      const refuse = (why: Problem) => {
        off();
        fail(new StreamProblem(why));
      };
      const answered = (reply: FromThread) => {
        off();
        hear(reply);
      };
      const ended = () => refuse(TOO_LARGE);
      const timer = setTimeout(() => refuse(TOO_LATE), this.#pieceMs);
      worker.on("message", answered).on("error", ended).on("exit", ended);
      worker.postMessage(message);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#program, {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
    });
    worker.unref();
    worker.on("error", () => undefined); // told to whoever has asked
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}

/** Batches of lines, then an empty one. */
async function* linesFrom(lines: AsyncIterable<ExportLine>): AsyncGenerator<ToThread, ToThread> {
  let batch: ExportLine[] = [];
  let chars = 0;
  for await (const line of lines) {
    batch.push(line);
    if (line.type === "block") chars += line.content.length;
    if (batch.length < SENT_LINES && chars < SENT_CHARS) continue;
    yield { type: "lines", lines: batch };
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield { type: "lines", lines: batch };
  return { type: "lines", lines: [] };
}

async function* bytesFrom(runs: AsyncIterable<Uint8Array>): AsyncGenerator<ToThread, ToThread> {
  for await (const bytes of runs) yield { type: "bytes", bytes };
  return { type: "bytes", bytes: undefined };
}

const BUSY = problem("busy", `${limits.queuedExports} exports are already queued; try again`, {
  waiting: limits.queuedExports,
  retry_ms: 1_000,
});
const TOO_LATE = problem("timeout", "one of the blocks takes too long to render; export as jsonl instead");
const TOO_LARGE = problem("too_large", "this export needs too much memory; export as jsonl instead");
