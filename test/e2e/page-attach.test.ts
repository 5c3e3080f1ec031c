/**
 * Files and pictures that go along with a prompt: chosen, pasted and dropped, refused in words, taken away again, and seen by
 * the agent whole.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { FAKE_CLAUDE, newConversation, openHarness, type PageHarness } from "./page/harness.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/text-markdown.jsonl", import.meta.url),
);
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-attach-"));
  writeFileSync(join(folder, "notes.md"), "# Notes\n\nsome words\n");
  writeFileSync(join(folder, "pixel.png"), Buffer.from(PIXEL, "base64"));
  writeFileSync(join(folder, "program.bin"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]));
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

const attached = (page: Page) => page.locator(".attached li");

/** As the browser does it when a file is dropped on, or pasted into, an element. */
function bring(
  page: Page,
  type: "drop" | "paste",
  name: string,
  mime: string,
  base64: string,
): Promise<void> {
  return page.locator(".composer textarea").evaluate(
    (field, given) => {
      const bytes = Uint8Array.from(atob(given.base64), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], given.name, { type: given.mime }));
      const init = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        given.type === "drop"
          ? new DragEvent("drop", { ...init, dataTransfer: transfer })
          : new ClipboardEvent("paste", { ...init, clipboardData: transfer }),
      );
    },
    { type, name, mime, base64 },
  );
}

test("[V7] [V12] [D10] chosen, pasted and dropped: they are seen in the conversation, and by the agent whole", async () => {
  const { page, complaints } = await harness.open("/");
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files or pictures" }).focus();
  await page.keyboard.press("Enter");
  await (await chosen).setFiles([join(folder, "notes.md")]);
  await bring(page, "paste", "image.png", "image/png", PIXEL);
  await bring(page, "drop", "log.txt", "text/plain", btoa("a dropped log"));
  await expect.poll(() => attached(page).count()).toBe(3);
  expect(await axeFindings(page)).toEqual([]);
  const heard = join(folder, "heard.json");
  await page
    .getByRole("textbox", { name: "Prompt" })
    .fill(JSON.stringify({ recording: RECORDING, lines: 1_000, act: "exit0", heard }));
  await expect.poll(() => page.getByRole("button", { name: "Send", exact: true }).isEnabled()).toBe(true);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  await page.waitForSelector("footer.turn:not(.running)");
  expect(await page.locator('article.role-user[data-kind="code"]').count()).toBe(2);
  const picture = page.locator('article.role-user[data-kind="image"] img');
  await expect.poll(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1);
  // Its size stays with its block.
  expect([await picture.getAttribute("width"), await picture.getAttribute("height")]).toEqual(["1", "1"]);
  expect(await attached(page).count()).toBe(0);
  const content = JSON.parse(readFileSync(heard, "utf8"));
  expect(content.slice(0, 3)).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    { type: "text", text: "Attached file notes.md:\n\n# Notes\n\nsome words\n" },
    { type: "text", text: "Attached file log.txt:\n\na dropped log" },
  ]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V1] [V134] a kept picture has its room before it comes, whether or not its size is known", async () => {
  const conversation = await newConversation(harness.kernel, "kept pictures");
  const shot = await harness.browser.newPage({ viewport: { width: 300, height: 260 } });
  const bytes = await shot.screenshot();
  await shot.close();
  const blob = createHash("sha256").update(bytes).digest("hex");
  await harness.kernel.store.putBlob(blob, "image/png", bytes);
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const image = { kind: "image", role: "user", status: "done", text: "" } as const;
      const known = draft.create({ ...image, metadata: { blob, width: 300, height: 260 } });
      if (isProblem(known)) return known;
      const unknown = draft.create({ ...image, metadata: { blob } });
      return isProblem(unknown)
        ? unknown
        : draft.create({ kind: "text", role: "user", status: "done", text: "below" });
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  const { page, context } = await harness.open("/", { height: 1_600 });
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  await context.route("**/v1/blobs/*", async (route) => {
    await given;
    await route.continue();
  });
  await page.goto(`${harness.running.url}/c/${conversation}`);
  const below = page.locator(`[data-block="${made.id}"]`);
  await below.waitFor();
  const top = async () => (await below.boundingBox())?.y ?? 0;
  const before = await top();
  give();
  const pictures = page.locator("img.picture");
  const isHere = () =>
    pictures.evaluateAll((all) => all.every((each) => (each as HTMLImageElement).naturalWidth === 300));
  await expect.poll(isHere).toBe(true);
  expect(await pictures.count()).toBe(2);
  expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
  await context.close();
});

test("[V7] what cannot be attached says why; what can be is taken away by key and by button", async () => {
  const { page } = await harness.open("/");
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files or pictures" }).hover();
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("a");
  await (await chosen).setFiles([
    join(folder, "program.bin"),
    join(folder, "notes.md"),
    join(folder, "pixel.png"),
  ]);
  await expect.poll(() => attached(page).count()).toBe(3);
  const failed = page.locator(".attached li.failed");
  await failed.waitFor();
  expect(await failed.textContent()).toContain("not a text file");
  await page.getByRole("button", { name: "Remove program.bin" }).click();
  await expect.poll(() => attached(page).count()).toBe(2);
  await page.getByRole("textbox", { name: "Prompt" }).focus();
  await page.keyboard.press("Backspace");
  await expect.poll(() => attached(page).count()).toBe(1);
  expect(await attached(page).textContent()).toContain("notes.md");
  await page.context().close();
});

test("[V7] [AC242] go along in a mode that the page signs for", async () => {
  const { page, complaints } = await harness.open("/");
  await page.getByRole("button", { name: "Mode: Ask" }).click();
  await page.getByRole("menuitemradio", { name: /^Accept edits/ }).click();
  await bring(page, "paste", "image.png", "image/png", PIXEL);
  await expect.poll(() => attached(page).count()).toBe(1);
  await page
    .locator(".composer textarea")
    .fill(JSON.stringify({ recording: RECORDING, lines: 9, act: "exit0" }));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  await page.locator("article[data-kind=image]").waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V7] what was not sent stays, with its files", async () => {
  process.env["BLOCKYARD_CLAUDE"] = join(folder, "no-such-agent");
  const { page } = await harness.open("/");
  await bring(page, "drop", "kept.txt", "text/plain", btoa("kept"));
  await page.getByRole("textbox", { name: "Prompt" }).fill("do it");
  await expect.poll(() => page.getByRole("button", { name: "Send", exact: true }).isEnabled()).toBe(true);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".note.bad");
  expect(await attached(page).textContent()).toContain("kept.txt");
  process.env["BLOCKYARD_CLAUDE"] = FAKE_CLAUDE;
  await page.context().close();
});

test("a picture that is too large is made smaller", async () => {
  const { page } = await harness.open("/");
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2_600, 1_300);
    const pen = canvas.getContext("2d");
    const noise = pen?.createImageData(2_600, 1_300);
    if (!pen || !noise) return;
    for (let i = 0; i < noise.data.length; i++) noise.data[i] = (i * 7_919 * ((i >> 9) + 1)) & 255 || 1;
    pen.putImageData(noise, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/png" });
    const transfer = new DataTransfer();
    transfer.items.add(new File([blob], "large.png", { type: "image/png" }));
    (window as unknown as { largeBytes: number }).largeBytes = blob.size;
    document
      .querySelector(".composer textarea")
      ?.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, clipboardData: transfer }));
  });
  const bytes = await page.evaluate(() => (window as unknown as { largeBytes: number }).largeBytes);
  expect(bytes).toBeGreaterThan(3_000_000);
  await expect.poll(() => page.locator(".attached progress").count()).toBe(0);
  expect(await page.locator(".attached li.failed").allTextContents()).toEqual([]);
  expect(await attached(page).count()).toBe(1);
  await page.context().close();
});
