/**
 * What a person feels of the page: how long after its arrival a word is painted, what is fetched that nobody sees, what a
 * very long session costs to open, and what a day of visits leaves behind. In Chromium, on a real server.
 */
import type { CDPSession, Page } from "playwright-core";
import { newConversation, type PageHarness, say } from "../../test/e2e/page/harness.ts";
import { quantile, type Report } from "../bench.ts";
import { textOf } from "./load.ts";

const PAINT_SECONDS = 20;
const TICK_MS = 16;
const WORDS_PER_TICK = 4;
const RESULTS = 40;
/** Of one closed result. */
const LINES = 2_000;
export const GIANT_LINES = 20_000;
const VISITS = 50;
const EARLY_VISITS = 10;

/** What the page notes of a stream whose words are numbered: `w1 w2 w3 …`. */
interface Felt {
  /** When the frame with each word came, by the word's number. */
  readonly came: Map<number, number>;
  readonly lateMs: number[];
  shown: number;
}

/** From the moment that a frame is received until its words are painted; the 95th percentile. */
export async function paintP95Ms(harness: PageHarness, report: Report): Promise<number> {
  const conversation = await newConversation(harness.kernel, "numbered words");
  const [block = ""] = await say(harness.kernel, conversation, [{ text: "w0 ", status: "running" }]);
  const { page, context } = await harness.open("/");
  await page.addInitScript(noteFrames);
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await page.waitForSelector(`[data-block="${block}"] .md`);
  await page.evaluate(notePaints, block);
  let word = 0;
  for (const since = performance.now(); performance.now() - since < PAINT_SECONDS * 1_000; ) {
    let piece = "";
    for (let i = 0; i < WORDS_PER_TICK; i++) piece += `w${++word} ${word % 120 === 0 ? "\n\n" : ""}`;
    harness.kernel.append(block, "tester", piece);
    await new Promise((resume) => setTimeout(resume, TICK_MS));
  }
  await page.waitForFunction((last) => (window as { felt?: Felt }).felt?.shown === last, word);
  const lateMs = await page.evaluate(() => (window as { felt?: Felt }).felt?.lateMs ?? []);
  await context.close();
  if (lateMs.length < word / 2) throw new Error(`only ${lateMs.length} of ${word} words were seen painted`);
  report.note(
    `of ${lateMs.length} words painted: median ${quantile(lateMs, 0.5).toFixed(1)} ms after their frame, p95 ${quantile(lateMs, 0.95).toFixed(1)} ms, worst ${Math.max(...lateMs).toFixed(0)} ms`,
  );
  return quantile(lateMs, 0.95);
}

/** Runs in the page, before its own scripts: when did the frame with each word come? */
function noteFrames(): void {
  const felt: Felt = { came: new Map(), lateMs: [], shown: 0 };
  Object.assign(window, { felt });
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args: ConstructorParameters<typeof Socket>) {
      super(...args);
      this.addEventListener("message", ({ data, timeStamp }) => {
        if (typeof data !== "string") return;
        for (const [, n] of data.matchAll(/\bw(\d+)\b/g)) {
          if (!felt.came.has(Number(n))) felt.came.set(Number(n), timeStamp);
        }
      });
    }
  };
}

/** Runs in the page: when was each word painted? A task behind a frame's callbacks runs when that frame has been made. */
function notePaints(block: string): void {
  const { felt } = window as unknown as { felt: Felt };
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const last = felt.shown;
    const texts = [...document.querySelectorAll(`[data-block="${block}"] .md p`)].slice(-2);
    for (const { textContent } of texts) {
      for (const [, n] of (textContent ?? "").matchAll(/\bw(\d+)\b/g))
        felt.shown = Math.max(felt.shown, Number(n));
    }
    const now = performance.now();
    for (let n = last + 1; n <= felt.shown; n++) {
      const came = felt.came.get(n);
      if (came !== undefined) felt.lateMs.push(now - came);
    }
  };
  const each = (): void => {
    channel.port2.postMessage(0);
    requestAnimationFrame(each);
  };
  each();
}

/**
 * What opening a conversation with long closed results receives beyond what it receives where the same results are just as
 * long as what is shown of them: their head and tail.
 */
export async function fetchedUnseenKb(harness: PageHarness, report: Report): Promise<number> {
  const long = await fillResults(harness, LINES);
  const short = await fillResults(harness, 12);
  const [longKb, shortKb] = [await receivedKb(harness, long), await receivedKb(harness, short)];
  report.note(
    `expanding ${RESULTS} collapsed results of ${LINES} lines received ${longKb.toFixed(0)} KB, of 12 lines ${shortKb.toFixed(0)} KB`,
  );
  return Math.max(0, Math.round(longKb - shortKb));
}

async function fillResults(harness: PageHarness, lines: number): Promise<string> {
  const conversation = await newConversation(harness.kernel, `results of ${lines} lines`);
  for (let i = 0; i < RESULTS; i++) {
    const text = Array.from({ length: lines }, (_, line) => `${i} line ${line} of what it printed`).join(
      "\n",
    );
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const call = draft.create({
          kind: "tool_call",
          role: "model",
          status: "done",
          text: '{"command":"make"}',
          metadata: { toolUseId: `call-${i}`, toolName: "Bash", stage: "end", input: { command: "make" } },
        });
        if ("problem" in call) return call;
        return draft.create({
          kind: "command",
          role: "tool",
          status: "done",
          parent: call.id,
          side: true,
          text,
          metadata: { toolUseId: `call-${i}`, toolName: "Bash", command: "make", exitCode: 0 },
        });
      },
    });
  }
  await say(harness.kernel, conversation, [{ text: "All of it is made." }]);
  return conversation;
}

async function receivedKb(harness: PageHarness, conversation: string): Promise<number> {
  const { page, context } = await harness.open("/");
  let bytes = 0;
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  cdp.on("Network.webSocketFrameReceived", ({ response }) => {
    bytes += response.payloadData.length;
  });
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await page.getByText("All of it is made.").waitFor();
  await page.waitForTimeout(1_500); // whatever it fetches behind the first paint
  await context.close();
  return bytes / 1_000;
}

/** From navigation until the end of a session of very many lines is painted, and what it takes of the heap. */
export async function giantSession(
  harness: PageHarness,
  report: Report,
): Promise<{ giantOpenMs: number; giantHeapMb: number }> {
  const conversation = await newConversation(harness.kernel, `${GIANT_LINES} lines`);
  for (let i = 0; i < GIANT_LINES; i += 400) {
    await say(
      harness.kernel,
      conversation,
      Array.from({ length: 400 }, (_, j) => ({ text: `Line ${i + j}. ${textOf(((i + j) * 37) % 400)}` })),
    );
  }
  const { page, context } = await harness.open("/");
  const since = performance.now();
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await page.getByText(`Line ${GIANT_LINES - 1}.`).waitFor();
  const giantOpenMs = performance.now() - since;
  const giantHeapMb = (await heapBytes(await context.newCDPSession(page))) / 1e6;
  await context.close();
  report.note(
    `a session of ${GIANT_LINES} blocks is shown after ${giantOpenMs.toFixed(0)} ms, with a heap of ${giantHeapMb.toFixed(1)} MB`,
  );
  return { giantOpenMs, giantHeapMb };
}

/** A day in one tab: the heap after many visited conversations, over that after a few. */
export async function dayHeapRatio(harness: PageHarness, report: Report): Promise<number> {
  const conversations: string[] = [];
  for (let i = 0; i < VISITS; i++) {
    const conversation = await newConversation(harness.kernel, `visit ${i}`);
    const texts = Array.from({ length: 60 }, (_, j) => ({ text: `Block ${j}. ${textOf(2_000)}` }));
    await say(harness.kernel, conversation, texts);
    conversations.push(conversation);
  }
  const { page, context } = await harness.open("/");
  const cdp = await context.newCDPSession(page);
  let early = Number.NaN;
  for (const [i, conversation] of conversations.entries()) {
    await visit(page, conversation);
    if (i + 1 === EARLY_VISITS) early = await heapBytes(cdp);
  }
  const late = await heapBytes(cdp);
  await context.close();
  report.note(
    `heap after ${EARLY_VISITS} visited conversations ${(early / 1e6).toFixed(1)} MB, after ${VISITS} ${(late / 1e6).toFixed(1)} MB`,
  );
  return late / early;
}

/** As a click in the list does it: the page stays. */
async function visit(page: Page, conversation: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `/c/${conversation}`);
  await page.waitForSelector(`[data-block^="${conversation}/"]`);
  await page.mouse.move(700, 400);
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -1_500);
}

export async function heapBytes(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  return usedSize;
}
