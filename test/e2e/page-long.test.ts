/** A result of very many lines: opened, it is there at once, and its lines are made where one looks. */
import { isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness } from "./page/harness.ts";

const LINES = 60_000;

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

/** What each kind shows besides its text, where all of it is one endless word. */
const ENDLESS: Readonly<Record<string, (word: string) => object>> = {
  text: (word) => ({ citations: [{ url: `https://a.example/${word}`, title: word, snippet: word }] }),
  tool_result: (word) => ({ toolUseId: "t", toolName: word, isError: true }),
  code: (word) => ({ filename: word, startLine: 3 }),
  command: (word) => ({ command: word, stderr: `\u001b[31m${word}\u001b[0m`, cwd: word, exitCode: 1 }),
  file_change: (word) => ({
    changes: [{ path: word, kind: "modify", diff: `@@ -1 +1 @@\n-${word}\n+${word} more\n` }],
  }),
  todo: (word) => ({ items: [{ content: word, status: "pending" }] }),
  error: (word) => ({ code: "x", details: { [word.slice(0, 3_000)]: word } }),
  unknown: (word) => ({ type: word }),
  tool_call: (word) => ({
    ...{ toolUseId: "t", toolName: word, displayName: word, compactParams: word, shortResult: word },
    ...{ error: word, stage: "end", success: false, input: { [word.slice(0, 3_000)]: word } },
  }),
  asks: (word) => ({
    ...{ toolUseId: "t", toolName: "x", stage: "running", input: { path: word, deep: { word } } },
    ask: {
      ...{ id: "a", kind: "permission", state: "asked", title: word, input: { path: word } },
      subject: { type: "command", command: word, cwd: word },
    },
  }),
};

test.each(Object.keys(ENDLESS))("[V44] no word of a %s is too long to be laid out", async (name) => {
  const word = "x".repeat(60_000);
  const conversation = await newConversation(harness.kernel, "words");
  const kind = (name === "asks" ? "tool_call" : name) as "text";
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        ...{ kind, role: "model", status: name === "asks" ? "running" : "done" },
        ...{
          text: name === "tool_call" || name === "asks" ? "{}" : word,
          metadata: ENDLESS[name]?.(word) as never,
        },
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
  const { page, complaints } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector("article");
  for (let i = 0; i < 3; i++)
    await page.evaluate(async () => {
      const closed =
        "article button[aria-expanded=false]:not([aria-haspopup]), article .json-tree .collapse-line";
      for (const button of document.querySelectorAll<HTMLElement>(closed)) button.click();
      for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(done));
    });
  // Where text wraps, a browser looks through the rest of a word for each of its lines.
  const endless = await page.evaluate(() => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode as Text;
      if (!parentElement || !/\S{2000}/.test(data)) continue;
      if (!parentElement.checkVisibility() || parentElement.closest("title, script, style")) continue;
      const { whiteSpaceCollapse, textWrapMode } = getComputedStyle(parentElement);
      if (textWrapMode === "wrap") found.push(`${parentElement.className} ${whiteSpaceCollapse}`);
    }
    return found;
  });
  expect(endless).toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

async function longResult(kind: "tool_result" | "code"): Promise<string> {
  const conversation = await newConversation(harness.kernel, `a long ${kind}`);
  const text = Array.from({ length: LINES }, (_, i) => `line ${i + 1} of many`).join("\n");
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        kind,
        role: "tool",
        status: "done",
        text,
        ...(kind === "code" ? {} : { metadata: { toolUseId: "t1", toolName: "Read" } }),
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
  return conversation;
}

test.each(["tool_result", "code"] as const)(
  "[V30] the lines of a long %s are made where one looks",
  async (kind) => {
    const { page, complaints } = await harness.open(`/c/${await longResult(kind)}`);
    await page.getByRole("button", { name: /^Show/ }).click();
    await page.getByText("line 1 of many", { exact: false }).first().waitFor();
    const made = () => page.locator(".chunk .line").count();
    await expect.poll(made).toBeGreaterThan(63);
    expect(await made()).toBeLessThan(LINES / 10);
    // All of it is in the document all the same: to be found, selected and copied.
    expect(
      await page
        .locator("pre")
        .first()
        .evaluate((pre) => pre.textContent?.includes("line 60000 of many")),
    ).toBe(true);
    await page.locator(".list").evaluate((list) => {
      list.scrollTop = list.scrollHeight / 2;
    });
    const middle = () =>
      page.evaluate(() => document.elementFromPoint(640, 300)?.closest(".line")?.textContent ?? "");
    await expect.poll(middle).toMatch(/^line [2-4]\d{4} of many/);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);
