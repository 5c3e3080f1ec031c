/**
 * A whole day by keyboard: no pointer is moved or pressed. What each step comes to is named by its role and name, and has the focus where
 * a reader sees it.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";
import { Keyboard } from "./page/keyboard.ts";
import { StandIn } from "./page/stand-in.ts";

const QUESTION = {
  ...{ question: "Which way to round?", header: "Rounding", multiSelect: false },
  options: [{ label: "Half up" }, { label: "Half to even" }],
};
const MORNING = "Round the vouchers right";
const NOON = "Now write the receipts";
const EVENING = "Write them shorter instead";

let standIn: StandIn;
let harness: PageHarness;

beforeAll(async () => {
  standIn = new StandIn();
  harness = await openHarness({ claude: standIn.program, workspace: "shop" });
  standIn.cwd = harness.root;
  standIn.teach(MORNING, [
    { asks: "Bash", input: { command: "npm test", description: "Run the tests" } },
    { asks: "AskUserQuestion", input: { questions: [QUESTION] } },
    { asks: "ExitPlanMode", input: { plan: "# Plan\n\n1. Multiply first\n" } },
    {
      calls: "Write",
      input: { file_path: `${harness.root}/src/price.ts`, content: "export const half = 0.5;\n" },
      result: "File created successfully",
      more: {
        tool_use_result: {
          ...{
            type: "create",
            filePath: `${harness.root}/src/price.ts`,
            content: "export const half = 0.5;\n",
          },
          ...{ structuredPatch: [], originalFile: null, userModified: false },
        },
      },
    },
    { says: "Vouchers are rounded once." },
  ]);
  standIn.teach(NOON, [{ says: "The receipts list every voucher." }], { stays: true });
  standIn.teach(EVENING, [{ says: "One line each." }]);
}, 180_000);

afterAll(async () => {
  await harness?.close();
  standIn?.remove();
});

interface Day {
  readonly page: Page;
  readonly keys: Keyboard;
}

/** The day, in its order: what is done, and how. */
const DAY: readonly (readonly [string, (day: Day) => Promise<void>])[] = [
  [
    "start a conversation",
    async ({ page, keys }) => {
      await keys.isAt("textbox", "Prompt");
      await keys.type(MORNING);
      await keys.press("Enter");
      await page.getByRole("region", { name: "Needs approval" }).waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "approve a permission by its number",
    async ({ page, keys }) => {
      await enabled(page, /Allow once/);
      await keys.press("Escape");
      await keys.isAt("region", "Needs approval");
      await keys.press("1");
      await page.getByText("You allowed this").waitFor();
    },
  ],
  [
    "answer a question by its number",
    async ({ page, keys }) => {
      await page.getByRole("region", { name: "Needs an answer" }).waitFor();
      await keys.press("2");
      await keys.isAt("radio", /Half to even/);
      await enabled(page, "Answer");
      await keys.press("Enter");
      await expect.poll(() => standIn.heard(MORNING)[1] ?? "").toContain("Half to even");
    },
  ],
  [
    "edit a plan, and approve it as it reads then",
    async ({ page, keys }) => {
      const ask = page.getByRole("region", { name: "Needs approval" });
      await ask.waitFor();
      await keys.walk("Tab", "button", "Edit plan");
      await keys.press("Enter");
      await keys.isAt("textbox", "Block text");
      await keys.press("Control+End");
      await keys.type("2. Round once");
      await keys.press("Escape");
      await ask.getByText("was edited").waitFor();
      // The key that closes an editor is not the first of the two that stop the turn.
      expect(await page.getByText("Press Esc again to stop").count()).toBe(0);
      await keys.isAt("article", /by/);
      await enabled(page, /Approve/);
      await keys.press("1");
      await expect.poll(() => standIn.heard(MORNING)[2] ?? "").toContain("2. Round once");
      await page.getByText("Vouchers are rounded once.").first().waitFor();
    },
  ],
  [
    "steer while it works",
    async ({ page, keys }) => {
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
      await keys.press("n");
      await keys.isAt("textbox", "Prompt");
      await keys.type(NOON);
      await keys.press("Enter");
      await page.getByText("The receipts list every voucher.").first().waitFor();
      await keys.type("With the VAT");
      await keys.press("Control+Enter");
      await page.getByText("With the VAT").first().waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "stop",
    async ({ page, keys }) => {
      await keys.press("Escape");
      await page.getByText("Press Esc again to stop").waitFor();
      await keys.press("Escape");
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "fork",
    async ({ page, keys }) => {
      await keys.press("Escape");
      await keys.press("j");
      await keys.walk("k", "article", /^text by/);
      await keys.press("f");
      await keys.isAt("textbox", "Prompt");
      await keys.type(EVENING);
      await keys.press("Enter");
      await page.getByText("One line each.").first().waitFor();
      await page.getByText(/of 2/).first().waitFor();
    },
  ],
  [
    "find",
    async ({ page, keys }) => {
      await keys.press("Control+f");
      await keys.isAt("textbox", "Find in this conversation");
      await keys.type("round");
      await page
        .getByText(/\d+ match|of \d+/)
        .first()
        .waitFor();
      await keys.press("Enter", "Enter", "Shift+Enter");
      await keys.isAt("textbox", "Find in this conversation");
      await keys.press("Escape");
      await page.getByRole("search").waitFor({ state: "detached" });
      await keys.isAt("article", /by/);
    },
  ],
  [
    "review the changes",
    async ({ page, keys }) => {
      await keys.command("review", /^Review changes/);
      await keys.isAt("tab", "Changes");
      await page.getByRole("tabpanel", { name: "Changes" }).waitFor();
      await keys.walk("Tab", "button", /price\.ts/);
      await keys.press("Escape");
      await page.getByRole("tabpanel", { name: "Changes" }).waitFor({ state: "detached" });
    },
  ],
  [
    "search everything",
    async ({ page, keys }) => {
      await keys.command("search every", /^Search everything/);
      await keys.isAt("combobox", "Search everything");
      await keys.type("pears");
      await page.getByRole("option", { name: /pears/ }).first().waitFor();
      await keys.press("Enter");
      await page.getByRole("heading", { name: "The fruit list" }).waitFor();
    },
  ],
  [
    "switch to another conversation",
    async ({ page, keys }) => {
      await keys.press("Escape");
      await keys.press("s");
      await keys.isAt("link", /The fruit list/);
      await keys.walk("ArrowUp", "link", /Yesterday's notes/);
      await keys.press("Enter");
      await page.getByRole("heading", { name: "Yesterday's notes" }).waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "archive it",
    async ({ page, keys }) => {
      await keys.command("archive the", /^Archive the conversation/);
      await page.getByRole("button", { name: "1 archived conversation" }).waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "delete another",
    async ({ page, keys }) => {
      await keys.command("fruit", /The fruit list/);
      await page.getByRole("heading", { name: "The fruit list" }).waitFor();
      await keys.command("delete the", /^Delete the conversation/);
      await enabled(page, "Delete");
      await keys.isAt("button", "Cancel");
      await keys.walk("Tab", "button", "Delete");
      await keys.press("Enter");
      await page.getByText("Deleted “The fruit list”").waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
  [
    "undo",
    async ({ page, keys }) => {
      await keys.press("Control+z");
      await page.getByRole("heading", { name: "The fruit list" }).waitFor();
      await page
        .getByRole("link", { name: /The fruit list/ })
        .first()
        .waitFor();
      await keys.isAt("textbox", "Prompt");
    },
  ],
];

test("[V130] a whole day by keyboard alone: whatever has the focus is on the screen, and seen to have it", async () => {
  const fruit = await newConversation(harness.kernel, "The fruit list");
  await say(harness.kernel, fruit, [{ text: "Seven plums and nine pears." }]);
  const notes = await newConversation(harness.kernel, "Yesterday's notes");
  await say(harness.kernel, notes, [{ text: "Nothing of note." }]);
  const { page, complaints, context } = await harness.open("/", { width: 1400, height: 900 });
  await page.addInitScript(watchPointer);
  await page.evaluate(watchPointer);
  const day = { page, keys: new Keyboard(page) };
  for (const [what, act] of DAY) {
    try {
      await act(day);
    } catch (error) {
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }
  expect(await page.evaluate(() => (window as { pointed?: true }).pointed)).toBeUndefined();
  expect(complaints).toEqual([]);
  await context.close();
}, 120_000);

/** Nobody points at anything. */
function watchPointer(): void {
  addEventListener("pointerdown", () => Object.assign(window, { pointed: true }), { capture: true });
}

const enabled = (page: Page, name: RegExp | string) =>
  expect.poll(() => page.getByRole("button", { name }).first().isEnabled()).toBe(true);
