/**
 * The composer: whom it asks and how, by menus; a field that grows, completes and remembers. By keyboard alone, in both themes and on a
 * phone.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem } from "@blockyard/kernel";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/text-markdown.jsonl", import.meta.url),
);

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-composer-"));
  harness = await openHarness({ fakeClaude: true });
  mkdirSync(join(harness.root, "src"));
  writeFileSync(join(harness.root, "src/store.ts"), "export const store = 1;\n");
  writeFileSync(join(harness.root, "src/my notes.md"), "# Notes\n");
  writeFileSync(join(harness.root, "readme.md"), "# Shop\n");
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

const prompt = (page: Page) => page.getByRole("textbox", { name: "Prompt" });
const picker = (page: Page, what: string) => page.getByRole("button", { name: new RegExp(`^${what}: `) });
const isFocused = (page: Page, name: RegExp) =>
  expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? ""))
    .toMatch(name);

/** A prompt that the stand-in for the agent answers with a recording. */
function plan(more: object = {}): string {
  return JSON.stringify({ recording: RECORDING, lines: 1_000, act: "exit0", ...more });
}

test("[CM5] commands that the agent tells late are listed when they come, without another key", async () => {
  const [asked, commands] = [join(harness.root, ".fake-asked"), join(harness.root, ".fake-commands.json")];
  writeFileSync(asked, "");
  const times = () => readFileSync(asked, "utf8").split("\n").length - 1;
  const { page, complaints, context } = await harness.open("/");
  await expect.poll(times).toBeGreaterThan(0);
  const before = times();
  await prompt(page).focus();
  await page.keyboard.type("/");
  await expect.poll(times).toBeGreaterThan(before);
  expect(await page.getByRole("listbox", { name: "Commands" }).count()).toBe(0);
  writeFileSync(commands, JSON.stringify([{ name: "status", description: "What it is at" }]));
  await page.getByRole("option", { name: /\/status/ }).waitFor();
  for (const file of [asked, commands]) rmSync(file);
  expect(complaints).toEqual([]);
  await context.close();
});

test("[CM5] the list of commands is on the screen, wherever the field is and whatever the window", async () => {
  const commands = join(harness.root, ".fake-commands.json");
  const many = Array.from({ length: 40 }, (_, i) => ({ name: `command-${i}`, description: "Does it" }));
  writeFileSync(commands, JSON.stringify(many));
  const conversation = await newConversation(harness.kernel, "commands");
  for (const [path, look] of [
    ["/", { width: 1400, height: 900 }],
    ["/", { width: 390, height: 700 }],
    ["/", { width: 1000, height: 420 }],
    [`/c/${conversation}`, { width: 1000, height: 420 }],
  ] as const) {
    const { page, context } = await harness.open(path, look);
    await prompt(page).click();
    await page.keyboard.type("/");
    const list = page.getByRole("listbox", { name: "Commands" });
    await list.waitFor();
    for (const box of [await list.boundingBox(), await list.getByRole("option").first().boundingBox()]) {
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(look.height);
    }
    await context.close();
  }
  rmSync(commands);
});

test("[CM1] [V86] [V12] agent, model and mode are menus: by keyboard, clean in both themes and on a phone", async () => {
  for (const look of [{}, { dark: true }, { width: 390, height: 844 }]) {
    const { page, complaints, context } = await harness.open("/", look);
    await picker(page, "Agent").focus();
    await page.keyboard.press("Enter");
    const missing = page.getByRole("group", { name: "Not ready on this machine" });
    await missing.waitFor();
    expect(await missing.getByRole("menuitemradio").first().textContent()).toMatch(/npm install|API_KEY/);
    expect(await axeFindings(page)).toEqual([]);
    // The chosen one has the focus; letters jump, and Enter takes.
    await page.keyboard.press("o");
    await page.keyboard.press("Enter");
    expect(await picker(page, "Agent").getAttribute("aria-label")).toMatch(/^Agent: (opencode|OpenAI API)$/);
    await page.getByRole("status").filter({ hasText: "isn't ready" }).waitFor();
    if (look.width === undefined) await isFocused(page, /^Prompt$/);
    await picker(page, "Agent").click();
    await page.getByRole("menuitemradio", { name: "Claude Code" }).click();
    await picker(page, "Model").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Find or enter a model" }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.type("my-own-model");
    await page.getByRole("option", { name: "Use “my-own-model”" }).waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Model: my-own-model" }).waitFor();
    await picker(page, "Mode").focus();
    await page.keyboard.press("Enter");
    await isFocusedItem(page, /Ask/);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("ArrowUp");
    await isFocusedItem(page, /Plan/);
    await page.keyboard.press("Escape");
    await isFocused(page, /^Mode: Ask$/);
    expect(complaints).toEqual([]);
    await context.close();
  }
});

async function isFocusedItem(page: Page, text: RegExp): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? "")).toMatch(text);
}

test("[CM1] a menu has the keys with the press that opens it: no letter behind it is lost", async () => {
  const { page, context } = await harness.open("/");
  await picker(page, "Mode").waitFor();
  const press = (button: Locator) =>
    button.evaluate((each: HTMLElement) => {
      each.click();
      return document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent;
    });
  expect(await press(picker(page, "Model"))).toBe("Find or enter a model");
  await page.keyboard.press("Escape");
  expect(await press(picker(page, "Mode"))).toMatch(/^Ask/);
  await context.close();
});

test("[CM2] what is chosen before the page knows its folder is chosen for that folder too", async () => {
  const conversation = await newConversation(harness.kernel, "chosen early");
  const { page, context } = await harness.open(`/c/${conversation}`);
  let answer = () => {};
  const isAnswered = new Promise<void>((done) => {
    answer = done;
  });
  await page.route("**/health", async (route) => {
    await isAnswered;
    await route.continue();
  });
  await page.reload();
  const workspace = page.locator(".workspace-name");
  await picker(page, "Model").click();
  await page.keyboard.type("an-early-one");
  await page.getByRole("option", { name: "Use “an-early-one”" }).click();
  await page.getByRole("button", { name: "Model: an-early-one" }).waitFor();
  expect(await workspace.textContent()).toBe("Blockyard");
  answer();
  await expect.poll(() => workspace.textContent()).toBe("root");
  await page.goto(harness.running.url);
  await page.getByRole("heading", { name: "New task in root" }).waitFor();
  await page.getByRole("button", { name: "Model: an-early-one" }).waitFor();
  await context.close();
});

test("[CM2] what is chosen holds for its conversation, and for the next one; it goes along with the prompt", async () => {
  const conversation = await newConversation(harness.kernel, "chosen");
  const { page, context } = await harness.open(`/c/${conversation}`);
  await picker(page, "Model").click();
  await page.keyboard.type("opus-of-mine");
  await page.getByRole("option", { name: "Use “opus-of-mine”" }).click();
  await picker(page, "Mode").click();
  await page.getByRole("menuitemradio", { name: /^Plan/ }).click();
  const heard = join(folder, "chosen.json");
  await prompt(page).fill(plan({ heard }));
  await page.keyboard.press("Enter");
  await page.waitForSelector("footer.turn:not(.running)");
  const turns = await harness.kernel.turns(conversation);
  expect(isProblem(turns) ? turns : turns.length).toBe(1);
  await page.reload();
  await page.getByRole("button", { name: "Model: opus-of-mine" }).waitFor();
  await page.getByRole("button", { name: "Mode: Plan" }).waitFor();
  await page.goto(harness.running.url);
  await page.getByRole("button", { name: "Model: opus-of-mine" }).waitFor();
  expect(readFileSync(heard, "utf8")).toContain("recording");
  await context.close();
});

test("[CM2] a mode that the server has had is not taken for a newer choice when the mode goes back", async () => {
  const conversation = await newConversation(harness.kernel, "back");
  const becomes = async (mode: string) => {
    const plan = (draft: Parameters<Parameters<PageHarness["kernel"]["write"]>[1]["plan"]>[0]) => {
      draft.conversation({ metadata: { mode } });
      return null;
    };
    await harness.kernel.write(conversation, { agent: "root", plan });
  };
  await becomes("ask");
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.getByRole("button", { name: "Mode: Ask" }).click();
  await page.getByRole("menuitemradio", { name: /^Plan/ }).click();
  await page.getByRole("button", { name: "Mode: Plan" }).waitFor();
  // It was sent; then the plan was approved.
  await becomes("plan");
  await say(harness.kernel, conversation, [{ text: "The page has heard of it." }]);
  await page.getByText("The page has heard of it.").waitFor();
  await becomes("ask");
  await page.getByRole("button", { name: "Mode: Ask" }).waitFor();
  await context.close();
});

test("[CM3] the field grows with what is written; a draft is there again after a reload, each in its place", async () => {
  const conversation = await newConversation(harness.kernel, "draft");
  const { page, context } = await harness.open(`/c/${conversation}`);
  const height = () => prompt(page).evaluate((field) => field.clientHeight);
  const before = await height();
  await prompt(page).fill("one\ntwo\nthree\nfour\nfive");
  expect(await height()).toBeGreaterThan(before + 30);
  await page.reload();
  await expect.poll(() => prompt(page).inputValue()).toBe("one\ntwo\nthree\nfour\nfive");
  expect(await height()).toBeGreaterThan(before + 30);
  await page.goto(harness.running.url);
  await prompt(page).waitFor();
  expect(await prompt(page).inputValue()).toBe("");
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await prompt(page).fill("");
  await page.reload();
  await prompt(page).waitFor();
  expect(await prompt(page).inputValue()).toBe("");
  await context.close();
});

test("[CM4] arrow up in an empty field goes back through earlier prompts, over a reload", async () => {
  const { page, context } = await harness.open("/");
  for (const what of ["first", "second"]) {
    await page.goto(harness.running.url);
    await prompt(page).fill(plan({ what }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/c\//);
    await page.waitForSelector("footer.turn:not(.running)");
  }
  await page.reload();
  await prompt(page).press("ArrowUp");
  expect(await prompt(page).inputValue()).toContain('"second"');
  await prompt(page).press("ArrowUp");
  expect(await prompt(page).inputValue()).toContain('"first"');
  await prompt(page).press("ArrowDown");
  await prompt(page).press("ArrowDown");
  expect(await prompt(page).inputValue()).toBe("");
  await context.close();
});

test("[CM5] an @ completes files of the workspace; they can be added to the context, and taken out", async () => {
  const conversation = await newConversation(harness.kernel, "mentions");
  await say(harness.kernel, conversation, [{ text: "hello", role: "user" }]);
  const { page, complaints, context } = await harness.open(`/c/${conversation}`);
  await prompt(page).click();
  await page.keyboard.type("look at @sto");
  const files = page.getByRole("listbox", { name: "Files" });
  await files.getByRole("option", { name: /store\.ts/ }).waitFor();
  expect(await prompt(page).getAttribute("aria-activedescendant")).toBeTruthy();
  expect(await axeFindings(page)).toEqual([]);
  // Letters come before the next frame, and stay where they were typed.
  await page.evaluate(() => {
    const atOnce = window.requestAnimationFrame;
    window.requestAnimationFrame = (draw) => window.setTimeout(() => atOnce(draw), 100);
  });
  await page.keyboard.press("Enter");
  expect(await prompt(page).inputValue()).toBe("look at @src/store.ts ");
  await page.keyboard.type("and @notes", { delay: 20 });
  await files.getByRole("option").first().waitFor();
  await page.keyboard.press("Tab");
  expect(await prompt(page).inputValue()).toBe('look at @src/store.ts and @"src/my notes.md" ');
  await page.keyboard.type("@read");
  await files.getByRole("option", { name: /readme/ }).waitFor();
  await page.keyboard.press("Escape");
  await files.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("d @read");
  await files.getByRole("option", { name: /readme/ }).waitFor();
  await page.keyboard.press("Shift+Enter");
  const chips = page.getByRole("list", { name: "In the context" });
  await chips.getByText("readme.md").waitFor();
  const included = async () => {
    const record = await harness.kernel.conversation(conversation);
    return isProblem(record) ? [] : record.included;
  };
  expect(await included()).toHaveLength(1);
  await chips.getByRole("button", { name: "Remove readme.md from the context" }).click();
  await expect.poll(included).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("[CM6] a message that waits behind a long turn stands above the field, and can be removed", async () => {
  const conversation = await newConversation(harness.kernel, "Long turn");
  const waiting = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        ...{ kind: "text", role: "user", text: "and then the docs", side: true, status: "pending" },
        metadata: { turn: "t-later", notice: "queued", queued: { provider: "claude", held: "stopped" } },
      }),
  });
  if (isProblem(waiting)) throw new Error(waiting.message);
  await say(
    harness.kernel,
    conversation,
    Array.from({ length: 320 }, (_, i) => ({ text: `Step ${i}` })),
  );
  const { page, complaints, context } = await harness.open(`/c/${conversation}`);
  await page.getByText("Step 319").waitFor();
  const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  await queue.getByText("and then the docs").waitFor();
  await queue.getByText("Not sent: the turn was stopped").waitFor();
  await queue.getByRole("button", { name: "Remove this message" }).click();
  await expect.poll(() => queue.count()).toBe(0);
  expect(await harness.kernel.block(waiting.id)).toMatchObject({ status: "error" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("[A41] what is sent now is offered with the first word, and moves no other button", async () => {
  const conversation = await newConversation(harness.kernel, "under way");
  await harness.kernel.write(conversation, {
    agent: "claude",
    plan: (draft) => {
      draft.setTurn({ id: "t", provider: "claude", agent: "claude", status: "running", startedAt: draft.at });
      return null;
    },
  });
  const { page, context } = await harness.open(`/c/${conversation}`, { width: 1400 });
  const stop = page.getByRole("button", { name: "Stop" });
  const now = page.getByRole("button", { name: "Send now" });
  await stop.waitFor();
  const before = await stop.boundingBox();
  expect(await now.count()).toBe(0);
  await prompt(page).fill("And the tests");
  await now.waitFor();
  expect(await stop.boundingBox()).toEqual(before);
  await context.close();
});

test("[CM6] [CM7] what waits can be moved, edited and removed; Escape twice stops, and holds it", async () => {
  const { page, complaints, context } = await harness.open("/");
  await prompt(page).fill(plan({ lines: 1, act: "stay" }));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  await page.getByRole("button", { name: "Stop" }).waitFor();
  for (const text of ["first", "second", "third"]) {
    await prompt(page).fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Queued messages" }).getByText(text).waitFor();
  }
  const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  const texts = () => queue.locator(".queue-text").allTextContents();
  await queue.nth(2).getByRole("button", { name: "Move up this message" }).click();
  await expect.poll(texts).toEqual(["first", "third", "second"]);
  expect(await queue.nth(0).getByRole("button", { name: "Move up this message" }).isDisabled()).toBe(true);
  await page.reload();
  await expect.poll(texts).toEqual(["first", "third", "second"]);
  expect(await axeFindings(page)).toEqual([]);
  await queue.nth(0).getByRole("button", { name: "Remove this message" }).click();
  await expect.poll(texts).toEqual(["third", "second"]);
  await isFocused(page, /^Prompt$/);
  await page.keyboard.press("Escape");
  await page.getByText("Press Esc again to stop").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForSelector("footer.turn:not(.running)");
  await queue.getByText("Not sent: the turn was stopped").first().waitFor();
  await queue.nth(0).getByRole("button", { name: "Edit this message" }).click();
  await expect.poll(() => prompt(page).inputValue()).toBe("third");
  expect(complaints).toEqual([]);
  await context.close();
});

test("[CM8] a turn that failed is retried, continued, or its prompt written anew, on a branch of its own", async () => {
  const { page, complaints, context } = await harness.open("/");
  await prompt(page).fill(plan({ lines: 1, act: "exit1", mark: "one" }));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  const conversation = new URL(page.url()).pathname.split("/").at(-1) as string;
  const prompts = async () => {
    const blocks = await harness.kernel.allBlocks(conversation);
    if (isProblem(blocks)) return [];
    return blocks.filter(({ role, side }) => role === "user" && !side).map(({ parent }) => parent);
  };
  await page.getByRole("button", { name: "Retry" }).click();
  // The first prompt is asked again as another beginning: nothing stands above either.
  await expect.poll(prompts).toEqual([null, null]);
  expect(await prompt(page).evaluate((field) => field === document.activeElement)).toBe(true);
  await page.getByRole("button", { name: "Edit and resend" }).last().waitFor();
  await page.getByRole("button", { name: "Edit and resend" }).last().click();
  await page.getByRole("status").filter({ hasText: "Editing an earlier message" }).waitFor();
  expect(await prompt(page).inputValue()).toContain('"one"');
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(await prompt(page).inputValue()).toBe("");
  await page.getByRole("button", { name: "Edit and resend" }).last().click();
  await expect.poll(() => prompt(page).inputValue()).toContain('"one"');
  await prompt(page).fill(plan({ mark: "two" }));
  await page.keyboard.press("Enter");
  await expect.poll(prompts).toEqual([null, null, null]);
  await page.waitForSelector("footer.turn:not(.running)");
  // What was asked first is a step away, and so is what came of it.
  const shown = () => page.locator("article").first().innerText();
  await page.getByText("Branch 3 of 3").waitFor();
  expect(await shown()).toContain('"two"');
  await page.getByRole("button", { name: "Previous" }).click();
  await page.getByText("Branch 2 of 3").waitFor();
  await expect.poll(shown).toContain('"one"');
  await page.getByRole("button", { name: "Next" }).click();
  await expect.poll(shown).toContain('"two"');
  expect(complaints).toEqual([]);
  await context.close();
});
