/**
 * Places that are not simply on the screen: pruned, on another branch, collapsed and unloaded, or in a sub-agent's
 * work; and what a viewer is offered.
 */
import { fileURLToPath } from "node:url";
import { type BlockId, isProblem, type JsonObject } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

type Draft = Parameters<Parameters<PageHarness["kernel"]["write"]>[1]["plan"]>[0];

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/text-markdown.jsonl", import.meta.url),
);
/** More than a window's texts may have together. */
const LINES = 60_000;

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

async function write<T>(conversation: string, plan: (draft: Draft) => T): Promise<T> {
  const answer = await harness.kernel.write(conversation, { agent: "tester", plan: plan as never });
  if (isProblem(answer)) throw new Error(answer.message);
  return answer as T;
}

function create(draft: Draft, block: Parameters<Draft["create"]>[0]): BlockId {
  const made = draft.create(block);
  if (isProblem(made)) throw new Error(made.message);
  return made.id;
}

const placeOf = (id: BlockId) => `/c/${id.replace("/", "#")}`;

const focusedBlock = (page: Page) => page.locator("article.focused").getAttribute("data-block");

/** A first way of 30 blocks, three of them pruned, and a second one from the middle of it. */
async function ways(title: string): Promise<{ conversation: string; first: string[]; second: string[] }> {
  const conversation = await newConversation(harness.kernel, title);
  const texts = Array.from({ length: 30 }, (_, i) => ({ text: `First ${i}. ${"Words. ".repeat(60)}` }));
  const first = await say(harness.kernel, conversation, texts);
  const second = await write(conversation, (draft) => {
    for (const id of first.slice(3, 6)) draft.prune(id, true);
    const made: string[] = [];
    for (let i = 0; i < 20; i++) {
      const parent = made.at(-1) ?? (first[20] as string);
      const text = `Second ${i}. ${"Words. ".repeat(60)}`;
      made.push(create(draft, { kind: "text", role: "model", status: "done", parent, text }));
    }
    return made;
  });
  return { conversation, first, second };
}

test("[V5] a link goes to what is pruned, and to another way; all that is pruned is put back at once", async () => {
  const { first, second } = await ways("links");
  const [pruned, other] = [first[4] as string, first[27] as string];
  const { page, complaints } = await harness.open(placeOf(pruned));
  await expect.poll(() => focusedBlock(page)).toBe(pruned);
  await page.getByText("3 blocks excluded from context").waitFor();
  await page.getByRole("button", { name: "Include again" }).click();
  await expect.poll(() => page.locator(".pruned-row").count()).toBe(0);
  const hash = (id: BlockId) => page.evaluate((to) => location.assign(to), placeOf(id));
  await hash(other);
  await expect.poll(() => focusedBlock(page)).toBe(other);
  await hash(second[19] as string);
  await expect.poll(() => focusedBlock(page)).toBe(second[19]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V16] a prompt goes on from the way that is shown, and is seen there", async () => {
  const { conversation, first, second } = await ways("goes on");
  const { page } = await harness.open(`/c/${conversation}`);
  await page.waitForSelector(`[data-block="${second[19]}"]`);
  await page.goto(`${harness.running.url}${placeOf(first[29] as string)}`);
  await expect.poll(() => focusedBlock(page)).toBe(first[29]);
  const prompt = JSON.stringify({ recording: RECORDING, lines: 1_000, act: "exit0" });
  await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
  await page.keyboard.press("Enter");
  await page.waitForSelector("article.role-user");
  const said = (await page.locator("article.role-user").last().getAttribute("data-block")) ?? "";
  const [block] = await harness.kernel.store
    .blocks({ conversation, order: "last", limit: 200 })
    .then((all) => all.filter(({ id }) => id === said));
  expect(block?.parent).toBe(first[29]);
  await page.waitForSelector("footer.turn");
  await page.context().close();
});

test("[V15] a sub-agent that asks for leave is seen, also with the tools hidden", async () => {
  const conversation = await newConversation(harness.kernel, "asks below");
  const call = { kind: "tool_call", role: "model", status: "running", text: "{}" } as const;
  const inner = await write(conversation, (draft) => {
    const metadata = { toolName: "Task", stage: "running", input: {} };
    const outer = create(draft, { ...call, metadata: { ...metadata, toolUseId: "1" } });
    const task = create(draft, {
      ...call,
      parent: outer,
      side: true,
      metadata: { ...metadata, toolUseId: "2" },
    });
    const bash = { toolName: "Bash", stage: "running", input: { command: "make" }, toolUseId: "3" };
    return create(draft, { ...call, parent: task, side: true, metadata: bash });
  });
  const { page } = await harness.open(`/c/${conversation}`);
  const task = page.getByRole("button", { name: /^Agent(?!:)/ });
  await task.first().waitFor();
  const question = page.getByRole("region", { name: "Needs approval" });
  const ask = (state: "asked" | "denied") =>
    write(conversation, (draft) => draft.meta(inner, { approval: { id: "a", state, title: "Make it?" } }));
  await ask("asked");
  await question.waitFor();
  await ask("denied");
  await expect.poll(() => question.count()).toBe(0);
  await page.getByRole("button", { name: "View" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Tool calls" }).click();
  await page.keyboard.press("Escape");
  await expect.poll(() => task.count()).toBe(0);
  await ask("asked");
  await question.waitFor();
  await page.context().close();
});

test("[V81] [V84] a command that asks for leave is marked, and is its title and its text; what is in neither is shown below", async () => {
  const conversation = await newConversation(harness.kernel, "asks in words");
  const ask = (toolUseId: string, title: string, input: JsonObject) =>
    write(conversation, (draft) => {
      const approval = { id: toolUseId, state: "asked", title, input } as const;
      const metadata = { toolName: "Bash", toolUseId, stage: "running", input, approval };
      return create(draft, { kind: "tool_call", role: "model", status: "running", text: "{}", metadata });
    });
  const description = "Run the tests";
  await ask("1", description, { command: "make", description });
  await ask("2", "Make it?", { command: "make", description });
  await ask("3", description, { command: "make", description, timeout: 5 });
  const { page } = await harness.open(`/c/${conversation}`);
  await expect.poll(() => page.locator(".agent-ask .exact").count()).toBe(5);
  const shown = page.locator(".agent-ask .exact, .agent-ask .asked-input dt");
  expect(await shown.allTextContents()).toEqual([
    ...["make"],
    ...["make", "description", "Run the tests"],
    ...["make", "timeout", "5"],
  ]);
  // Open asks stand out.
  const mark = page.getByText("Needs approval", { exact: true }).first();
  expect(await mark.evaluate((each) => getComputedStyle(each).backgroundColor)).not.toBe("rgba(0, 0, 0, 0)");
  await page.context().close();
});

test("[V18] what is closed and was not loaded is copied whole", async () => {
  const conversation = await newConversation(harness.kernel, "long output");
  const text = Array.from({ length: LINES }, (_, i) => `line ${i}`).join("\n");
  await write(conversation, (draft) => {
    for (const toolUseId of ["1", "2"]) {
      const metadata = { toolName: "Bash", toolUseId, stage: "end", input: { command: "seq" } };
      const call = create(draft, { kind: "tool_call", role: "model", status: "done", text: "{}", metadata });
      const result = { command: "seq", exitCode: 0, toolUseId };
      create(draft, {
        kind: "command",
        role: "tool",
        status: "done",
        parent: call,
        side: true,
        text,
        metadata: result,
      });
    }
  });
  const { page } = await harness.open(`/c/${conversation}`);
  await page.getByRole("button", { name: "Ran 2 commands" }).click();
  for (const line of await page.getByRole("button", { name: /^Run(?! again)/ }).all()) await line.click();
  const copy = page.getByRole("button", { name: "Copy the output" });
  for (const at of [0, 1]) {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    // By the wheel, as a reader would: the second one is below the window.
    if (at > 0) {
      await page.getByRole("log", { name: "Blocks" }).hover();
      await page.mouse.wheel(0, 2_000);
    }
    await copy.nth(at).click();
    await expect
      .poll(() => page.evaluate(async () => (await navigator.clipboard.readText()).length))
      .toBe(text.length);
  }
  await page.context().close();
});

test("[V19] a long title and a wide table make no page wider than the screen; words stay whole", async () => {
  const conversation = await newConversation(harness.kernel, "a title that goes on and on ".repeat(8));
  const cells = (word: string) => `|${` ${word} |`.repeat(40)}`;
  const table = [cells("column"), cells("---"), cells("somewhat")].join("\n");
  const [block] = await say(harness.kernel, conversation, [
    { text: `${table}\n\nשלום עולם, hello\n\n${"x".repeat(20_000)}` },
  ]);
  const { page } = await harness.open(`/c/${conversation}`, { width: 360, height: 700 });
  await page.waitForSelector(`[data-block="${block}"] td`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  const { lines, isRight } = await page.evaluate(() => {
    const boxes = (selector: string) => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector(selector) as Element);
      return [...range.getClientRects()];
    };
    const hebrew = document.querySelectorAll(".md p")[0] as Element;
    const [text] = boxes(".md p");
    return {
      lines: boxes(".md td").length,
      isRight: (text?.left ?? 0) > hebrew.getBoundingClientRect().left + 20,
    };
  });
  expect(lines).toBe(1);
  expect(isRight).toBe(true);
  await page.context().close();
});

test("[V12] an open menu has the keys to itself: Escape closes it and nothing else", async () => {
  const conversation = await newConversation(harness.kernel, "menu");
  const [block] = await say(harness.kernel, conversation, [{ text: "one" }]);
  const { page } = await harness.open(`/c/${conversation}`);
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("i");
  await page.waitForSelector(".inspector");
  await page.getByRole("button", { name: "More actions for this block" }).click();
  await page.waitForSelector(".menu:popover-open [role=menuitem]:focus");
  await page.keyboard.press("p");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator(".menu:popover-open").count()).toBe(0);
  expect(await page.locator(".inspector").count()).toBe(1);
  expect(await page.locator(".pruned-row").count()).toBe(0);
  await page.context().close();
});

test("[V87] a menu takes clicks wherever it stands, also when its block is not pointed at any more", async () => {
  const conversation = await newConversation(harness.kernel, "menu by pointer");
  const [, block] = await say(harness.kernel, conversation, [{ text: "one" }, { text: "two\n\n".repeat(8) }]);
  const { page } = await harness.open(`/c/${conversation}`);
  const article = page.locator(`[data-block="${block}"]`);
  await article.hover();
  await article.getByRole("button", { name: "More actions for this block" }).click();
  await page.waitForSelector(".menu:popover-open [role=menuitem]:focus");
  // Neither hover nor focus keeps the row of buttons: a pointer that jumps, a window that is not in front.
  await page.mouse.move(1, 1);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const item = page.getByRole("menuitem", { name: "Exclude from context" });
  const box = await item.boundingBox();
  await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 8);
  await page.waitForSelector(".pruned-row");
  await page.context().close();
});

test("[V130] a block that is excluded by its key passes the focus to the line in its place, and gets it back", async () => {
  const conversation = await newConversation(harness.kernel, "excluded by key");
  const [, block] = await say(harness.kernel, conversation, [{ text: "one" }, { text: "two" }]);
  const { page } = await harness.open(`/c/${conversation}`);
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("p");
  const line = page.getByRole("article", { name: "1 block excluded from context" });
  await expect.poll(() => line.evaluate((each) => each === document.activeElement)).toBe(true);
  await page.keyboard.press("p");
  await expect.poll(() => focusedBlock(page)).toBe(block);
  await page.context().close();
});

test("[V20] what does not fit into a frame is refused where it is pasted, or goes as a request", async () => {
  const conversation = await newConversation(harness.kernel, "a lot");
  const [block] = await say(harness.kernel, conversation, [{ text: "Short." }]);
  const { page, complaints } = await harness.open(`/c/${conversation}`);
  // What is shown has come through the page's socket: another one would be a cut.
  await page.locator(`[data-block="${block}"]`).waitFor();
  let cuts = 0;
  page.on("websocket", () => cuts++);
  const stored = async () => {
    const read = await harness.kernel.whole(block as string);
    return isProblem(read) ? "" : read.text;
  };
  await page.locator(`[data-block="${block}"]`).focus();
  await page.keyboard.press("e");
  await page.locator(".editor-host .cm-content").click();
  await page.keyboard.press("Control+End");
  const paste = async (chars: number) => {
    await page.evaluate((count) => navigator.clipboard.writeText("x".repeat(count)), chars);
    await page.keyboard.press("Control+v");
  };
  await paste(1_100_000);
  await page.getByText("Paste it in parts").waitFor();
  await paste(600_000);
  await expect.poll(async () => (await stored()).length).toBe("Short.".length + 600_000);
  await page.keyboard.press("Escape");
  const plan = { recording: RECORDING, lines: 1_000, act: "exit0", more: "あ".repeat(400_000) };
  await page.getByRole("textbox", { name: "Prompt" }).fill(JSON.stringify(plan));
  await page.keyboard.press("Enter");
  await page.waitForSelector("footer.turn:not(.running)");
  expect(cuts).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[A41] questions of an agent are a form, a plan and suggestions have buttons", async () => {
  const conversation = await newConversation(harness.kernel, "asked");
  const options = [{ label: "luxon", description: "small" }, { label: "temporal" }];
  const questions = [{ id: "1", question: "Which library?", multiple: false, freeText: true, options }];
  const native = { type: "setMode" };
  const asks = [
    { id: "q", kind: "question", state: "asked", questions },
    {
      id: "p",
      kind: "plan",
      state: "asked",
      suggestions: [{ id: "e", label: "Approve and accept edits", scope: "conversation", native }],
    },
  ];
  await write(conversation, (draft) => {
    for (const [i, ask] of asks.entries()) {
      const metadata = {
        toolName: `T${i}`,
        toolUseId: `${i}`,
        stage: "running",
        input: {},
        ask,
      } as JsonObject;
      create(draft, { kind: "tool_call", role: "model", status: "running", text: "{}", metadata });
    }
  });
  const { page, complaints } = await harness.open(`/c/${conversation}`);
  const form = page.getByRole("region", { name: "Needs an answer" });
  await form.getByRole("radio", { name: /luxon/ }).focus();
  expect(await form.getByRole("button", { name: "Answer", exact: true }).isDisabled()).toBe(true);
  await page.keyboard.press("2");
  expect(await form.getByRole("radio", { name: /temporal/ }).isChecked()).toBe(true);
  await expect.poll(() => form.getByRole("button", { name: "Answer", exact: true }).isEnabled()).toBe(true);
  await form.getByRole("textbox").fill("my own 1");
  expect(await form.getByRole("radio", { name: /temporal/ }).isChecked()).toBe(false);
  const plan = page.getByRole("region", { name: "Needs approval" });
  await plan.getByRole("button", { name: "Approve and accept edits" }).waitFor();
  await plan.getByRole("button", { name: "Keep planning…" }).waitFor();
  expect(complaints).toEqual([]);
  // Nobody runs that asked this: the answer is refused, and the form says so.
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  await form.getByRole("alert").waitFor();
  await page.context().close();
});

test("[V17] who may only read is offered nothing that writes", async () => {
  const { conversation, first } = await ways("to read");
  await write(conversation, (draft) => {
    const approval = { id: "a", state: "asked", title: "Make it?" };
    const metadata = {
      toolName: "Bash",
      toolUseId: "1",
      stage: "running",
      input: { command: "make" },
      approval,
    };
    return create(draft, { kind: "tool_call", role: "model", status: "running", text: "{}", metadata });
  });
  const token = harness.running.auth.create("places-wall", "viewer");
  const { page, complaints } = await harness.open(placeOf(first[4] as string), { token });
  await expect.poll(() => focusedBlock(page)).toBe(first[4]);
  await page.locator("article.focused").hover();
  await page.getByRole("button", { name: "Copy this block" }).waitFor();
  await page.keyboard.press("G");
  await page.getByText("Waiting for the owner's answer.").waitFor();
  const writing =
    /edit|fork|include again|rename|allow|new conversation|files|run again|more actions for (?!this block)/i;
  const named = await page.getByRole("button").allTextContents();
  const labels = await page
    .locator("[aria-label]")
    .evaluateAll((all) => all.map((one) => one.ariaLabel ?? ""));
  expect([...named, ...labels].filter((name) => writing.test(name))).toEqual([]);
  for (const key of ["e", "t", "x", "O"]) await page.keyboard.press(key);
  expect(await page.locator(".editor, .rename, dialog").count()).toBe(0);
  await page.keyboard.press("?");
  await page.getByText("Copy the block").waitFor();
  expect((await page.locator("dialog dd").allTextContents()).filter((name) => writing.test(name))).toEqual([
    "Open the block's file in the editor",
  ]);
  expect(complaints).toEqual([]);
  await page.context().close();
});
