/**
 * A small window, such as a usual screen at twice the size of its letters, or a phone: nothing is out of reach.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness } from "./page/harness.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);
/** 1280 by 800 at twice and 1280 by 1024 at four times the size, and the narrowest phone. */
const SIZES = [
  { width: 640, height: 400 },
  { width: 320, height: 568 },
  { width: 320, height: 256 },
];

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-small-"));
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * The controls in `within` that no scrolling by hand brings to where they can be pressed, and why; and what makes the page
 * wider or higher than its window.
 */
function outOfReach(page: Page, within: string): Promise<string[]> {
  return page.evaluate((selector) => {
    const bad: string[] = [];
    const controls = [...document.querySelectorAll<HTMLElement>(selector)].flatMap((root) => [
      ...root.querySelectorAll<HTMLElement>("button, a[href], input, textarea, select"),
    ]);
    const scrollers = (of: HTMLElement): HTMLElement[] => {
      const found: HTMLElement[] = [];
      for (let above = of.parentElement; above; above = above.parentElement) {
        const { overflowY, position } = getComputedStyle(above);
        if (/auto|scroll/.test(overflowY)) found.push(above);
        if (position === "fixed") break;
      }
      return found;
    };
    for (const control of controls) {
      if (!control.checkVisibility({ visibilityProperty: true }) || control.matches("[type=file]")) continue;
      const before = scrollers(control).map((box) => [box, box.scrollTop] as const);
      for (const [box] of before) {
        const own = control.getBoundingClientRect();
        const { top, height } = box.getBoundingClientRect();
        box.scrollTop += own.top + own.height / 2 - (top + height / 2);
      }
      const { left, right, top, bottom } = control.getBoundingClientRect();
      const name = control.getAttribute("aria-label") ?? control.textContent?.trim().slice(0, 30);
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      if (left < -1 || right > innerWidth + 1) bad.push(`${name}: from ${left} to ${right}`);
      else if (!hit || !(control.contains(hit) || hit.contains(control)))
        bad.push(`${name}: covered by ${hit?.className || hit?.tagName}, at ${top}`);
      for (const [box, top] of before) box.scrollTop = top;
    }
    const { scrollWidth, scrollHeight } = document.documentElement;
    if (controls.length === 0) bad.push(`nothing in ${selector}`);
    if (scrollWidth > innerWidth || scrollHeight > innerHeight)
      bad.push(`the page has ${scrollWidth} by ${scrollHeight}`);
    return bad;
  }, within);
}

describe.each(SIZES)("$width by $height", (size) => {
  test("[V22] the first page, with all that can be done", async () => {
    const empty = await openHarness();
    const { page } = await empty.open("/", size);
    await page.waitForSelector(".first-steps");
    expect(await outOfReach(page, ".home")).toEqual([]);
    await page.getByRole("button", { name: "Conversations" }).click();
    await page.waitForFunction(
      () => document.querySelector(".sidebar.open")?.getBoundingClientRect().left === 0,
    );
    expect(await outOfReach(page, ".sidebar")).toEqual([]);
    await empty.close();
  });

  test("[V22] [V12] a conversation: head, composer, menus, dialogs, what is found", async () => {
    const conversation = await ingest(
      harness.kernel,
      "claude",
      "claude/write-edit.jsonl",
      "A title ".repeat(9),
    );
    const { page, context } = await harness.open(`/c/${conversation}`, size);
    await page.waitForSelector("article");
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill("line\n".repeat(30));
    expect(await outOfReach(page, ".head, .composer")).toEqual([]);
    await prompt.fill("");
    const list = () => page.evaluate(() => document.querySelector(".list")?.clientHeight ?? 0);
    await expect.poll(list).toBeGreaterThan(100);
    for (const menu of await page.locator(".head button[aria-haspopup]").all()) {
      await menu.click();
      await page.waitForFunction(() => document.activeElement?.matches(".menu-item"));
      expect(await outOfReach(page, ".menu:popover-open")).toEqual([]);
      await page.keyboard.press("Escape");
    }
    for (const key of ["?", "Control+k", "/", "O"]) {
      await page.keyboard.press(key);
      await page.waitForSelector("dialog[open]");
      expect(await outOfReach(page, "dialog[open]"), key).toEqual([]);
      // One that asks nothing is closed by its button, however far one has read.
      if (key === "?") {
        await page.locator("dialog dd").last().scrollIntoViewIfNeeded();
        await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      } else await page.keyboard.press("Escape");
      await page.waitForSelector("dialog[open]", { state: "detached" });
    }
    await page
      .locator(".file-open")
      .last()
      .evaluate((button: HTMLElement) => button.click());
    await page.waitForSelector("dialog[open]");
    expect(await outOfReach(page, "dialog[open]")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    await page.keyboard.press("Control+f");
    await page.waitForSelector(".find");
    expect(await outOfReach(page, ".find")).toEqual([]);
    await context.close();
  });

  test("[V22] an approval, a message that waits, and files that are attached", async () => {
    const { page, context } = await harness.open(
      `/c/${await newConversation(harness.kernel, "small")}`,
      size,
    );
    const plan = {
      recording: RECORDING,
      lines: 0,
      act: "ask",
      answers: join(folder, `${size.width}-${size.height}`),
    };
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill(JSON.stringify(plan));
    await page.keyboard.press("Enter");
    await page.locator(".agent-ask").first().waitFor();
    await prompt.fill("and then this");
    await page.keyboard.press("Enter");
    await page.locator(".queue li").waitFor();
    const file = { name: `${"long-".repeat(20)}.txt`, mimeType: "text/plain", buffer: Buffer.from("text") };
    await page.locator("input[type=file]").setInputFiles([file, { ...file, name: "b.txt" }]);
    await page.getByText("b.txt").waitFor();
    expect(await outOfReach(page, ".agent-ask, .head, .composer")).toEqual([]);
    const deny = page.getByRole("button", { name: "Deny…" });
    await expect.poll(() => deny.isEnabled()).toBe(true);
    await deny.evaluate((button: HTMLElement) => button.click());
    await page.getByRole("textbox", { name: "Reason" }).waitFor();
    expect(await outOfReach(page, ".agent-ask")).toEqual([]);
    await page
      .getByRole("button", { name: "Stop", exact: true })
      .evaluate((button: HTMLElement) => button.click());
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await context.close();
  });

  test("[V22] a file with a long name", async () => {
    const name = `${"a-long-name-".repeat(6)}.ts`;
    writeFileSync(join(harness.root, name), "export const a = 1;\n".repeat(40));
    const { page, context } = await harness.open(`/files?path=${name}`, size);
    await page.waitForSelector(".file-editor .cm-content");
    expect(await outOfReach(page, ".head")).toEqual([]);
    await context.close();
  });
});
