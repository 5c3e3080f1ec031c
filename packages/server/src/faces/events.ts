/**
 * `llm_*` events over SSE: a conversation's turns for simple clients. What runs now is told from its beginning, then
 * everything live. A reader that does not keep up is cut; it comes back and is told anew what runs then.
 */

import {
  isProblem,
  type Kernel,
  type LlmEvent,
  LlmEvents,
  legacy,
  type Problem,
  type Told,
} from "@blockyard/kernel";

const MAX_QUEUED = 4 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

export async function eventStream(
  kernel: Kernel,
  conversation: string,
  format: "blocks" | "legacy",
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const events = new LlmEvents();
  const held: Told[] = [];
  let send: ((told: Told) => void) | undefined;
  // Listen first, then read: nothing falls between.
  const unlisten = kernel.listen((told) => {
    if (told.conversation !== conversation) return;
    if (send) send(told);
    else held.push(told);
  });
  const opening = await running(kernel, conversation, events);
  if (isProblem(opening)) {
    unlisten();
    return opening;
  }
  let keepAlive: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          unlisten();
          clearInterval(keepAlive);
          try {
            controller.close();
          } catch {
            // closed by the reader
          }
        };
        const write = (list: readonly LlmEvent[]) => {
          const text = list.map((event) => sse(event, format)).join("");
          if (text === "") return;
          controller.enqueue(Buffer.from(text));
          if ((controller.desiredSize ?? 0) < -MAX_QUEUED) end();
        };
        keepAlive = setInterval(() => controller.enqueue(Buffer.from(": still here\n\n")), KEEP_ALIVE_MS);
        keepAlive.unref();
        signal.addEventListener("abort", end, { once: true });
        write(opening.events);
        send = (told) => write(events.commit(told.ops, told.blocks));
        for (const told of held) if (told.record.seq > opening.seq) send(told);
      },
      cancel() {
        unlisten();
        clearInterval(keepAlive);
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  );
}

/** The turns that run now, told from their beginning. */
async function running(
  kernel: Kernel,
  conversation: string,
  events: LlmEvents,
): Promise<{ events: LlmEvent[]; seq: number } | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const told: LlmEvent[] = [];
  for (const turn of turns) {
    if (turn.status !== "running") continue;
    const blocks = await kernel.store.blocks({ conversation, order: "first", limit: 100_000 });
    const own = blocks.filter(({ metadata, born }) => metadata["turn"] === turn.id && born <= record.seq);
    const whole = await Promise.all(
      own.map(async (block) => ({ block, text: await kernel.store.text(block.id) })),
    );
    told.push(...events.catchUp(turn, whole));
  }
  return { events: told, seq: record.seq };
}

function sse(event: LlmEvent, format: "blocks" | "legacy"): string {
  const data = format === "legacy" ? legacy(event) : event;
  return data === undefined
    ? ""
    : `event: ${String(data["type" as keyof typeof data])}\ndata: ${JSON.stringify(data)}\n\n`;
}
