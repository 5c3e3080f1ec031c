/**
 * Files of the workspace in the page: the tree, a file that several edit at once and that reaches the disk, and what
 * happens when the disk has changed too.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { openHarness, type PageHarness } from "./page/harness.ts";

let harness: PageHarness;
let root: string;

beforeAll(async () => {
  harness = await openHarness();
  root = harness.root;
  put("README.md", "# Demo\n");
  put("src/shop.ts", "one\ntwo\nthree\nconst four = 'word';\n");
  put("src/deep/a.ts", "deep\n");
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const onDisk = (path: string) => readFileSync(join(root, path), "utf8");
const text = (page: Page) => page.locator(".file-editor .cm-content");

async function openFile(path: string): Promise<Page> {
  const { page } = await harness.open(`/files?path=${encodeURIComponent(path)}`);
  await text(page).waitFor();
  return page;
}

async function asAgent(tool: string, input: object): Promise<Record<string, unknown>> {
  const answer = await harness.running.tools.call(
    { agent: "gardener", role: "agent", by: "token" },
    tool,
    input,
  );
  if (isProblem(answer)) throw new Error(answer.message);
  return answer as Record<string, unknown>;
}

describe("the tree", () => {
  test("[V12] is walked by keyboard, reads folders when they are opened, and opens files", async () => {
    const { page, complaints } = await harness.open("/");
    await page.getByRole("button", { name: "Side pane" }).click();
    await page.getByRole("tab", { name: "Files" }).click();
    const items = page.getByRole("treeitem");
    await items.first().waitFor();
    expect(await items.allTextContents()).toEqual(["src", "README.md"]);
    expect(await axeFindings(page)).toEqual([]);
    await items.first().focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("treeitem", { name: "shop.ts" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("treeitem", { name: "a.ts" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("treeitem", { name: "a.ts" }).waitFor({ state: "detached" });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/files\?path=src%2Fshop\.ts/);
    await expect.poll(() => text(page).innerText()).toContain("three");
    await expect.poll(() => page.locator(".file-editor .t-keyword").allTextContents()).toContain("const");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("a file is found by a few letters; one that is not there can be made", async () => {
    const { page } = await harness.open("/");
    await page.waitForSelector(".composer");
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
    await page.keyboard.press("O");
    await page.getByRole("combobox", { name: "Open a file" }).fill("dpa");
    await expect.poll(() => page.locator(".chooser-item").allTextContents()).toEqual(["src/deep/a.ts"]);
    await page.keyboard.press("Enter");
    await expect.poll(() => text(page).innerText()).toContain("deep");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: "Search everything" }).fill("deep");
    await page.locator(".chooser-item", { hasText: "src/deep/a.ts" }).click();
    await page.waitForURL(/path=src%2Fdeep%2Fa\.ts/);
    await page.goto(`${harness.running.url}/files?path=new.txt`);
    await page.getByRole("button", { name: "Create this file" }).click();
    await text(page).click();
    await page.keyboard.type("made here");
    await expect.poll(() => onDisk("new.txt")).toBe("made here");
    await page.context().close();
  });
});

describe("a file", () => {
  test("is edited in two windows, by an agent and on the disk at once; all of it is kept, on the disk too", async () => {
    put("together.txt", "a\nb\nc\nd\ne\nf\n");
    const first = await openFile("together.txt");
    const second = await openFile("together.txt");
    await text(first).click();
    await first.keyboard.press("Control+Home");
    await first.keyboard.type("first ");
    await text(second).click();
    await second.keyboard.press("Control+End");
    await second.keyboard.type("second");
    const { block_id } = await asAgent("file.open", { path: "together.txt" });
    await asAgent("cursor.set", { block_id, head: { line: 2, column: 0 } });
    await first.locator('.file-editor .remote-cursor[data-agent="gardener"]').waitFor({ state: "attached" });
    await asAgent("block.edit", { block_id, operations: [{ op: "insert", line: 3, content: "gardener" }] });
    const whole = ["first a", "b", "c", "gardener", "d", "e", "f", "second"].join("\n");
    await expect.poll(() => onDisk("together.txt")).toBe(whole);
    put("together.txt", whole.replace("e\n", "E of the disk\n"));
    for (const page of [first, second]) {
      await expect.poll(() => text(page).innerText()).toContain("E of the disk");
      await expect.poll(() => page.textContent(".file-state")).toContain("Saved");
    }
    await first.keyboard.press("Control+z"); // both windows are one person's
    await expect.poll(() => onDisk("together.txt")).not.toContain("first");
    expect(onDisk("together.txt")).toContain("a\nb\nc\ngardener\nd\nE of the disk\nf\n");
    await first.keyboard.press("Escape");
    expect(await first.evaluate(() => document.activeElement?.className)).toBe("file-editor");
    await first.context().close();
    await second.context().close();
  });

  /** The disk changes a line in the very moment in which it is changed here. */
  async function conflicted(path: string): Promise<Page> {
    put(path, "one\ntwo\nthree\nfour\n");
    const page = await openFile(path);
    const { block_id } = await asAgent("file.open", { path });
    put(path, "one\nTWO of the disk\nthree\nFOUR\n");
    await asAgentNow(String(block_id));
    await page.locator(".conflict").waitFor();
    return page;
  }

  /** Straight into the kernel: no look at the disk comes first. */
  async function asAgentNow(block: string): Promise<void> {
    const answer = await harness.kernel.writeBlock(block, {
      agent: "gardener",
      plan: (draft) => draft.splice(block, [{ at: 4, del: "two", ins: "two of here" }]),
    });
    if (isProblem(answer)) throw new Error(answer.message);
  }

  test("[V11] [F15] a conflict is said, and nothing is written; mine, the disk's, or a merged text ends it", async () => {
    const mine = await conflicted("mine.txt");
    expect(await mine.textContent(".conflict")).toContain("Nothing is written");
    await mine.getByRole("button", { name: "Side pane" }).click();
    await mine.getByRole("tab", { name: "Files" }).click();
    await mine
      .getByRole("treeitem", { name: "mine.txt" })
      .getByLabel("conflicts with the file on disk")
      .waitFor();
    expect(await axeFindings(mine)).toEqual([]);
    expect(onDisk("mine.txt")).toContain("TWO of the disk");
    await mine.getByRole("button", { name: "Keep this version" }).click();
    await mine.locator(".conflict").waitFor({ state: "detached" });
    await expect.poll(() => onDisk("mine.txt")).toBe("one\ntwo of here\nthree\nfour\n");
    await mine.context().close();

    const disk = await conflicted("disk.txt");
    await disk.getByRole("button", { name: "Use the version on disk" }).click();
    await disk.locator(".conflict").waitFor({ state: "detached" });
    await expect.poll(() => text(disk).innerText()).toContain("TWO of the disk");
    await disk.context().close();

    const both = await conflicted("both.txt");
    await both.getByRole("button", { name: "Merge by hand…" }).click();
    const field = both.getByRole("textbox", { name: "Merged text" });
    await expect
      .poll(() => field.inputValue())
      .toBe("one\n<<<<<<< here\ntwo of here\n=======\nTWO of the disk\n>>>>>>> disk\nthree\nFOUR\n");
    expect(await axeFindings(both)).toEqual([]);
    const use = both.getByRole("button", { name: "Use this text" });
    expect(await use.isDisabled()).toBe(true);
    await field.fill("one\ntwo of both\nthree\nFOUR\n");
    await use.click();
    await both.locator(".conflict").waitFor({ state: "detached" });
    await expect.poll(() => onDisk("both.txt")).toBe("one\ntwo of both\nthree\nFOUR\n");
    await both.context().close();
  });
});
