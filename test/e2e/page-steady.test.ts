/**
 * What a reader looks at stays where it is, over the recordings of every provider: while blocks arrive, while older ones come
 * in above, when a picture is loaded, when the window changes its size, and when anything is opened or closed, at the end of
 * the conversation and above it. `EVERY=1` takes all recordings; a plain run takes those few that show the most.
 */
import { type BlockEvent, Ingest } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StreamIngest } from "../../packages/server/src/ingest/ingest-stream.ts";
import { bytesOf, logFilesOf, type Recording } from "../recordings.ts";
import { isEvery, variedRecordings } from "../variety.ts";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";
import { pressAll } from "./page/presses.ts";
import { toEnd, wheelUp } from "./page/reader.ts";

const RECORDINGS = 12;
const PIECES = 6;
/** More than are loaded at first, so that older ones come in. */
const OLDER_BLOCKS = 130;
const MAX_PX = 1;
const SIZE = { width: 1_000, height: 600 };
/** A black square of 300 by 300 pixels: its size is known when it is decoded, and not before. */
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAASwAAAEsAQAAAABRBrPYAAAAIklEQVR4nO3BMQEAAADCoPVPbQo/oAAAAAAAAAAAAAAAeBkttAABZnQzZAAAAABJRU5ErkJggg==";

const chosen = variedRecordings(RECORDINGS);

let harness: PageHarness;
let page: Page;
let complaints: readonly string[] = [];
let events = 0;
let worst = 0;

beforeAll(async () => {
  harness = await openHarness();
  const visit = await harness.open("/", SIZE);
  page = visit.page;
  complaints = visit.complaints;
}, 180_000);

afterAll(async () => {
  if (isEvery) console.info(`${chosen.length} recordings, ${events} events, at most ${worst} px`);
  await harness?.close();
});

/** Watches the rows on the screen from now on, frame by frame. */
async function watch(from: "top" | "bottom"): Promise<() => Promise<number>> {
  await page.evaluate((edge) => {
    const list = document.querySelector(".list") as HTMLElement;
    const seen = { off: 0, isOver: false };
    Object.assign(window, { seen });
    const padPx = Number.parseFloat(getComputedStyle(list).paddingBottom);
    const placesNow = () => {
      const box = list.getBoundingClientRect();
      const rows = [...document.querySelectorAll<HTMLElement>(".list-row")].map((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return { key: row.dataset["key"] ?? "", top, bottom };
      });
      const shown = rows.filter(({ top, bottom }) => bottom > box.top + 1 && top < box.bottom - 1);
      return edge === "top"
        ? shown.filter(({ top }) => top >= box.top).map(({ key, top }) => [key, top - box.top] as const)
        : rows.slice(-1).map(({ key, bottom }) => [key, Math.max(bottom - box.bottom, -padPx)] as const);
    };
    // The first row that begins on the screen and is still there; at the end, where the last row ends.
    const before = placesNow();
    // Below an end that is followed room may be left, which fills again [V128]; the end is never out of sight.
    const away = (px: number) => (edge === "top" ? Math.abs(px) : Math.max(0, px));
    const look = (): void => {
      const now = new Map(placesNow());
      const [key, place] = before.find(([each]) => now.has(each)) ?? [];
      if (key !== undefined && place !== undefined)
        seen.off = Math.max(seen.off, away((now.get(key) as number) - place));
      if (!seen.isOver) requestAnimationFrame(afterFrame);
    };
    // Behind what observers of sizes do in a frame: what is looked at is what was drawn, in a window of one size.
    const afterFrame = () => {
      const [width, height] = [innerWidth, innerHeight];
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        if (innerWidth === width && innerHeight === height) look();
        else requestAnimationFrame(afterFrame);
      };
      port2.postMessage(0);
    };
    afterFrame();
  }, from);
  return () =>
    page.evaluate(async () => {
      for (let i = 0; i < 4; i++) await new Promise((done) => requestAnimationFrame(done));
      const { seen } = window as unknown as { seen: { off: number; isOver: boolean } };
      seen.isOver = true;
      return Math.round(seen.off * 10) / 10;
    });
}

/** Watches how far rows on the screen move apart or together, in one frame, while the reader's hand moves them all. */
async function watchTorn(): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const box = (document.querySelector(".list") as HTMLElement).getBoundingClientRect();
    const seen = { off: 0, isOver: false };
    Object.assign(window, { seen });
    let known = new Map<string, number>();
    const look = (): void => {
      const now = new Map<string, number>();
      for (const row of document.querySelectorAll<HTMLElement>(".list-row")) {
        const { top, bottom } = row.getBoundingClientRect();
        if (bottom > box.top && top < box.bottom) now.set(row.dataset["key"] ?? "", top);
      }
      const moves = [...now].flatMap(([key, at]) =>
        known.has(key) ? [at - (known.get(key) as number)] : [],
      );
      if (moves.length > 0) seen.off = Math.max(seen.off, Math.max(...moves) - Math.min(...moves));
      known = now;
      if (!seen.isOver) requestAnimationFrame(afterFrame);
    };
    const afterFrame = () => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = look;
      port2.postMessage(0);
    };
    afterFrame();
  });
  return () =>
    page.evaluate(() => {
      const { seen } = window as unknown as { seen: { off: number; isOver: boolean } };
      seen.isOver = true;
      return Math.round(seen.off * 10) / 10;
    });
}

/** Gives a recording to the server piece by piece; what is returned gives the next one and says whether there was one. */
async function player(recording: Recording, conversation: string): Promise<() => Promise<boolean>> {
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  const isLog = recording.source === "log";
  const ingest = isLog
    ? new Ingest(harness.kernel, { conversation, agent: provider.name, keep: true, from: 1.7e12 })
    : new StreamIngest(harness.kernel, { conversation, agent: provider.name, provider });
  await ingest.open();
  const whole: readonly BlockEvent[] | Uint8Array = isLog
    ? (provider.importLog?.(logFilesOf(recording), "log") ?? [])
    : bytesOf(recording);
  const size = Math.max(1, Math.ceil(whole.length / PIECES));
  let at = 0;
  return async () => {
    if (at >= whole.length) {
      await (ingest instanceof Ingest ? ingest.finish() : ingest.end());
      return false;
    }
    const piece = whole.slice(at, at + size);
    if (ingest instanceof Ingest) await ingest.push(piece as readonly BlockEvent[]);
    else await ingest.push(piece as Uint8Array);
    at += size;
    return true;
  };
}

async function frames(count: number): Promise<void> {
  await page.evaluate(async (left) => {
    for (let i = 0; i < left; i++) await new Promise((done) => requestAnimationFrame(done));
  }, count);
}

test.each(chosen)(
  "[V1] [V31] nothing that is read moves, in $name",
  async (recording) => {
    const conversation = await newConversation(harness.kernel, recording.name);
    await say(
      harness.kernel,
      conversation,
      Array.from({ length: OLDER_BLOCKS }, (_, i) => ({
        text:
          i % 20 === 15
            ? `Picture ${i}\n\n![p](${PICTURE})`
            : `Older ${i}\n\n${"words of it ".repeat((i % 7) * 9)}`,
      })),
    );
    const next = await player(recording, conversation);
    for (let i = 0; i < PIECES / 2; i++) await next();
    await page.setViewportSize(SIZE);
    await page.goto(new URL(`/c/${conversation}`, page.url()).href);
    await page.waitForSelector(".list-row");
    await page.mouse.move(500, 200);
    const moved: string[] = [];
    const measured = (what: string, px: number): void => {
      events++;
      worst = Math.max(worst, px);
      if (px > MAX_PX) moved.push(`${what}: ${px} px`);
    };

    await toEnd(page);
    await wheelUp(page, 250);
    const arrived = await watch("top");
    while (await next()) await frames(2);
    await frames(6);
    measured("arrivals", await arrived());

    const older = await watchTorn();
    for (let i = 0; i < 4; i++) await wheelUp(page, 1_400);
    await frames(10);
    measured("older blocks and pictures", await older());

    for (const size of [{ ...SIZE, height: 420 }, { ...SIZE, width: 640 }, SIZE]) {
      const resized = await watch("top");
      await page.setViewportSize(size);
      await frames(4);
      measured(`a window of ${size.width} by ${size.height}`, await resized());
    }
    await toEnd(page);
    for (const size of [{ ...SIZE, height: 420 }, { ...SIZE, width: 640 }, SIZE]) {
      const resized = await watch("bottom");
      await page.setViewportSize(size);
      await frames(4);
      measured(`a window of ${size.width} by ${size.height}, at the end`, await resized());
    }

    const tried = new Set<string>();
    moved.push(...(await pressAll(page, tried, "at the end", () => toEnd(page))));
    await toEnd(page);
    await wheelUp(page, 400);
    moved.push(...(await pressAll(page, tried, "above the end", async () => {})));
    events += tried.size;
    expect(moved).toEqual([]);
    expect(complaints).toEqual([]);
  },
  300_000,
);
