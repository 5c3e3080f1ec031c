/**
 * Opening a file in the reader's own editor: asked once, linked safely, copied where there is none.
 */
import { isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { newConversation, openHarness, type PageHarness, type Visit } from "./page/harness.ts";

let harness: PageHarness;
let root: string;

beforeAll(async () => {
  harness = await openHarness();
  root = harness.root;
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

async function openFile(filename: string, dark = false): Promise<Visit & { readonly block: string }> {
  const conversation = await newConversation(harness.kernel, "files");
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        kind: "code",
        role: "tool",
        side: false,
        status: "done",
        text: "one\ntwo\n",
        metadata: { filename, startLine: 7, totalLines: 20 },
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
  const visit = await harness.open(`/c/${conversation}`, { dark });
  await visit.page.waitForSelector(".file-open");
  return { ...visit, block: made.id };
}

test("[V8] [V12] asks once which editor, then links to the place in the file; copies beside it", async () => {
  const { page, block, complaints } = await openFile("src/a b.ts", true);
  const here = page.getByRole("link", { name: "Edit src/a b.ts here" });
  await expect.poll(() => here.getAttribute("href")).toBe("/files?path=src%2Fa%20b.ts");
  await page.locator(`article[data-block="${block}"]`).focus();
  await page.keyboard.press("E");
  await page.getByRole("radio", { name: "Zed" }).check();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  const link = page.locator("a.file-open");
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe(`zed://file${encodeURI(root)}/src/a%20b.ts:7`);
  await page.getByRole("button", { name: "Copy the path src/a b.ts" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${root}/src/a b.ts`);
  await page.reload();
  await link.waitFor();
  expect(await link.getAttribute("href")).toContain("zed:");
  expect(complaints.filter((line) => !line.includes("zed:"))).toEqual([]);
  await page.context().close();
});

test("[V8] a link of one's own is never one that the browser would run; without an editor the path is copied", async () => {
  const { page } = await openFile("/elsewhere/x.ts");
  await page.locator(".file-open").click();
  await page.getByRole("radio", { name: "Custom URL…" }).check();
  const template = page.getByRole("textbox", { name: "Editor URL" });
  const use = page.getByRole("button", { name: "Use it and open" });
  for (const bad of ["javascript:alert({path})", "https://x.test/{path}", "file://{path}", "emacs://open"]) {
    await template.fill(bad);
    expect(await use.isDisabled()).toBe(true);
  }
  await template.fill("emacs://open?file={path}&line={line}");
  expect(await use.isEnabled()).toBe(true);
  await page.getByRole("radio", { name: "None: copy the path" }).check();
  await use.click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("/elsewhere/x.ts");
  expect(await page.locator("a.file-open").count()).toBe(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("choose the editor");
  await page.keyboard.press("Enter");
  await page.getByRole("radio", { name: "VS Code" }).check();
  await page.getByRole("button", { name: "Use it" }).click();
  expect(await page.locator("a.file-open").getAttribute("href")).toBe("vscode://file/elsewhere/x.ts:7");
  await page.context().close();
});
