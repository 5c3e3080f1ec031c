/**
 * Pictures of the page's states, from recordings on a real server in a real browser.
 *
 *   node scripts/run.mjs scripts/screens.mjs                 the pictures of docs/screens
 *   node scripts/run.mjs scripts/screens.mjs --all <folder>  every state, in both themes, at three widths, and a page that shows them
 *   node scripts/run.mjs scripts/screens.mjs --all <folder> home costs   only these
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ingest, newConversation, openYard, replayed, say } from "../test/e2e/page/yard.ts";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ name: string, path: () => string, act?: (page: Page) => Promise<unknown> }} State */

const WIDTHS = {
  phone: { width: 390, height: 844 },
  wide: { width: 1400, height: 900 },
  widest: { width: 1920, height: 1080 },
};
/** What docs show: a state, its theme, its width, and the picture's name. */
const DOCS = /** @type {const} */ ([
  ["first-start", "light", "wide", "first-start"],
  ["home", "light", "wide", "home"],
  ["conversation", "light", "wide", "conversation"],
  ["changes", "dark", "wide", "conversation-dark"],
  ["conversation", "light", "phone", "conversation-phone"],
  ["list", "dark", "phone", "list-phone"],
  ["terminal", "light", "wide", "terminal"],
  ["sub-agents", "light", "wide", "sub-agents"],
  ["failed", "light", "wide", "error"],
  ["run-again", "light", "wide", "run-again"],
  ["file-together", "light", "wide", "file-together"],
  ["costs", "light", "wide", "costs"],
  ["palette", "dark", "wide", "palette"],
]);

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

const [mode, folder = "", ...only] = process.argv.slice(2);
const harness = await openYard();
const { kernel } = harness;
const docs = fileURLToPath(new URL("../docs/screens/", import.meta.url));
/** @type {readonly State[]} */
let states = [];
await firstStart();
states = statesOf(await fill());

if (mode === "--all") await everything();
else
  for (const [state, theme, width, name] of DOCS)
    if (state !== "first-start") await draw(state, theme, width, join(docs, `${name}.png`));
await harness.close();
process.exit(0);

/** Before anything else is there. @returns {Promise<void>} */
async function firstStart() {
  mkdirSync(join(harness.root, ".git"));
  writeFileSync(join(harness.root, ".git", "HEAD"), "ref: refs/heads/main\n");
  if (mode !== "--all") await draw("first-start", "light", "wide", join(docs, "first-start.png"), "/");
  else if (wants("first-start"))
    for (const [theme, width] of looks())
      await draw("first-start", theme, width, file("first-start", theme, width), "/");
}

/** Conversations in every state, and files. */
async function fill() {
  const [claude, terminal, agents, markdown, failed] = [
    await ingest(kernel, "claude", "claude/write-edit.jsonl", "Add a multiply function"),
    await ingest(kernel, "claude", "claude/bash-ansi.jsonl", "Print in colours"),
    await ingest(kernel, "claude", "claude/subagent-parallel.jsonl", "Look at two files at once"),
    await ingest(kernel, "claude", "claude/text-markdown.jsonl", "Explain the plan"),
    await ingest(kernel, "claude", "claude/api-429.jsonl", "Summarise the log"),
  ];
  await ingest(kernel, "codex", "codex/patch-add-update-delete.jsonl", "Move the helpers");
  const asking = await newConversation(kernel, "Delete the old migrations");
  const turn = /** @type {const} */ ({ id: "t", provider: "claude", agent: "claude", startedAt: Date.now() });
  await kernel.write(asking, {
    agent: "claude",
    plan: (draft) => {
      draft.conversation({ metadata: { cwd: harness.root } });
      draft.setTurn({ ...turn, status: "running" });
      const user = { turn: "t" };
      draft.create({
        kind: "text",
        role: "user",
        status: "done",
        text: "Delete the migrations of 2019",
        metadata: user,
      });
      const input = { command: "rm -rf migrations/2019", description: "Delete old migrations" };
      const metadata = { toolName: "Bash", toolUseId: "u", turn: "t", stage: "running", input };
      const approval = { id: "a", state: "asked", title: "Run this command?" };
      draft.create({
        ...{ kind: "tool_call", role: "model", status: "running", text: JSON.stringify(input) },
        metadata: { ...metadata, approval },
      });
      return null;
    },
  });
  const stopped = await newConversation(kernel, "Try the new bundler");
  await kernel.write(stopped, {
    agent: "claude",
    plan: (draft) => {
      draft.setTurn({ ...turn, status: "error", reason: "cancelled" });
      return null;
    },
  });
  const live = await replayed(kernel, "claude", "claude/long-text.jsonl");
  for (let i = 0; i < 40; i++) await live.next();
  const together = await newConversation(kernel, "Release notes");
  const [notes = ""] = await say(kernel, together, [
    { text: "The agent has written the notes so far, and is still at it.\n", status: "running" },
  ]);
  mkdirSync(join(harness.root, "src/cart"), { recursive: true });
  writeFileSync(join(harness.root, "README.md"), "# Shop\n");
  writeFileSync(join(harness.root, "src/cart/total.ts"), TOTAL);
  return { claude, terminal, agents, markdown, failed, asking, live: live.conversation, together, notes };
}

/** @param {Awaited<ReturnType<typeof fill>>} of @returns {readonly State[]} */
function statesOf(of) {
  const at = (/** @type {string} */ id) => () => `/c/${id}`;
  /** @type {(tab: string) => (page: Page) => Promise<void>} */
  const pane = (tab) => async (page) => {
    await page.getByRole("button", { name: "Side pane" }).click();
    await page.getByRole("tab", { name: tab }).click();
  };
  /** @type {(words: string) => (page: Page) => Promise<void>} */
  const command = (words) => async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill(words);
    if (words !== "") await page.keyboard.press("Enter");
  };
  const home = () => "/";
  return [
    { name: "home", path: home },
    { name: "conversation", path: at(of.claude) },
    { name: "changes", path: at(of.claude), act: pane("Changes") },
    { name: "session", path: at(of.claude), act: pane("Session") },
    { name: "outline", path: at(of.agents), act: pane("Outline") },
    { name: "terminal", path: at(of.terminal) },
    { name: "sub-agents", path: at(of.agents), act: openNested },
    { name: "markdown", path: at(of.markdown) },
    { name: "failed", path: at(of.failed) },
    { name: "needs-you", path: at(of.asking) },
    { name: "streaming", path: at(of.live) },
    { name: "list", path: at(of.claude), act: openList },
    {
      name: "view-menu",
      path: at(of.claude),
      act: (page) => page.getByRole("button", { name: "View" }).click(),
    },
    {
      name: "more-menu",
      path: at(of.claude),
      act: (page) => page.getByRole("button", { name: "More", exact: true }).click(),
    },
    { name: "palette", path: at(of.claude), act: command("") },
    { name: "costs", path: at(of.claude), act: command("costs") },
    { name: "settings", path: at(of.claude), act: command("settings") },
    { name: "delete", path: at(of.claude), act: command("delete the") },
    { name: "search", path: home, act: search },
    { name: "run-again", path: at(of.terminal), act: runAgain },
    { name: "file-together", path: () => "/files?path=src%2Fcart%2Ftotal.ts", act: together },
    { name: "block", path: at(of.together), act: (page) => details(page, of.notes) },
  ];
}

/** @param {Page} page */
async function openNested(page) {
  for (const line of await page.getByRole("button", { name: /^Agent/ }).all()) await line.click();
}

/** @param {Page} page */
async function openList(page) {
  const toggle = page.getByRole("button", { name: "Conversations" });
  if (await toggle.isVisible()) await toggle.click();
}

/** @param {Page} page */
async function search(page) {
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search everything" }).fill("math");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
}

/** @param {Page} page */
async function runAgain(page) {
  await page.getByRole("button", { name: /^Bash/ }).first().click();
  await page.getByRole("button", { name: "Run again" }).first().click();
  // Where it ran first is on another machine.
  await page.getByRole("button", { name: /^Work in/ }).click();
  await page.waitForSelector("dialog .exact");
}

/** A file with an agent's cursor in it. @param {Page} page */
async function together(page) {
  await page.getByRole("button", { name: "Side pane" }).click();
  await page.getByRole("treeitem", { name: "src" }).click();
  await page.getByRole("treeitem", { name: "cart" }).click();
  const agent = /** @type {const} */ ({ agent: "claude", role: "agent", by: "token" });
  const opened = await harness.running.tools.call(agent, "file.open", { path: "src/cart/total.ts" });
  const block_id = /** @type {{ block_id: string }} */ (/** @type {unknown} */ (opened)).block_id;
  await harness.running.tools.call(agent, "cursor.set", { block_id, head: { line: 8, column: 33 } });
  await page.locator(".file-editor .t-keyword").first().waitFor();
}

/** @param {Page} page @param {string} block */
async function details(page, block) {
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("i");
}

/** @typedef {"light" | "dark"} Theme */
/** @typedef {keyof typeof WIDTHS} Width */

/** @type {(state: string, theme: Theme, width: Width, to: string, path?: string) => Promise<void>} */
async function draw(state, theme, width, to, path) {
  const known = states.find(({ name }) => name === state);
  const look = { ...WIDTHS[width], dark: theme === "dark" };
  const { page, context } = await harness.open(path ?? known?.path() ?? "/", look);
  await page.waitForTimeout(900);
  try {
    await known?.act?.(page);
  } catch (error) {
    console.error(
      `${state} ${theme} ${width}: ${error instanceof Error ? error.message.split("\n")[0] : error}`,
    );
  }
  await page.waitForTimeout(600);
  await page.screenshot({ path: to });
  await context.close();
  console.log(to);
}

/** @returns {readonly (readonly [Theme, Width])[]} */
function looks() {
  const widths = /** @type {Width[]} */ (Object.keys(WIDTHS));
  return /** @type {const} */ (["light", "dark"]).flatMap((theme) =>
    widths.map((width) => /** @type {const} */ ([theme, width])),
  );
}

/** @param {string} name */
function wants(name) {
  return only.length === 0 || only.includes(name);
}

/** @type {(state: string, theme: Theme, width: Width) => string} */
function file(state, theme, width) {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${state}-${theme}-${width}.png`);
}

async function everything() {
  const shown = ["first-start", ...states.map(({ name }) => name)].filter(wants);
  for (const name of shown)
    if (name !== "first-start")
      for (const [theme, width] of looks()) await draw(name, theme, width, file(name, theme, width));
  const rows = shown.map(
    (name) =>
      `<h2>${name}</h2><p>${looks()
        .map(
          ([theme, width]) =>
            `<a href="${name}-${theme}-${width}.png"><img src="${name}-${theme}-${width}.png" alt="${name}, ${theme}, ${width}" height="300"></a>`,
        )
        .join(" ")}</p>`,
  );
  writeFileSync(
    join(folder, "index.html"),
    `<!doctype html><meta charset="utf-8"><title>The page</title><h1>The page</h1>${rows.join("\n")}`,
  );
  console.log(join(folder, "index.html"));
}
