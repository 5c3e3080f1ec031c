/**
 * What a page's main thread does while something runs, and the text that is streamed at it. Time is the thread's own:
 * what other programs take of the machine meanwhile does not count.
 */
import type { CDPSession, Page } from "playwright-core";

const WORDS =
  "the model writes a **bold** word, some `code`, a [link](https://example.org) and goes on. ".split(" ");

/** The words of a stream from one number on to another. */
export function wordsOf(from: number, to: number): string {
  let piece = "";
  for (let i = from; i < to; i++) piece += `${WORDS[i % WORDS.length]} ${i % 160 === 159 ? "\n\n" : ""}`;
  return piece;
}

export function textOf(chars: number): string {
  let text = "";
  for (let i = 0; text.length < chars; i++)
    text += `${WORDS[i % WORDS.length]} ${i % 120 === 119 ? "\n\n" : ""}`;
  return text;
}

/** What to trace for `readTrace`. */
export const TRACED = ["toplevel", "cc"];

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
  /** Microseconds of the thread's own time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface Traced {
  /** The tasks of the page's main thread. */
  readonly tasksMs: readonly number[];
  /** What it did from one frame to the next: for so long nothing new could be seen. */
  readonly runsMs: readonly number[];
}

export function readTrace(trace: Buffer): Traced {
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { traceEvents: readonly TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf),
  );
  const named = (wanted: string) =>
    traceEvents
      .filter((event) => event.name === wanted && main.has(threadOf(event)))
      .sort((a, b) => a.ts - b.ts);
  const tasks = named("ThreadControllerImpl::RunTask");
  const frames = named("ProxyMain::BeginMainFrame");
  if (tasks.every(({ tdur }) => tdur === undefined)) throw new Error("the trace has no thread times");
  if (frames.length === 0) throw new Error("the trace has no frames");
  const runsMs: number[] = [];
  let runUs = 0;
  let next = 0;
  for (const { ts, dur = 0, tdur = 0 } of tasks) {
    runUs += tdur;
    if ((frames[next]?.ts ?? Number.POSITIVE_INFINITY) > ts + dur) continue;
    while ((frames[next]?.ts ?? Number.POSITIVE_INFINITY) <= ts + dur) next++;
    runsMs.push(runUs / 1_000);
    runUs = 0;
  }
  return { tasksMs: tasks.map(({ tdur = 0 }) => tdur / 1_000), runsMs };
}

export interface Load {
  readonly tasks: number;
  readonly busySeconds: number;
  readonly seconds: number;
}

/** What the page's main thread did meanwhile. */
export async function measured(page: Page, run: () => Promise<void>): Promise<Load> {
  const cdp = await page.context().newCDPSession(page);
  // The main thread's own time: what other programs take meanwhile does not count.
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(() => {
    const seen = { frames: 0 };
    (window as unknown as { seen: typeof seen }).seen = seen;
    const count = (): void => {
      seen.frames++;
      requestAnimationFrame(count);
    };
    count();
  });
  const started = performance.now();
  const before = await busySeconds(cdp);
  await run();
  const after = await busySeconds(cdp);
  const seen = await page.evaluate(() => (window as unknown as { seen: { frames: number } }).seen);
  return {
    tasks: seen.frames,
    busySeconds: after - before,
    seconds: (performance.now() - started) / 1_000,
  };
}

async function busySeconds(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find((metric) => metric.name === "TaskDuration")?.value ?? Number.NaN;
}
