/**
 * Writes the screenshots of docs/screens: the page's main states, light and dark, wide and narrow, from recordings on a
 * real server in a real browser. `node scripts/run.mjs scripts/screens.mjs`
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ingest, newConversation, openYard, replayed, say } from "../test/e2e/page/yard.ts";

const folder = fileURLToPath(new URL("../docs/screens/", import.meta.url));
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

const TOTAL = `/** What a cart comes to, in cents. */
export interface Line {
  readonly price: number;
  readonly count: number;
}

export function total(lines: readonly Line[]): number {
  let sum = 0;
  for (const { price, count } of lines) sum += price * count;
  return sum;
}
`;

mkdirSync(folder, { recursive: true });
const yard = await openYard();
const { kernel } = yard;

/** @type {(name: string, path: string, look: import("../test/e2e/page/yard.ts").Look, act?: (page: import("playwright-core").Page) => Promise<unknown>) => Promise<void>} */
async function screen(name, path, look, act) {
  const { page, context } = await yard.open(path, look);
  await page.waitForTimeout(800);
  await act?.(page);
  await page.waitForTimeout(700);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
  console.log(`docs/screens/${name}.png`);
}

await screen("first-start", "/", WIDE);
const claude = await ingest(kernel, "claude", "claude/write-edit.jsonl", "Add a multiply function");
const terminal = await ingest(kernel, "claude", "claude/bash-ansi.jsonl", "Print in colours");
const agents = await ingest(kernel, "claude", "claude/subagent-parallel.jsonl", "Look at two files at once");
await ingest(kernel, "codex", "codex/patch-add-update-delete.jsonl", "Move the helpers");
const markdown = await ingest(kernel, "claude", "claude/text-markdown.jsonl", "Explain the plan");
const failed = await ingest(kernel, "claude", "claude/api-429.jsonl", "Summarise the log");

await screen("conversation", `/c/${claude}`, WIDE);
await screen("conversation-dark", `/c/${claude}`, { ...WIDE, dark: true });
await screen("conversation-phone", `/c/${claude}`, PHONE);
await screen("terminal", `/c/${terminal}`, WIDE);
await screen("markdown-dark", `/c/${markdown}`, { ...WIDE, dark: true });
await screen("error", `/c/${failed}`, WIDE);
await screen("sub-agents", `/c/${agents}`, WIDE, async (page) => {
  for (const line of await page.locator(".nested-line").all()) await line.click();
});
await screen("side-by-side", `/c/${claude}`, WIDE, async (page) => {
  await page.keyboard.press("Control+k");
  await page.locator(".chooser input").fill("side by side");
  await page.keyboard.press("Enter");
});
await screen("search", "/", WIDE, async (page) => {
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.locator(".chooser input").fill("math");
  await page.waitForSelector(".chooser-item");
});
await screen("run-again", `/c/${terminal}`, WIDE, async (page) => {
  await page.getByRole("button", { name: "Run again" }).first().click();
  await page.waitForSelector("dialog .exact");
});
mkdirSync(join(yard.root, "src/cart"), { recursive: true });
writeFileSync(join(yard.root, "README.md"), "# Shop\n");
writeFileSync(join(yard.root, "src/cart/total.ts"), TOTAL);
await screen("file-together", "/files?path=src%2Fcart%2Ftotal.ts", WIDE, async (page) => {
  await page.getByRole("button", { name: "Files", exact: true }).click();
  await page.getByRole("treeitem", { name: "src" }).click();
  await page.getByRole("treeitem", { name: "cart" }).click();
  const agent = /** @type {const} */ ({ agent: "claude", role: "agent", by: "token" });
  const opened = await yard.running.tools.call(agent, "file.open", { path: "src/cart/total.ts" });
  const block_id = /** @type {{ block_id: string }} */ (/** @type {unknown} */ (opened)).block_id;
  await yard.running.tools.call(agent, "cursor.set", { block_id, head: { line: 8, column: 33 } });
  await page.locator(".file-editor .t-keyword").first().waitFor();
});
await screen("list-phone", `/c/${claude}`, PHONE, (page) =>
  page.getByRole("button", { name: "Conversations" }).click(),
);

const live = await replayed(kernel, "claude", "claude/long-text.jsonl");
for (let i = 0; i < 40; i++) await live.next();
await screen("streaming", `/c/${live.conversation}`, WIDE);
await live.end();

const together = await newConversation(kernel, "Release notes");
const [block] = await say(kernel, together, [
  { text: "The agent has written the notes so far, and is still at it.\n", status: "running" },
]);
await screen("edit-together-dark", `/c/${together}`, { ...WIDE, dark: true }, async (page) => {
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("e");
  await page.locator(".editor-host .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# Release notes\n\n");
  await page.keyboard.press("Escape");
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("i");
});
await yard.close();
process.exit(0);
