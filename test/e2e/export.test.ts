/**
 * Exported pages in a real browser, from the disk: the same blocks in the same order as the page shows, nobody asked for
 * anything, nothing run, whatever was written into the blocks.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isProblem, KINDS } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportFile } from "../../packages/server/src/export/export-file.ts";
import { ingest, newConversation, openHarness, type PageHarness } from "./page/harness.ts";
import { hostilePayloads } from "./page/hostile.ts";

let harness: PageHarness;
const folder = mkdtempSync(join(tmpdir(), "blockyard-export-"));

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  /** `id kind`, in the order of the document. */
  readonly blocks: readonly string[];
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
  readonly hits: number;
}

/** Opens the export from the disk, with a network that would be noticed. */
async function openExport(conversation: string): Promise<Seen> {
  const file = await exportFile(harness.kernel, conversation, "html", false);
  if (isProblem(file)) throw new Error(file.message);
  let text = "";
  for await (const piece of file.body) text += piece;
  const path = join(folder, file.name);
  writeFileSync(path, text);
  const context = await harness.browser.newContext();
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(pathToFileURL(path).href);
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  const blocks = await page
    .locator("[data-block]")
    .evaluateAll((all) =>
      all.map((each) => `${each.getAttribute("data-block")} ${each.getAttribute("data-kind")}`),
    );
  const hits = await page.evaluate(() => Number(Reflect.get(globalThis, "hits") ?? 0));
  await context.close();
  return {
    blocks,
    requests: requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:")),
    complaints,
    hits,
  };
}

test.each<[string, string]>([
  ["claude", "claude/write-edit.jsonl"],
  ["claude", "claude/subagent-parallel.jsonl"],
  ["claude", "claude/thinking.jsonl"],
  ["codex", "codex/parallel.jsonl"],
])("[E1] [E2] %s: %s", async (provider, name) => {
  const conversation = await ingest(harness.kernel, provider, name);
  const seen = await openExport(conversation);
  expect(seen).toMatchObject({ requests: [], complaints: [] });
  const record = await harness.kernel.conversation(conversation);
  expect(seen.blocks).toHaveLength(isProblem(record) ? -1 : record.blocks);
  const { page } = await harness.open(`/c/${conversation}`, { height: 6_000 });
  await page.waitForSelector("article");
  await page.waitForFunction(() => document.querySelectorAll(".waiting").length === 0);
  const shown = await page
    .locator("[data-block]")
    .evaluateAll((all) =>
      all.map((each) => `${each.getAttribute("data-block")} ${each.getAttribute("data-kind")}`),
    );
  await page.context().close();
  // The page may collapse a sub-agent's work; what it shows is what the export has, in the same order.
  expect(shown.length).toBeGreaterThan(1);
  expect(seen.blocks.filter((block) => shown.includes(block))).toEqual(shown);
});

test("[E3] hostile texts in every kind that needs no metadata, and in the title", async () => {
  const payloads = hostilePayloads("https://canary.invalid").map((text) =>
    text.replaceAll("HIT()", "(globalThis.hits=1)"),
  );
  const conversation = await newConversation(harness.kernel, payloads.join(" ").slice(0, 280));
  for (const kind of KINDS) {
    for (const text of payloads) {
      await harness.kernel.write(conversation, {
        agent: "tester",
        plan: (draft) => {
          const made = draft.create({ kind, role: "model", side: false, status: "done", text, metadata: {} });
          return isProblem(made) ? null : null;
        },
      });
    }
  }
  const seen = await openExport(conversation);
  expect(seen).toMatchObject({ requests: [], complaints: [], hits: 0 });
  expect(seen.blocks.length).toBeGreaterThan(300);
});
