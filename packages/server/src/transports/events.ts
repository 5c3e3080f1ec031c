/**
 * The `llm_*` events over SSE and sockets: the query of both transports, server-sent events with ids, and the flat
 * format for older clients. llm-follower.ts decides what is sent.
 */

import {
  isPassing,
  isProblem,
  type Kernel,
  type LlmEvent,
  legacy,
  type Problem,
  patiently,
  problem,
} from "@blockyard/kernel";
import { bounds } from "./limits.ts";
import { type Following, followLlm, type LlmSource, type LlmStart } from "./llm-follower.ts";

type EventFormat = "blocks" | "legacy";

export interface EventQuery extends LlmStart {
  readonly format: EventFormat;
}

/** What a reader asks for. `lastId`: where its browser stopped; that is newer than what the address says. */
export function eventQuery(
  given: Readonly<Record<string, string | undefined>>,
  lastId?: string,
): EventQuery | Problem {
  const { format = "blocks", since, from } = given;
  if (format !== "blocks" && format !== "legacy")
    return problem("invalid", `unknown format ${format.slice(0, 40)}. Use blocks or legacy`, {
      formats: ["blocks", "legacy"],
    });
  const cursor = lastId || since;
  if (cursor !== undefined && (cursor.length > 200 || !/^[\w-]+\.\d+$/.test(cursor)))
    return problem("invalid", "since must be a cursor from an event: its `cursor` or its id");
  return { format, since: cursor, from };
}

export async function eventStream(
  kernel: LlmSource & Pick<Kernel, "env">,
  conversation: string,
  { format, ...start }: EventQuery,
  rest: () => Promise<void> = async () => undefined,
): Promise<ReadableStream<Uint8Array> | Problem> {
  const stream = new SseStream();
  const sink = {
    write: (events: readonly LlmEvent[]) => stream.write(events.map((event) => sse(event, format)).join("")),
    reset: () => stream.write('event: llm_reset\ndata: {"type":"llm_reset"}\n\n'),
    // An id without data: a browser keeps it and tells nobody.
    opened: (cursor: string) => stream.write(`id: ${cursor}\n\n`),
    ready: async () => {
      await rest();
      await stream.ready();
    },
    slow: () => stream.cut(),
  };
  const follow = () => followLlm(kernel, conversation, start, sink);
  const begin = (following: Following | Problem) => {
    if (isProblem(following)) return stream.cut();
    stream.onEnd(() => following.stop());
    following.opened.catch(() => stream.cut());
  };
  const following = await patiently(kernel.env, follow, 0);
  if (isProblem(following) && isPassing(following)) {
    // A browser does not come back after an error status: the stream is open, and tells when the store is back.
    patiently(kernel.env, follow).then(begin, () => stream.cut());
    return stream.readable;
  }
  begin(following);
  if (isProblem(following)) return following;
  return stream.readable;
}

/** Server-sent events with a bound on what waits for the reader. */
export class SseStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stop: (() => void) | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;
  readonly #keepAlive: NodeJS.Timeout;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wake?.(),
        cancel: () => this.#end(),
      },
      { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    this.#keepAlive = setInterval(() => this.write(": still here\n\n"), bounds.keepAliveMs);
    this.#keepAlive.unref();
    this.write(": open\n\n");
  }

  write(text: string): void {
    if (text === "" || this.#isOver || !this.#controller) return;
    this.#controller.enqueue(Buffer.from(text));
    if ((this.#controller.desiredSize ?? 0) < -bounds.queuedBytes) this.cut();
  }

  /** Resolves when little waits for the reader, or nobody reads any more. */
  async ready(): Promise<void> {
    while (!this.#isOver && (this.#controller?.desiredSize ?? 0) < -bounds.readyBytes) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }

  /** Ends it for a reader that was too slow: what waits is let go of. */
  cut(): void {
    if (this.#isOver) return;
    this.#controller?.error(new Error("the reader was too slow"));
    this.#end();
  }

  onEnd(stop: () => void): void {
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#keepAlive);
    this.#wake?.();
    this.#stop?.();
    this.#stop = undefined;
  }
}

/** An event as it is sent; undefined: nothing for this format. */
export function formatted(event: LlmEvent, format: EventFormat): object | undefined {
  return format === "legacy" ? legacy(event) : event;
}

function sse(event: LlmEvent, format: EventFormat): string {
  const data = formatted(event, format);
  const id = event.cursor === undefined ? "" : `id: ${event.cursor}\n`;
  if (data === undefined) return id === "" ? "" : `${id}\n`;
  return `event: ${String((data as { type: unknown }).type)}\n${id}data: ${JSON.stringify(data)}\n\n`;
}
