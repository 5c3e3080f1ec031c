/**
 * Writing with an input method, as Japanese, Chinese and Korean are written: the Enter and the Escape that end a
 * composition belong to it, and do nothing else. By the browser's own input method, and by the key that Safari sends.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem } from "@blockyard/kernel";
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-compose-"));
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

const CODES = { Enter: 13, Escape: 27 } as const;

/** Composes a word in the focused field, presses the keys while it is being composed, then accepts it. */
async function compose(page: Page, word: string, keys: readonly (keyof typeof CODES)[]): Promise<void> {
  const input: CDPSession = await page.context().newCDPSession(page);
  const [selectionStart, selectionEnd] = [word.length, word.length];
  await page.evaluate(() => {
    const composed: boolean[] = [];
    Object.assign(window, { composed });
    addEventListener("keydown", (event) => composed.push(event.isComposing), { capture: true });
  });
  await input.send("Input.imeSetComposition", { text: word, selectionStart, selectionEnd });
  for (const key of keys) {
    const windowsVirtualKeyCode = CODES[key];
    await input.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, code: key, windowsVirtualKeyCode });
    await input.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode });
  }
  const composed = await page.evaluate(() => (window as unknown as { composed: boolean[] }).composed);
  expect(composed).toEqual(keys.map(() => true));
  await input.send("Input.insertText", { text: word });
  await input.detach();
}

/** Safari sends the key after the composition has ended; only its code says whose it is. */
async function pressLate(page: Page, keys: readonly (keyof typeof CODES)[]): Promise<void> {
  await page.evaluate((pressed) => {
    const init = { keyCode: 229, bubbles: true, cancelable: true };
    for (const key of pressed)
      document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { ...init, key }));
  }, keys);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

test("[V23] the composer sends nothing while a word is composed", async () => {
  const conversation = await newConversation(harness.kernel, "compose");
  const { page, context } = await harness.open(`/c/${conversation}`);
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.click();
  await compose(page, "日本語", ["Enter"]);
  await pressLate(page, ["Enter"]);
  expect(await prompt.inputValue()).toBe("日本語");
  expect(await page.getByRole("list", { name: "Sending" }).count()).toBe(0);
  const known = await harness.kernel.conversation(conversation);
  expect(isProblem(known) ? known : known.blocks).toBe(0);
  await page.keyboard.press("Enter");
  await expect.poll(() => prompt.inputValue()).toBe("");
  await context.close();
});

test.each([
  ["Search everything", "/"],
  ["Commands", "Control+k"],
])("[V23] %s takes nothing and stays open while a word is composed", async (label, key) => {
  const conversation = await newConversation(harness.kernel, "漢字の話");
  await say(harness.kernel, conversation, [{ text: "漢字 are here" }]);
  const { page, context } = await harness.open("/");
  await page.waitForSelector(".entry");
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press(key);
  const field = page.getByRole("combobox", { name: label });
  await field.waitFor();
  await compose(page, "漢字", ["Enter"]);
  await page.waitForSelector(".chooser-item");
  await pressLate(page, ["Enter"]);
  expect(await field.inputValue()).toBe("漢字");
  expect(new URL(page.url()).pathname).toBe("/");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  await context.close();
});

test("[V23] find and the title keep to their words while these are composed", async () => {
  const conversation = await newConversation(harness.kernel, "old");
  const ids = await say(harness.kernel, conversation, [{ text: "漢字 one" }, { text: "漢字 two" }]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector("article");
  await page.keyboard.press("Control+f");
  const field = page.getByRole("textbox", { name: "Find in this conversation" });
  await field.waitFor();
  await compose(page, "漢字", ["Enter", "Escape"]);
  await page.getByText("– of 2").waitFor();
  await pressLate(page, ["Enter", "Escape"]);
  expect(await page.getByText("– of 2").count()).toBe(1);
  await page.keyboard.press("Enter");
  await page.locator(`[data-block="${ids[0]}"].focused`).waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });

  await page.locator("h1.title button").click();
  const title = page.getByRole("textbox", { name: "Conversation title" });
  await title.fill("");
  await compose(page, "新しい", ["Enter", "Escape"]);
  await pressLate(page, ["Enter", "Escape"]);
  expect(await title.inputValue()).toBe("新しい");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.textContent("h1.title")).toContain("新しい");
  await context.close();
});

test("[V23] a block that is edited gets the word, and stays open", async () => {
  const conversation = await newConversation(harness.kernel, "edited");
  const [id] = await say(harness.kernel, conversation, [{ text: "before " }]);
  const block = id as string;
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("e");
  await page.locator(".editor-host .cm-content").click();
  await page.keyboard.press("Control+End");
  // What Safari sends late is the editor's own business; it knows the browser.
  await compose(page, "日本", ["Enter", "Escape"]);
  const text = async () => {
    const read = await harness.kernel.whole(block);
    return isProblem(read) ? read.message : read.text;
  };
  await expect.poll(text).toBe("before 日本");
  expect(await page.locator(".editor-host .cm-content").count()).toBe(1);
  await context.close();
});

test("[V23] a reason is not sent and not given up while it is composed", async () => {
  const { page, context } = await harness.open("/");
  const plan = { recording: RECORDING, lines: 0, act: "ask", answers: join(folder, "answers.jsonl") };
  await page.getByRole("textbox", { name: "Prompt" }).fill(JSON.stringify(plan));
  await page.keyboard.press("Enter");
  const deny = page.getByRole("button", { name: "Deny…" });
  await expect.poll(() => deny.isEnabled()).toBe(true);
  await deny.click();
  await page.getByRole("textbox", { name: "Reason" }).waitFor();
  await compose(page, "だめ", ["Enter", "Escape"]);
  await pressLate(page, ["Enter", "Escape"]);
  expect(await page.getByRole("textbox", { name: "Reason" }).inputValue()).toBe("だめ");
  await page.keyboard.press("Enter");
  await page.getByText(": だめ").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await context.close();
});
