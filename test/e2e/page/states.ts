/**
 * The states of the page that are drawn and looked at, by name: where each is, and what a reader does to get there. By role and name, as
 * a reader finds things.
 */
import type { Page } from "playwright-core";
import type { Filled, Showcase } from "./showcase.ts";

export interface State {
  readonly name: string;
  readonly path: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

export type Shown = Filled & { readonly story: string; readonly review: string };

/** Before anything but the recorded sessions is there. */
export const FIRST_START: State = { name: "first-start", path: "/" };

export function statesOf(showcase: Showcase, of: Shown): readonly State[] {
  const at = (conversation: string) => `/c/${conversation}`;
  return [
    { name: "home", path: "/" },
    { name: "conversation", path: at(of.story) },
    { name: "markdown", path: at(of.markdown) },
    { name: "streaming", path: at(of.streaming) },
    { name: "permission-edit", path: at(of.permissionEdit), act: seen("Needs approval") },
    { name: "permission-command", path: at(of.permissionCommand), act: seen("Needs approval") },
    { name: "question", path: at(of.question), act: seen("Needs an answer") },
    { name: "questions", path: at(of.questions), act: seen("Needs an answer") },
    { name: "plan", path: at(of.plan), act: seen("Needs approval") },
    { name: "plan-editor", path: at(of.plan), act: editPlan },
    { name: "failed", path: at(of.failed) },
    { name: "sub-agent", path: at(of.story), act: openSubAgent },
    { name: "gathered", path: at(of.gathered), act: openGathered },
    { name: "long-diff", path: at(of.longDiff) },
    { name: "running-command", path: at(of.command) },
    { name: "todo", path: at(of.todo) },
    { name: "queue", path: at(of.todo), act: queue },
    { name: "terminal", path: at(of.terminal), act: openCommand },
    { name: "list", path: at(of.story), act: openList },
    { name: "view-menu", path: at(of.story), act: press("View") },
    { name: "more-menu", path: at(of.story), act: press("More") },
    { name: "costs", path: at(of.story), act: command("costs") },
    { name: "palette", path: at(of.story), act: command("") },
    { name: "search", path: "/", act: search },
    { name: "changes", path: at(of.story), act: pane("Changes") },
    { name: "session", path: at(of.story), act: pane("Session") },
    { name: "outline", path: at(of.story), act: pane("Outline") },
    { name: "file-together", path: "/files?path=src%2Fcart%2Ftotal.ts", act: together(showcase) },
    { name: "settings", path: at(of.story), act: command("settings") },
    { name: "help", path: at(of.story), act: command("keyboard shortcuts") },
    { name: "delete", path: at(of.story), act: command("delete the") },
    { name: "find", path: at(of.story), act: find },
    { name: "run-again", path: at(of.terminal), act: runAgain },
    { name: "block", path: at(of.together), act: (page) => details(page, of.notes) },
  ];
}

export function seen(name: string) {
  return async (page: Page) => {
    const ask = page.getByRole("region", { name });
    await ask.waitFor();
    await ask.getByRole("button").first().scrollIntoViewIfNeeded();
  };
}

function press(name: string) {
  return (page: Page) => page.getByRole("button", { name, exact: true }).click();
}

function pane(tab: string) {
  return async (page: Page) => {
    const there = page.getByRole("tab", { name: tab });
    // In a wide window it is there already.
    if (!(await there.isVisible()))
      await page.getByRole("button", { name: "Side pane", exact: true }).click();
    await there.click();
  };
}

export function command(words: string) {
  return async (page: Page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill(words);
    if (words !== "") await page.keyboard.press("Enter");
  };
}

async function editPlan(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Edit plan" }).click();
  await page.getByRole("button", { name: "Done" }).waitFor();
}

async function openSubAgent(page: Page): Promise<void> {
  const row = page.getByRole("button", { name: /^Agent/ }).first();
  await row.click();
  await row.scrollIntoViewIfNeeded();
}

async function openGathered(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Searched, read/ }).click();
  await page
    .getByRole("button", { name: /^Read.*price/ })
    .first()
    .click();
}

async function openCommand(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /^Run(?! again)/ })
    .first()
    .click();
}

async function queue(page: Page): Promise<void> {
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  const waiting = page.getByRole("list", { name: "Queued messages" });
  if ((await waiting.count()) > 0) return;
  for (const text of ["Then write the release note", "And tell the support how refunds work now"]) {
    await prompt.fill(text);
    await page.getByRole("button", { name: "Queue" }).click();
    await waiting.getByText(text).waitFor();
  }
}

async function openList(page: Page): Promise<void> {
  const isNarrow = (page.viewportSize()?.width ?? 0) <= 760;
  if (isNarrow) await page.getByRole("button", { name: "Conversations" }).click();
}

async function search(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search everything" }).fill("voucher");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
}

async function find(page: Page): Promise<void> {
  await page.keyboard.press("Control+f");
  await page
    .getByRole("textbox", { name: /find/i })
    .or(page.getByRole("searchbox", { name: /find/i }))
    .fill("discounted");
  await page.keyboard.press("Enter");
}

async function runAgain(page: Page): Promise<void> {
  await openCommand(page);
  await page.getByRole("button", { name: "Run again" }).first().click();
  // Where it ran first is on another machine.
  await page.getByRole("button", { name: /^Work in/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run" }).waitFor();
}

/** A file with an agent's cursor in it. */
function together({ running }: Showcase) {
  return async (page: Page) => {
    const path = "src/cart/total.ts";
    const agent = { agent: "claude", role: "agent", by: "token" } as const;
    if ((page.viewportSize()?.width ?? 0) >= 1280) {
      const isThere = await page.getByRole("treeitem").first().isVisible();
      if (!isThere) await page.getByRole("button", { name: "Side pane", exact: true }).click();
      for (const name of ["src", "cart"]) await page.getByRole("treeitem", { name }).click();
    }
    const opened = await running.tools.call(agent, "file.open", { path });
    const { block_id } = opened as unknown as { block_id: string };
    await running.tools.call(agent, "cursor.set", { block_id, head: { line: 7, column: 38 } });
    await page.locator(".file-editor .t-keyword").first().waitFor();
  };
}

async function details(page: Page, block: string): Promise<void> {
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("i");
}
