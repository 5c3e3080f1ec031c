/**
 * Live is replay is export: what a stream shows while it is watched to its end, what the page shows of it afterwards, and
 * what the exported file shows from the disk, compared for recordings of every provider. `EVERY=1` takes all of them; a
 * plain run takes few that show between them what all of them show. The second page is loaded for some of them, and goes to the
 * conversations of the others; it has never seen those either.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BlockEvent, Ingest, isProblem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportFile } from "../../packages/server/src/export/export-file.ts";
import { StreamIngest } from "../../packages/server/src/ingest/ingest-stream.ts";
import { bytesOf, logFilesOf, type Recording } from "../recordings.ts";
import { allTraits, isEvery, variedRecordings } from "../variety.ts";
import { newConversation, openHarness, type PageHarness, type Visit } from "./page/harness.ts";
import { contentOf, type Shown, shownInExport, shownOnPage } from "./page/shown.ts";

/** A recording comes in so many pieces, a frame apart. */
const PIECES = 8;
/** High enough to have all rows in the document. Nobody looks at the pixels, so that there are few of them. */
const TALL = { width: 1_280, height: 40_000, deviceScaleFactor: 0.1, mobile: false };
/** Looked at so often; a look at every frame would have frames drawn for it alone. */
const LOOK_MS = 40;
/** With the time in which it waits for a seat. */
const TEST_MS = 300_000;
/** So many recordings at once: one of them mostly waits for a frame. */
const SEATS = 2;

const chosen = variedRecordings();
/** Loading the page costs more than everything else: it is loaded for these, and goes to the conversations of the others. */
const loaded: ReadonlySet<Recording> = new Set(chosen.filter((_, i) => !isEvery && i % 6 === 0));

/** The pages that a recording is shown on. */
interface Seat {
  readonly live: Page;
  readonly later: Page;
  readonly exported: Page;
  readonly complaints: readonly (readonly string[])[];
}

let harness: PageHarness;
const free: Seat[] = [];
const waiting: ((seat: Seat) => void)[] = [];
const folder = mkdtempSync(join(tmpdir(), "blockyard-equal-"));

beforeAll(async () => {
  harness = await openHarness();
  for (let i = 0; i < SEATS; i++) {
    const live = await openTall();
    const later = await openTall();
    const context = await harness.browser.newContext();
    const exported = await context.newPage();
    const complaints = [live.complaints, later.complaints];
    free.push({ live: live.page, later: later.page, exported, complaints });
  }
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The page alone is high: a window of that height would be drawn as well, for each frame. */
async function openTall(): Promise<Visit> {
  const visit = await harness.open("/", { isStill: true });
  const browser = await visit.context.newCDPSession(visit.page);
  await browser.send("Emulation.setDeviceMetricsOverride", TALL);
  return visit;
}

async function onSeat(use: (seat: Seat) => Promise<void>): Promise<void> {
  const seat = free.pop() ?? (await new Promise<Seat>((take) => waiting.push(take)));
  try {
    await use(seat);
  } finally {
    const next = waiting.shift();
    if (next) next(seat);
    else free.push(seat);
  }
}

/** Opens a conversation by a load of the page. */
async function load(page: Page, conversation: string): Promise<void> {
  await page.goto(new URL(`/c/${conversation}`, page.url()).href);
  await page.waitForSelector(".list");
}

/** Opens a conversation inside of the page, as the browser's own buttons do. */
async function goTo(page: Page, conversation: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `/c/${conversation}`);
  const isThere = (id: string) =>
    document.querySelector(".list") && !document.querySelector(`[data-block]:not([data-block^="${id}/"])`);
  await page.waitForFunction(isThere, conversation, { polling: LOOK_MS });
}

/** Gives a recording to the server piece by piece, as its program would. */
async function play(recording: Recording, conversation: string, pause: () => Promise<void>): Promise<void> {
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  if (recording.source === "log") {
    const ingest = new Ingest(harness.kernel, {
      conversation,
      agent: provider.name,
      keep: true,
      from: 1.7e12,
    });
    await ingest.open();
    const events: readonly BlockEvent[] = provider.importLog?.(logFilesOf(recording), "log") ?? [];
    for (const piece of pieces(events)) {
      await ingest.push(piece);
      await pause();
    }
    await ingest.finish();
    return;
  }
  const stream = new StreamIngest(harness.kernel, { conversation, agent: provider.name, provider });
  await stream.open();
  for (const piece of pieces(bytesOf(recording))) {
    await stream.push(piece as Uint8Array);
    await pause();
  }
  await stream.end();
}

function pieces<T extends { readonly length: number; slice(from: number, to: number): T }>(whole: T): T[] {
  const size = Math.max(1, Math.ceil(whole.length / PIECES));
  const cut: T[] = [];
  for (let at = 0; at < whole.length; at += size) cut.push(whole.slice(at, at + size));
  return cut;
}

/** What a page shows at first, and with everything open. */
interface Both {
  readonly first: Shown;
  readonly open: Shown;
}

/** Opens everything, and waits until all blocks are there. */
async function whole(page: Page, blocks: number): Promise<Both> {
  const first = await shownAtFirst(page);
  await openAll(page);
  await page.waitForFunction(isQuiet, undefined, { polling: LOOK_MS });
  if (await hasAll(page, blocks)) return { first, open: contentOf(await shownOnPage(page)) };
  const { outline } = await shownOnPage(page);
  throw new Error(`the page should show ${blocks} blocks and does not:\n${outline.join("\n")}`);
}

/** What a page shows once nothing is being written or loaded. */
async function shownAtFirst(page: Page): Promise<Shown> {
  await page.waitForFunction(isQuiet, undefined, { polling: LOOK_MS });
  return shownOnPage(page);
}

/** By the list of commands, as a reader would. */
async function openAll(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("Expand all");
  await page.keyboard.press("Enter");
}

function isQuiet(): boolean {
  return document.querySelectorAll("[aria-busy=true], .waiting, footer.running").length === 0;
}

function hasAll(page: Page, blocks: number): Promise<boolean> {
  const look = (count: number) => {
    const isBusy = document.querySelectorAll("[aria-busy=true], .waiting, footer.running").length > 0;
    return !isBusy && document.querySelectorAll("[data-block]").length === count;
  };
  return page.waitForFunction(look, blocks, { polling: LOOK_MS }).then(
    () => true,
    () => false,
  );
}

async function exportOf(page: Page, conversation: string): Promise<Both> {
  const file = await exportFile(harness.kernel, conversation, "html", false);
  if (isProblem(file)) throw new Error(file.message);
  let text = "";
  for await (const piece of file.body) text += piece;
  const path = join(folder, `${conversation}.html`);
  writeFileSync(path, text);
  await page.goto(pathToFileURL(path).href);
  const first = await shownInExport(page);
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  return { first, open: contentOf(await shownInExport(page)) };
}

test.concurrent.for(chosen.map((recording) => [recording.name, recording] as const))(
  "[V4] %s",
  { timeout: TEST_MS },
  ([, recording], { expect }) =>
    onSeat(async ({ live, later, exported, complaints }) => {
      const conversation = await newConversation(harness.kernel, recording.name);
      await goTo(live, conversation);
      await play(recording, conversation, () =>
        live.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => done()))),
      );
      const record = await harness.kernel.conversation(conversation);
      if (isProblem(record)) throw new Error(record.message);
      await (loaded.has(recording) ? load : goTo)(later, conversation);
      // A page looks the same between two pieces as at the end: whether the last one has come is seen in what it shows.
      const atLast = await shownAtFirst(later);
      await expect.poll(() => shownAtFirst(live)).toEqual(atLast);
      const watched = await whole(live, record.blocks);
      const again = await whole(later, record.blocks);
      expect(again).toEqual(watched);
      expect(await exportOf(exported, conversation)).toEqual(watched);
      expect(complaints.flat()).toEqual([]);
    }),
);

test("[V4] the recordings between them have everything that recordings have", () => {
  expect(chosen.length).toBeGreaterThan(30);
  expect(new Set(chosen.map(({ provider }) => provider)).size).toBe(providers.size);
  expect(allTraits(chosen)).toEqual(allTraits());
  expect(allTraits().size).toBeGreaterThan(150);
});
