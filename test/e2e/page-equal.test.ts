/**
 * Live is replay is export: what a stream shows while it is watched to its end, what the page shows of it afterwards, and
 * what the exported file shows from the disk, compared for recordings of every provider. `EVERY=1` takes all of them; a
 * plain run takes few that show between them what all of them show.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BlockEvent, Ingest, isProblem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportFile } from "../../packages/server/src/export/export-file.ts";
import { StreamIngest } from "../../packages/server/src/ingest/ingest-stream.ts";
import { bytesOf, logFilesOf, type Recording } from "../recordings.ts";
import { allTraits, variedRecordings } from "../variety.ts";
import { contentOf, type Shown, shownInExport, shownOnPage } from "./page/shown.ts";
import { newConversation, openYard, type Yard } from "./page/yard.ts";

/** A recording comes in so many pieces, a frame apart. */
const PIECES = 8;
/** High enough to have all rows in the document: of most recordings, and of those with many blocks. */
const TALL_PX = 4_000;
const TALLEST_PX = 40_000;
const MANY_BLOCKS = 24;

const chosen = variedRecordings();

let yard: Yard;
let live: Page;
let later: Page;
let exported: { context: BrowserContext; page: Page };
let complaints: readonly string[] = [];
const folder = mkdtempSync(join(tmpdir(), "blockyard-equal-"));

beforeAll(async () => {
  yard = await openYard();
  const first = await yard.open("/", { height: TALL_PX });
  const second = await yard.open("/", { height: TALL_PX });
  live = first.page;
  later = second.page;
  complaints = first.complaints;
  const context = await yard.browser.newContext();
  exported = { context, page: await context.newPage() };
}, 180_000);

afterAll(async () => {
  await yard?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a conversation from nothing, with everything closed that is closed at first. */
async function goTo(page: Page, conversation: string): Promise<void> {
  await page.goto(new URL(`/c/${conversation}`, page.url()).href);
  await page.waitForSelector(".list");
}

/** Gives a recording to the server piece by piece, as its program would. */
async function play(recording: Recording, conversation: string, pause: () => Promise<void>): Promise<void> {
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  if (recording.source === "log") {
    const ingest = new Ingest(yard.kernel, { conversation, agent: provider.name, keep: true, from: 1.7e12 });
    await ingest.open();
    const events: readonly BlockEvent[] = provider.importLog?.(logFilesOf(recording), "log") ?? [];
    for (const piece of pieces(events)) {
      await ingest.push(piece);
      await pause();
    }
    await ingest.finish();
    return;
  }
  const stream = new StreamIngest(yard.kernel, { conversation, agent: provider.name, provider });
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

/** Waits until nothing is being written or loaded, then opens everything, and waits until all blocks are there. */
async function whole(page: Page, blocks: number): Promise<Both> {
  await grow(page, blocks);
  const first = await shownOnPage(page);
  await openAll(page);
  await grow(page, blocks);
  if (await hasAll(page, blocks)) return { first, open: contentOf(await shownOnPage(page)) };
  const { outline } = await shownOnPage(page);
  throw new Error(`the page should show ${blocks} blocks and does not:\n${outline.join("\n")}`);
}

/** Makes the window so high that every row is in the document. What was opened stays where it is then; rows above it come with a scroll. */
async function grow(page: Page, blocks: number): Promise<void> {
  for (const height of blocks > MANY_BLOCKS ? [TALLEST_PX] : [TALL_PX, TALLEST_PX]) {
    await page.setViewportSize({ width: 1_280, height });
    await page.waitForFunction(isQuiet);
    await page.locator(".list").evaluate((list) => list.scrollTo(0, 0));
    if (await page.locator(".list").evaluate((list) => list.scrollHeight <= list.clientHeight)) return;
  }
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
  return page.waitForFunction(look, blocks, { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

async function exportOf(conversation: string): Promise<Both> {
  const file = await exportFile(yard.kernel, conversation, "html", false);
  if (isProblem(file)) throw new Error(file.message);
  let text = "";
  for await (const piece of file.body) text += piece;
  const path = join(folder, `${conversation}.html`);
  writeFileSync(path, text);
  await exported.page.goto(pathToFileURL(path).href);
  const first = await shownInExport(exported.page);
  await exported.page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  return { first, open: contentOf(await shownInExport(exported.page)) };
}

test.each(chosen.map((recording) => [recording.name, recording] as const))(
  "[V4] %s",
  async (_, recording) => {
    const conversation = await newConversation(yard.kernel, recording.name);
    await goTo(live, conversation);
    await play(recording, conversation, () =>
      live.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => done()))),
    );
    const record = await yard.kernel.conversation(conversation);
    if (isProblem(record)) throw new Error(record.message);
    const watched = await whole(live, record.blocks);
    // From nothing: what a reload shows.
    await goTo(later, conversation);
    const again = await whole(later, record.blocks);
    expect(again).toEqual(watched);
    expect(await exportOf(conversation)).toEqual(watched);
    expect(complaints).toEqual([]);
  },
);

test("[V4] the recordings between them have everything that recordings have", () => {
  expect(chosen.length).toBeGreaterThan(30);
  expect(new Set(chosen.map(({ provider }) => provider)).size).toBe(providers.size);
  expect(allTraits(chosen)).toEqual(allTraits());
  expect(allTraits().size).toBeGreaterThan(150);
});
