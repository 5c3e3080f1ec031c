/**
 * `llm_*` events: a conversation's turns for simple clients, over SSE and over a WebSocket. What runs now is told from
 * its beginning, then everything live: listen first, then read, then leave out what the reading has told already. A
 * reader that does not keep up is cut; it comes back and is told anew what runs then.
 */

import {
  type BlockId,
  isProblem,
  type Kernel,
  type LlmEvent,
  LlmEvents,
  legacy,
  type Op,
  type Problem,
  type Told,
} from "@blockyard/kernel";
import { bounds } from "./bounds.ts";

export type EventFormat = "blocks" | "legacy";

const PAGE = 1_000;

/** As much of the kernel as a reader needs. */
export type LlmSource = Pick<Kernel, "conversation" | "follow" | "listen" | "turns" | "blocks" | "read">;

/** Tells `write` everything; answers with how to stop. `write` is called in order and never after the stop. */
export async function followLlm(
  kernel: LlmSource,
  conversation: string,
  write: (events: readonly LlmEvent[]) => void,
): Promise<(() => void) | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const follower = new Follower();
  let held: Told[] | undefined = [];
  const stop = await kernel.follow(conversation);
  if (isProblem(stop)) return stop;
  const end = kernel.listen((told) => {
    if (told.conversation !== conversation) return;
    if (held) held.push(told);
    else write(follower.commit(told));
  });
  const unlisten = () => {
    end();
    stop();
  };
  const opening = await follower.open(kernel, conversation);
  if (isProblem(opening)) {
    unlisten();
    return opening;
  }
  write(opening);
  for (const told of held) write(follower.commit(told));
  held = undefined;
  return unlisten;
}

/** Events of one reader: the kernel's, without what the opening has told and without what is told twice. */
class Follower {
  readonly #events = new LlmEvents();
  /** Versions that the opening has told. */
  readonly #told = new Map<BlockId, number>();
  /** Turns whose end has been told, or was before the opening. */
  readonly #ended = new Set<string>();

  async open(kernel: LlmSource, conversation: string): Promise<readonly LlmEvent[] | Problem> {
    const turns = await kernel.turns(conversation);
    if (isProblem(turns)) return turns;
    for (const { id, status } of turns) if (status !== "running") this.#ended.add(id);
    const running = turns.filter(({ status }) => status === "running");
    if (running.length === 0) return [];
    const blocks = await blocksOf(kernel, conversation, new Set(running.map(({ id }) => id)));
    if (isProblem(blocks)) return blocks;
    for (const { block } of blocks) this.#told.set(block.id, block.version);
    return running.flatMap((turn) =>
      this.#events.catchUp(
        turn,
        blocks.filter(({ block }) => block.metadata["turn"] === turn.id),
      ),
    );
  }

  commit({ ops, blocks }: Told): readonly LlmEvent[] {
    const fresh = ops.filter((op) => this.#isFresh(op));
    return fresh.length === 0 ? [] : this.#events.commit(fresh, blocks);
  }

  #isFresh({ block, version, body }: Op): boolean {
    if (body.type === "turn") {
      const { id, status } = body.turn;
      if (this.#ended.has(id)) return false;
      if (status !== "running") this.#ended.add(id);
      return true;
    }
    const told = block === null ? undefined : this.#told.get(block);
    if (told === undefined || block === null) return true;
    if (version <= told) return false;
    this.#told.delete(block);
    return true;
  }
}

async function blocksOf(kernel: LlmSource, conversation: string, turns: ReadonlySet<string>) {
  const found = [];
  let after = 0;
  for (;;) {
    const page = await kernel.blocks({ conversation, after, order: "first", limit: PAGE });
    if (isProblem(page)) return page;
    for (const { id, born, metadata } of page) {
      after = born;
      if (!turns.has(String(metadata["turn"] ?? ""))) continue;
      const read = await kernel.read(id);
      if (isProblem(read)) return read;
      found.push({ block: read.block, text: read.text.toString() });
    }
    if (page.length < PAGE) return found;
  }
}

export async function eventStream(
  kernel: Kernel,
  conversation: string,
  format: EventFormat,
): Promise<ReadableStream<Uint8Array> | Problem> {
  const stream = new SseStream();
  const stop = await followLlm(kernel, conversation, (events) => {
    stream.write(events.map((event) => sse(event, format)).join(""));
  });
  if (isProblem(stop)) return stop;
  stream.onEnd(stop);
  return stream.readable;
}

/** Server-sent events with a bound on what waits for the reader. */
export class SseStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stop: (() => void) | undefined;
  #isOver = false;
  readonly #keepAlive: NodeJS.Timeout;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
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
    if ((this.#controller.desiredSize ?? 0) >= -bounds.queuedBytes) return;
    this.#controller.error(new Error("the reader was too slow")); // and what waits is let go of
    this.#end();
  }

  onEnd(stop: () => void): void {
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#keepAlive);
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
  if (data === undefined) return "";
  return `event: ${String((data as { type: unknown }).type)}\ndata: ${JSON.stringify(data)}\n\n`;
}
