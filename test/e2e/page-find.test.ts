/** Find in the page: also unloaded text, collapsed text, and text written a moment ago. */
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const BLOCKS = 1_200;
/** The first search of a server starts its worker. */
const PATIENT = { timeout: 15_000 };

type Draft = Parameters<Parameters<PageHarness["kernel"]["write"]>[1]["plan"]>[0];

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

/** A long conversation with one word in a text at its beginning and in a thought in its middle; the ids of both. */
async function haystack(): Promise<{ conversation: string; text: string; thought: string }> {
  const conversation = await newConversation(harness.kernel, "haystack");
  const ids = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const made: string[] = [];
      for (let i = 0; i < BLOCKS; i++) {
        const needle = i === 9 || i === 600 ? "Here is the Quokka." : "";
        const kind = i === 600 ? "thinking" : "text";
        const text = `Block ${i}\n\n${"Some words. ".repeat(i % 30)}\n\n${needle}`;
        const block = draft.create({ kind, role: "model", text, status: "done", metadata: {} });
        if (isProblem(block)) return block;
        made.push(block.id);
      }
      return made;
    },
  });
  if (isProblem(ids)) throw new Error(ids.message);
  return { conversation, text: ids[9] as string, thought: ids[600] as string };
}

async function find(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill(words);
}

function told(page: Page): Promise<string | null> {
  return page.locator(".find .dim").textContent();
}

/** Records that the page shows it, however briefly. */
async function noteFetching(page: Page): Promise<void> {
  await page.evaluate(() => {
    const look = () => {
      for (const status of document.querySelectorAll("[role=status]"))
        if (status.textContent?.includes("Loading older blocks…")) document.body.dataset["fetching"] = "said";
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });
}

/** The block is in the middle of the list's window, not only in the document. */
async function isSeen(page: Page, block: string): Promise<boolean> {
  return page.evaluate((id) => {
    const list = document.querySelector(".list")?.getBoundingClientRect();
    const row = document.querySelector(`.focused[data-block="${id}"]`)?.getBoundingClientRect();
    return list !== undefined && row !== undefined && row.top >= list.top && row.top < list.bottom - 20;
  }, block);
}

test("[V5] unloaded text is found and scrolled to; collapsed text is opened", async () => {
  const { conversation, text, thought } = await haystack();
  const [tail] = await say(harness.kernel, conversation, [{ text: "Still ", status: "running" }]);
  const { page, context, complaints } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector(`[data-block="${tail}"]`);
  await find(page, "quokka");
  await expect.poll(() => told(page), PATIENT).toBe("– of 2");
  await noteFetching(page);
  await page.keyboard.press("Enter");
  await expect.poll(() => isSeen(page, text), PATIENT).toBe(true);
  expect(await told(page)).toBe("1 of 2");
  // It was said that older blocks were fetched for it, and is no longer.
  expect(await page.evaluate(() => document.body.dataset["fetching"])).toBe("said");
  expect(await page.getByText("Loading older blocks…").and(page.getByRole("status")).count()).toBe(0);
  await page.keyboard.press("Enter");
  await expect.poll(() => isSeen(page, thought), PATIENT).toBe(true);
  expect(await page.locator(`[data-block="${thought}"] .thinking-body`).textContent()).toContain("Quokka");
  harness.kernel.append(tail as string, "tester", "writing of a quokka");
  await harness.kernel.drain(tail as string, "tester");
  // More than one page of answers: all are counted.
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("some words");
  const all = Array.from({ length: BLOCKS }, (_, i) => i % 30).reduce((sum, count) => sum + count, 0);
  await expect.poll(() => told(page), PATIENT).toBe(`– of ${all}`);
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("QUOKK");
  await expect.poll(() => told(page), PATIENT).toBe("– of 3");
  await page.keyboard.press("Shift+Enter");
  await expect.poll(() => isSeen(page, tail as string), PATIENT).toBe(true);
  expect(await page.evaluate(() => document.activeElement?.closest(".find") !== null)).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

test("[V5] a call is found by the name of its tool, as it reads here and as its provider has it", async () => {
  const { conversation } = await haystack();
  const metadata = { toolUseId: "t", toolName: "WebSearch" };
  const call = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => draft.create({ kind: "tool_call", role: "model", text: "{}", status: "done", metadata }),
  });
  if (isProblem(call)) throw new Error(call.message);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector(`[data-block="${call.id}"]`);
  await find(page, "search the web");
  // Of calls that are not loaded nobody knows the names.
  await expect.poll(() => told(page), PATIENT).toBe("– of 1 or more");
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("websearch");
  await page.keyboard.press("Enter");
  await expect.poll(() => told(page), PATIENT).toBe("1 of 1 or more");
  await expect.poll(() => isSeen(page, call.id), PATIENT).toBe(true);
  await context.close();
});

test("[V5] a sub-agent's work is opened for what is found in it; what is nowhere is said to be", async () => {
  const conversation = await ingest(harness.kernel, "claude", "claude/subagent.jsonl");
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page
    .getByRole("button", { name: /^Agent/ })
    .first()
    .waitFor();
  const blocks = await harness.kernel.store.blocks({ conversation, order: "first", limit: 200 });
  // Words of a call in the sub-agent's work, which nothing outside of it has: the first match is there.
  const call = blocks.find(({ metadata, side }) => metadata["toolName"] === "Bash" && side);
  expect(await page.locator('article[data-depth="1"]').count()).toBe(0);
  await find(page, "grep -c export");
  await expect.poll(() => told(page), PATIENT).toMatch(/^– of \d/);
  await page.keyboard.press("Enter");
  await expect.poll(() => isSeen(page, call?.id ?? ""), PATIENT).toBe(true);
  expect(await page.locator('article[data-depth="1"]').count()).toBeGreaterThan(0);
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("no such thing anywhere");
  await expect.poll(() => told(page), PATIENT).toBe("No matches");
  await context.close();
});

test("[V5] a command is found where it stands, and its input stays closed unless the words are only there", async () => {
  const conversation = await newConversation(harness.kernel, "commands");
  const input = { command: "make bandicoot", description: "Feed the numbat" };
  const tool = { toolUseId: "t", toolName: "Bash" };
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const metadata = { ...tool, input, success: true };
      const call = draft.create({
        ...{ kind: "tool_call", role: "model", text: JSON.stringify(input), status: "done", metadata },
      } as const);
      if (isProblem(call)) return call;
      const ran = { ...tool, command: input.command, exitCode: 0 };
      return draft.create({
        ...{ kind: "command", role: "tool", text: "ok\n", status: "done", parent: call.id, side: true },
        metadata: ran,
      } as const);
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(".tool-line").waitFor();
  await find(page, "bandicoot");
  await expect.poll(() => told(page), PATIENT).toMatch(/^– of \d/);
  await page.keyboard.press("Enter");
  await page.locator(".tool-input").waitFor();
  await page.locator(".tool-results", { hasText: "make bandicoot" }).waitFor();
  expect(await page.locator(".tool-input").textContent()).not.toContain("bandicoot");
  // The match that the reader is at stands out from the others.
  const current = () => page.evaluate(() => [...(CSS.highlights.get("find-current") ?? [])].map(String));
  await expect.poll(current, PATIENT).toEqual(["bandicoot"]);
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("numbat");
  await expect.poll(() => told(page), PATIENT).toMatch(/^– of \d/);
  await page.keyboard.press("Enter");
  await page.locator(".tool-input", { hasText: "numbat" }).waitFor();
  await context.close();
});

test("[V39] all matches are counted and marked, and gone through one by one", async () => {
  const conversation = await newConversation(harness.kernel, "marks");
  const far = `${"A line of its own.\n\n".repeat(120)}The last *num*bat.`;
  const [first, second] = await say(harness.kernel, conversation, [
    { text: "A numbat, a NUMBAT and `numbat`.", status: "done" },
    { text: far, status: "done" },
  ]);
  const { page, context, complaints } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector(`[data-block="${second}"]`);
  await find(page, "numbat");
  await expect.poll(() => told(page), PATIENT).toBe("– of 3");
  const marks = () =>
    page.evaluate(() => {
      const of = (name: string) =>
        [...(CSS.highlights.get(name) ?? [])].map((range) => ({
          text: String(range),
          block: (range.startContainer.parentElement as Element).closest<HTMLElement>("[data-block]")
            ?.dataset["block"],
        }));
      return { all: of("find").length, current: of("find-current") };
    });
  const texts = ["numbat", "NUMBAT", "numbat"];
  for (const [i, text] of texts.entries()) {
    await page.keyboard.press("Enter");
    await expect.poll(marks, PATIENT).toMatchObject({ current: [{ text, block: first }] });
    expect(await told(page)).toBe(`${i + 1} of 3`);
    expect((await marks()).all).toBeGreaterThanOrEqual(texts.length);
  }
  // Across elements, in a place of a long block that is off the screen.
  await page.getByRole("textbox", { name: "Find in this conversation" }).fill("its own");
  await expect.poll(() => told(page), PATIENT).toBe("– of 100 or more");
  await page.keyboard.press("Shift+Enter");
  await expect.poll(marks, PATIENT).toMatchObject({ current: [{ text: "its own", block: second }] });
  expect((await marks()).all).toBeGreaterThanOrEqual(100);
  const isInView = () =>
    page.evaluate(() => {
      const [range] = [...(CSS.highlights.get("find-current") ?? [])] as Range[];
      const list = document.querySelector(".list")?.getBoundingClientRect();
      const match = range?.getBoundingClientRect();
      return (
        list !== undefined && match !== undefined && match.top >= list.top && match.bottom <= list.bottom
      );
    });
  await expect.poll(isInView, PATIENT).toBe(true);
  await page.keyboard.press("Escape");
  expect(await page.evaluate(() => CSS.highlights.size)).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test("[V82] a block that is being written is counted as it grows, and no less when it ends", async () => {
  const conversation = await newConversation(harness.kernel, "grows");
  const [, growing] = await say(harness.kernel, conversation, [
    { text: "One numbat." },
    { text: "It begins.", status: "running" },
  ]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector(`[data-block="${growing}"]`);
  await find(page, "numbat");
  await expect.poll(() => told(page), PATIENT).toBe("– of 1");
  for (const count of [2, 3, 4]) {
    harness.kernel.append(growing as string, "tester", " A numbat.");
    await expect.poll(() => told(page), PATIENT).toBe(`– of ${count}`);
  }
  const ended = { agent: "tester", plan: (draft: Draft) => draft.status(growing as string, "done") };
  expect(await harness.kernel.write(conversation, ended)).not.toHaveProperty("problem");
  await page.waitForSelector(`[data-block="${growing}"][data-status="done"]`);
  // What is told after the end has been counted after it.
  await say(harness.kernel, conversation, [{ text: "A numbat of its own." }]);
  await expect.poll(() => told(page), PATIENT).toBe("– of 5");
  await page.keyboard.press("Shift+Enter");
  await expect.poll(() => told(page), PATIENT).toBe("5 of 5");
  await context.close();
});

test("[Q32] searching everything goes on page by page", async () => {
  const { conversation } = await haystack();
  const { page, complaints } = await harness.open(`/c/${conversation}`);
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search everything" }).fill("some words");
  const items = page.locator(".chooser-item");
  const goOn = page.getByRole("button", { name: "More results" });
  await goOn.waitFor(PATIENT);
  const first = await items.count();
  await goOn.click();
  await page.waitForFunction((count) => document.querySelectorAll(".chooser-item").length > count, first);
  const texts = await items.allTextContents();
  expect(texts.length).toBe(2 * first);
  await page.getByRole("combobox", { name: "Search everything" }).fill("Quokka");
  await page.waitForFunction((count) => document.querySelectorAll(".chooser-item").length < count, first);
  expect(await goOn.count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V160] what was found takes no focus from where the reader has gone meanwhile", async () => {
  const found = await newConversation(harness.kernel, "far away");
  const [block] = await say(harness.kernel, found, [{ text: "A lone wombat." }]);
  const { page, context } = await harness.open("/");
  // What the server says is held back for as long as the reader is faster.
  const held: (() => void)[] = [];
  let isHeld = false;
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => (isHeld ? held.push(() => socket.send(message)) : socket.send(message)));
  });
  await page.reload();
  await page
    .getByRole("navigation")
    .getByRole("link", { name: /far away/ })
    .waitFor();
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search everything" }).fill("wombat");
  await page.getByRole("option", { name: /wombat/ }).waitFor(PATIENT);
  isHeld = true;
  await page.keyboard.press("Enter");
  await page.getByRole("combobox").waitFor({ state: "detached" });
  await page.keyboard.press("s");
  const focusedText = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await expect.poll(focusedText).toContain("far away");
  isHeld = false;
  for (const release of held) release();
  await page.locator(`[data-block="${block}"]`).waitFor();
  // Two frames later what comes late would have come.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  expect(await focusedText()).toContain("far away");
  await context.close();
});
