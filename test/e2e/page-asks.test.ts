/**
 * What agents ask, answered on the page: by number keys, Enter and Escape, by touch, and once, from whichever window is first.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { type Look, newConversation, openHarness, type PageHarness } from "./page/harness.ts";

const RECORDED = readFileSync(
  fileURLToPath(
    new URL("../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
  ),
  "utf8",
)
  .trimEnd()
  .split("\n");

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-asks-"));
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Request {
  readonly tool: string;
  readonly input: object;
  readonly more?: object;
  /** What is asked about no call, in place of the permission. */
  readonly instead?: object;
}

/** A stream as Claude Code prints it: each call, and the request for it, behind which it waits. */
function recording(name: string, requests: readonly Request[]): string {
  const file = join(folder, `${name}.jsonl`);
  const session_id = "9c22731d-db58-416b-ae11-1469897a4c83";
  writeFileSync(file, `${RECORDED[0]}\n`);
  for (const [i, { tool, input, more, instead }] of requests.entries()) {
    const id = `toolu_${name}${i}`;
    const content = [{ type: "tool_use", id, name: tool, input }];
    const message = { id: `msg_${name}${i}`, role: "assistant", content, usage: {} };
    const request = instead ?? { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: id, ...more };
    appendFileSync(file, `${JSON.stringify({ type: "assistant", message, session_id })}\n`);
    appendFileSync(
      file,
      `${JSON.stringify({ type: "control_request", request_id: `${name}-${i}`, request })}\n`,
    );
  }
  appendFileSync(file, `${RECORDED.at(-1)}\n`);
  return file;
}

interface Started {
  readonly page: Page;
  readonly complaints: readonly string[];
  /** The agent's answers, in order. */
  heard(): readonly { readonly response: { readonly response: Record<string, unknown> } }[];
  close(): Promise<void>;
}

/** `lines`: how long the prompt is; `atOnce`: one request does not wait for the answer to the one before. */
async function start(
  name: string,
  requests: readonly Request[],
  {
    lines: promptLines = 1,
    atOnce = false,
    ...look
  }: Look & { readonly lines?: number; readonly atOnce?: boolean } = {},
): Promise<Started> {
  const answers = join(folder, `${name}.answers`);
  writeFileSync(answers, "");
  const { page, context, complaints } = await harness.open("/", look);
  const filler = Array.from({ length: promptLines - 1 }, (_, i) => `line ${i}`);
  const plan = { recording: recording(name, requests), lines: 0, act: "ask", answers, atOnce, filler };
  await page
    .getByRole("textbox", { name: "Prompt" })
    .fill(JSON.stringify(plan, null, promptLines > 1 ? 1 : 0));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  const lines = () =>
    readFileSync(answers, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  return {
    page,
    complaints,
    heard: () => lines().map((line) => JSON.parse(line)),
    close: () => context.close(),
  };
}

/** What one answer says. */
function said(answer: ReturnType<Started["heard"]>[number] | undefined): Record<string, unknown> {
  return answer?.response.response ?? {};
}

const BASH = {
  tool: "Bash",
  input: { command: "npm test", description: "Run the tests" },
  more: { description: "Run the tests" },
};
const ready = (page: Page, name: RegExp | string) =>
  expect.poll(() => page.getByRole("button", { name }).first().isEnabled()).toBe(true);

test("[CM10] a permission is answered by a number, from the field by Escape first; a digit in the field is a digit", async () => {
  const { page, heard, complaints, close } = await start("keys", [BASH, BASH]);
  const ask = page.getByRole("region", { name: "Needs approval" });
  await ask.waitFor();
  expect(await ask.locator(".exact").textContent()).toBe("npm test");
  await ready(page, /Allow once/);
  expect(await axeFindings(page)).toEqual([]);
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.focus();
  await page.getByText("Esc to answer").waitFor();
  await page.keyboard.press("1");
  expect(await prompt.inputValue()).toBe("1");
  expect(heard()).toEqual([]);
  await prompt.fill("");
  await page.keyboard.press("Escape");
  await expect.poll(() => ask.evaluate((panel) => panel.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("1");
  await expect.poll(() => heard().length).toBe(1);
  expect(heard()[0]?.response.response).toMatchObject({ behavior: "allow" });
  await page.getByText("You allowed this").waitFor();
  // The next one: Escape or 0 begins to deny, Escape goes back, Enter sends the reason.
  await ready(page, /Deny…/);
  await ask.focus();
  for (const key of ["Escape", "0"]) {
    await page.keyboard.press(key);
    await page.keyboard.type("not now");
    await page.keyboard.press("Escape");
    await ready(page, /Deny…/);
  }
  await page.keyboard.press("Enter");
  await page.keyboard.type("use make instead");
  await page.keyboard.press("Enter");
  await expect.poll(() => JSON.stringify(heard()[1] ?? "")).toContain("use make instead");
  await page.waitForSelector("footer.turn:not(.running)");
  expect(complaints).toEqual([]);
  await close();
});

test("[CM10] of several requests only the one that the keys are for shows them", async () => {
  const { page, heard, complaints, close } = await start("several", [BASH, BASH, BASH], { atOnce: true });
  const asks = page.getByRole("region", { name: "Needs approval" });
  await expect.poll(() => asks.count()).toBe(3);
  await expect.poll(() => asks.nth(2).getByRole("button", { name: "Deny…" }).isEnabled()).toBe(true);
  const keyed = () =>
    asks.evaluateAll((all) =>
      all.map((each) =>
        [...each.querySelectorAll(".key")].some((key) => key.checkVisibility({ visibilityProperty: true })),
      ),
    );
  expect(await keyed()).toEqual([true, false, false]);
  await asks.nth(1).getByRole("button", { name: "Allow once" }).focus();
  expect(await keyed()).toEqual([false, true, false]);
  await page.keyboard.press("1");
  await expect.poll(() => heard().length).toBe(1);
  expect(JSON.stringify(heard()[0])).toContain('"several-1"');
  await expect.poll(keyed).toEqual([true, false]);
  await page.keyboard.press("1");
  await expect.poll(() => heard().length).toBe(2);
  expect(JSON.stringify(heard()[1])).toContain('"several-0"');
  await expect.poll(keyed).toEqual([true]);
  await page.keyboard.press("1");
  await page.waitForSelector("footer.turn:not(.running)");
  expect(complaints).toEqual([]);
  await close();
});

test("[CM18] what waits and is not on the screen is led to, and no key answers it unseen", async () => {
  const { page, heard, complaints, close } = await start("unseen", [BASH], { lines: 150, height: 560 });
  const ask = page.getByRole("region", { name: "Needs approval" });
  const isSeen = () => ask.isVisible().then((is) => is && ask.evaluate(isOnScreen));
  const needsYou = page.getByRole("button", { name: "Needs you" });
  const leave = async () => {
    await page.locator(".list").hover();
    await page.mouse.wheel(0, -5_000);
    await needsYou.waitFor();
    expect(await isSeen()).toBe(false);
  };
  await ready(page, /Allow once/);
  expect([await isSeen(), await needsYou.count()]).toEqual([true, 0]);
  await leave();
  await needsYou.click();
  await expect.poll(isSeen).toBe(true);
  await needsYou.waitFor({ state: "detached" });
  await leave();
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await expect.poll(isSeen).toBe(true);
  await leave();
  await page.keyboard.press("1");
  await expect.poll(isSeen).toBe(true);
  expect(heard()).toEqual([]);
  await ready(page, /Allow once/);
  await needsYou.waitFor({ state: "detached" });
  // What is asked shows the input: the call itself stays as it was, then and afterwards.
  expect(await page.locator(".tool-input").count()).toBe(0);
  await page.keyboard.press("1");
  await expect.poll(() => heard().length).toBe(1);
  await page.waitForSelector("footer.turn:not(.running)");
  expect(await page.locator(".tool-input").count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

function isOnScreen(element: Element): boolean {
  const list = element.closest(".list")?.getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return list !== undefined && Math.min(bottom, list.bottom) - Math.max(top, list.top) > 100;
}

test("[CM11] questions: numbers choose, own words, several, a note, one is skipped; the agent gets exactly that", async () => {
  const questions = [
    {
      question: "Which library?",
      header: "Library",
      multiSelect: false,
      options: [{ label: "luxon", description: "small", preview: "**small**" }, { label: "temporal" }],
    },
    {
      question: "Which parts?",
      header: "Parts",
      multiSelect: true,
      options: [{ label: "src" }, { label: "docs" }],
    },
    {
      question: "When?",
      header: "Time",
      multiSelect: false,
      options: [{ label: "now" }, { label: "later" }],
    },
  ];
  const { page, heard, complaints, close } = await start("questions", [
    { tool: "AskUserQuestion", input: { questions } },
  ]);
  const form = page.getByRole("region", { name: "Needs an answer" });
  await form.getByText("The agent has 3 questions").waitFor();
  // In the line as well it would be said twice.
  expect(await page.locator(".tool-line").innerText()).not.toContain("Which library?");
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  // The numbers are the first question's that is not answered yet, and are shown only there.
  const numbered = () =>
    form.getByRole("group").evaluateAll((groups) =>
      groups.flatMap((group, i) => {
        const keys = [...group.querySelectorAll(".key")];
        return keys.some((key) => key.checkVisibility({ visibilityProperty: true })) ? [i] : [];
      }),
    );
  expect(await numbered()).toEqual([0]);
  await page.keyboard.press("1");
  await form.getByRole("radio", { name: /luxon/ }).and(page.locator(":checked")).waitFor();
  await form.getByText("small", { exact: true }).last().waitFor();
  await form.getByRole("button", { name: "Add a note" }).first().click();
  await page.keyboard.type("the newest one");
  const parts = form.getByRole("group", { name: /Which parts/ });
  // Enter goes to the next question: what the reader has not been at is not sent unanswered.
  await ready(page, "Answer");
  await page.keyboard.press("Enter");
  await parts.getByRole("checkbox", { name: /src/ }).and(page.locator(":focus")).waitFor();
  expect(await numbered()).toEqual([1]);
  await page.keyboard.press("1");
  await page.keyboard.press("2");
  await page.keyboard.press("Enter");
  await form.getByRole("radio", { name: /now/ }).and(page.locator(":focus")).waitFor();
  expect(heard()).toEqual([]);
  await form.getByRole("group", { name: /When/ }).getByRole("button", { name: "Skip" }).click();
  expect(await axeFindings(page)).toEqual([]);
  await ready(page, "Answer");
  await parts.getByRole("checkbox", { name: /docs/ }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => heard().length).toBe(1);
  const { updatedInput } = said(heard()[0]) as {
    updatedInput: { answers: Record<string, string>; annotations: object };
  };
  expect(updatedInput.answers).toMatchObject({ "Which library?": "luxon" });
  expect(updatedInput.answers["Which parts?"]).toMatch(/src.*docs/);
  expect(updatedInput.annotations).toMatchObject({
    "Which library?": { notes: "the newest one" },
    "When?": { unanswered: "skipped" },
  });
  expect(complaints).toEqual([]);
  await close();
});

test("[CM14] the form of an agent's server, which is about no call, is filled in; what was sent stays", async () => {
  const requested_schema = {
    type: "object",
    properties: {
      priority: { type: "string", title: "Priority", enum: ["low", "urgent"] },
      estimate: { type: "integer", title: "Estimate", minimum: 1 },
    },
    required: ["priority", "estimate"],
  };
  const instead = { subtype: "elicitation", mcp_server_name: "desk", message: "A few details", mode: "form" };
  const { page, heard, complaints, close } = await start("form", [
    { tool: "mcp__desk__create_ticket", input: {}, instead: { ...instead, requested_schema } },
  ]);
  const form = page.getByRole("region", { name: "Needs an answer" });
  await form.getByText("A few details").waitFor();
  expect(await page.getByText("A few details").count()).toBe(1);
  // Who has put away what the system notes is still asked.
  await page.getByRole("button", { name: "View" }).click();
  await page.getByRole("menuitemcheckbox", { name: /system/i }).click();
  await page.keyboard.press("Escape");
  await form.waitFor();
  await form.getByLabel("Estimate").fill("3");
  await form.getByRole("radio", { name: "urgent" }).check();
  expect(await axeFindings(page)).toEqual([]);
  await ready(page, "Submit");
  await form.getByLabel("Estimate").press("Enter");
  await expect.poll(() => heard().length).toBe(1);
  expect(said(heard()[0])).toEqual({ action: "accept", content: { priority: "urgent", estimate: 3 } });
  await page.getByText("You answered: priority: urgent; estimate: 3").waitFor();
  await page.getByText("A few details").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test("[AC360] however much an agent asks, its answers stay near; all of a command can be read before it is allowed", async () => {
  const long = (words: string) => words.repeat(Math.ceil(200_000 / words.length));
  const options = Array.from({ length: 20_000 }, (_, i) => `option ${i}`);
  const field = {
    type: "array",
    title: long("label "),
    description: long("about "),
    items: { enum: options },
  };
  const requested_schema = {
    type: "object",
    properties: { field, toString: { type: "string", title: "Odd" } },
  };
  const instead = {
    subtype: "elicitation",
    mcp_server_name: long("desk"),
    message: long("m "),
    mode: "form",
  };
  const command = `echo ${long("x")}; rm -rf hidden`;
  const { page, heard, complaints, close } = await start("bounds", [
    { tool: "mcp__desk__create_ticket", input: {}, instead: { ...instead, requested_schema } },
    { tool: "Bash", input: { command }, more: { description: long("title ") } },
  ]);
  const form = page.getByRole("region", { name: "Needs an answer" });
  await form.getByText("19,000 options").waitFor();
  expect(await form.getByRole("checkbox").count()).toBe(1_000);
  const screen = page.viewportSize()?.height ?? 0;
  const tallest = (name: string) =>
    page
      .getByRole("region", { name })
      .locator("header, p, legend, pre, dd, label > span, fieldset > span")
      .evaluateAll((parts) => Math.max(...parts.map((part) => part.getBoundingClientRect().height)));
  expect(await tallest("Needs an answer")).toBeLessThan(screen / 2);
  await form.getByRole("checkbox", { name: "option 7", exact: true }).check();
  await form.getByLabel("Odd").fill("words");
  await ready(page, "Submit");
  await form.getByRole("button", { name: "Submit" }).click();
  await expect.poll(() => heard().length).toBe(1);
  expect(said(heard()[0])).toEqual({
    ...{ action: "accept", content: { field: ["option 7"], toString: "words" } },
  });
  const ask = page.getByRole("region", { name: "Needs approval" });
  await ready(page, /Allow once/);
  expect(await tallest("Needs approval")).toBeLessThan(screen / 2);
  expect(await ask.locator(".exact").first().textContent()).not.toContain("rm -rf");
  const more = ask.getByRole("button", { name: /Show all .* characters/ });
  for (let left = await more.count(); left > 0; left--) await more.first().click();
  expect(await ask.locator(".exact").allTextContents()).toContain(command);
  expect(await tallest("Needs approval")).toBeLessThan(screen / 2);
  await ask.getByRole("button", { name: /Allow once/ }).click();
  await expect.poll(() => heard().length).toBe(2);
  expect(complaints).toEqual([]);
  await close();
});

test("[CM14] what is being written for one request is not another conversation's, also where both have the same id", async () => {
  const place = { id: "1", state: "asked" as const };
  const form = { message: "Who?", schema: { properties: { who: { type: "string", title: "Who" } } } };
  const asks = [
    { ...place, kind: "elicitation" as const, form },
    { ...place, kind: "permission" as const, subject: { type: "tool" as const, tool: "x" } },
  ];
  const open = async (title: string) => {
    const conversation = await newConversation(harness.kernel, title);
    for (const [i, ask] of asks.entries())
      await harness.kernel.write(conversation, {
        agent: "ann",
        plan: (draft) => {
          const metadata = { toolUseId: `t${i}`, toolName: "x", ask };
          draft.create({ kind: "tool_call", role: "model", text: "{}", status: "running", metadata });
          return null;
        },
      });
  };
  await open("one who asks");
  await open("another who asks");
  const { page, complaints } = await harness.open("/");
  const go = (title: string) =>
    page
      .getByRole("link", { name: new RegExp(`^${title}`) })
      .first()
      .click();
  await go("one who asks");
  await page.getByRole("textbox", { name: "Who", exact: true }).fill("only for one");
  await page.getByRole("button", { name: /Deny/ }).click();
  await page.getByLabel("Reason for the agent").fill("a secret");
  await go("another who asks");
  await page.getByRole("button", { name: /Deny…/ }).waitFor();
  expect(await page.getByRole("textbox", { name: "Who", exact: true }).inputValue()).toBe("");
  expect(await page.getByLabel("Reason for the agent").count()).toBe(0);
  await go("one who asks");
  await expect
    .poll(() => page.getByRole("textbox", { name: "Who", exact: true }).inputValue())
    .toBe("only for one");
  expect(await page.getByLabel("Reason for the agent").inputValue()).toBe("a secret");
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[CM19] questions that are longer than the window are shown from their beginning; none is answered unseen", async () => {
  const questions = ["First", "Second", "Third"].map((word) => ({
    ...{ question: `${word}?`, header: word, multiSelect: false },
    options: ["one", "two", "three"].map((label) => ({ label: `${word} ${label}`, description: "said" })),
  }));
  const { page, heard, complaints, close } = await start(
    "tall",
    [{ tool: "AskUserQuestion", input: { questions } }],
    { lines: 60, height: 560 },
  );
  const form = page.getByRole("region", { name: "Needs an answer" });
  const group = (word: string) => form.getByRole("group", { name: new RegExp(word) });
  const shows = (word: string) => group(word).locator("legend").evaluate(isInList);
  await form.getByText("The agent has 3 questions").waitFor();
  await expect.poll(() => shows("First")).toBe(true);
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.locator(".list").hover();
  await page.mouse.wheel(0, 5_000);
  await expect.poll(() => shows("First")).toBe(false);
  await page.keyboard.press("1");
  await expect.poll(() => shows("First")).toBe(true);
  expect(await form.locator(":checked").count()).toBe(0);
  await page.keyboard.press("1");
  for (const word of ["Second", "Third"]) {
    await page.keyboard.press("Enter");
    await expect.poll(() => shows(word)).toBe(true);
    expect(await group(word).getByRole("radio").last().evaluate(isInList)).toBe(true);
    await page.keyboard.press("3");
  }
  await ready(page, "Answer");
  await page.keyboard.press("Enter");
  await expect.poll(() => heard().length).toBe(1);
  await page.waitForSelector("footer.turn:not(.running)");
  await expect.poll(() => page.locator("footer.turn").evaluate(isInList)).toBe(true);
  expect(complaints).toEqual([]);
  await close();
});

function isInList(element: Element): boolean {
  const list = element.closest(".list")?.getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return list !== undefined && top >= list.top && bottom <= list.bottom;
}

test("[CM12] a plan is edited before it is approved, and is approved as it reads then; or goes on with a remark", async () => {
  const plan = "# Plan\n\n1. Sum first\n";
  const { page, heard, complaints, close } = await start("plan", [
    { tool: "ExitPlanMode", input: { plan } },
    { tool: "ExitPlanMode", input: { plan } },
  ]);
  const ask = page.getByRole("region", { name: "Needs approval" });
  await ask.waitFor();
  await ready(page, /Keep planning…/);
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("0");
  await page.keyboard.type("mention the tests");
  await page.keyboard.press("Enter");
  await expect.poll(() => heard().length).toBe(1);
  expect(heard()[0]?.response.response).toEqual({ behavior: "deny", message: "mention the tests" });
  await ready(page, /Approve and accept edits/);
  await ask.getByRole("button", { name: "Edit plan" }).click();
  await page.locator(".editor-host .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("2. Round once");
  await page.getByRole("button", { name: "Done" }).click();
  await ask.getByText("was edited").waitFor();
  await ask.getByLabel("edits to the plan").getByText("2. Round once").waitFor();
  await ask.getByRole("button", { name: /Approve and accept edits/ }).click();
  await expect.poll(() => heard().length).toBe(2);
  const { updatedInput } = said(heard()[1]) as { updatedInput: { plan: string } };
  expect(updatedInput.plan).toContain("2. Round once");
  expect(JSON.stringify(heard()[1])).toContain("acceptEdits");
  expect(complaints).toEqual([]);
  await close();
});

test("[CM12] [V17] a request without a plan says so; who can only read is not told that it needs them", async () => {
  const { page, heard, complaints, close } = await start("planless", [{ tool: "ExitPlanMode", input: {} }]);
  const ask = page.getByRole("region", { name: "Needs approval" });
  await ask.getByText("Leave plan mode without a plan?").waitFor();
  await ask.getByText("The agent gave no plan.").waitFor();
  const token = harness.running.auth.create("asks-wall", "viewer");
  const viewer = await harness.open(new URL(page.url()).pathname, { token });
  await viewer.page.locator(".state-needs", { hasText: "Waiting for an answer" }).first().waitFor();
  expect(await viewer.page.getByText(/needs you|waiting for you|your answer/i).count()).toBe(0);
  await viewer.context.close();
  await ready(page, /Approve and ask before edits/);
  await ask.getByRole("button", { name: /Approve and ask before edits/ }).click();
  await expect.poll(() => heard().length).toBe(1);
  await page.getByText("You let the agent leave plan mode").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test("[CM13] one ask in two windows is answered once; the other window shows by whom. Targets are large on a phone", async () => {
  const { page, heard, close } = await start("twice", [BASH], { width: 390, height: 844 });
  const other = await harness.open(new URL(page.url()).pathname);
  await other.page.getByRole("region", { name: "Needs approval" }).waitFor();
  await ready(page, /Allow once/);
  const heights = await page
    .getByRole("region", { name: "Needs approval" })
    .getByRole("button")
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: /Allow once/ }).click();
  await other.page.getByText("You allowed this").waitFor();
  await expect.poll(() => other.page.getByRole("region", { name: "Needs approval" }).count()).toBe(0);
  await page.waitForSelector("footer.turn:not(.running)");
  expect(heard()).toHaveLength(1);
  await other.context.close();
  await close();
});

test("[CM13] who was writing a reason when another window answered is told, and writes into nothing else", async () => {
  const { page, heard, close } = await start("slower", [BASH]);
  const other = await harness.open(new URL(page.url()).pathname);
  await ready(other.page, /Deny/);
  await other.page.getByRole("button", { name: /^Deny…/ }).click();
  await other.page.getByRole("textbox", { name: "Reason for the agent" }).waitFor();
  await other.page.keyboard.type("use another na");
  await page.getByRole("button", { name: /Allow once/ }).click();
  await other.page.getByText("You allowed this").waitFor();
  // "e" opens an editor where it is a shortcut.
  await other.page.keyboard.type("me");
  await other.page.keyboard.press("Enter");
  await other.page.getByText("What you were writing was not sent").waitFor();
  await page.waitForSelector("footer.turn:not(.running)");
  expect(await other.page.locator(".editor-host").count()).toBe(0);
  expect(heard()).toHaveLength(1);
  await other.context.close();
  await close();
});

test("[V15] an edit of several files names each and what becomes of it", async () => {
  const conversation = await newConversation(harness.kernel, "several files");
  const diff = [
    ...["--- /w/src/a.js", "+++ /w/lib/a.js", "@@ -1 +1 @@", "-old", "+new"],
    ...["--- /dev/null", "+++ /w/b.js", "@@ -0,0 +1 @@", "+made"],
    ...["--- /w/gone.js", "+++ /dev/null", ""],
  ].join("\n");
  const paths = ["/w/src/a.js", "/w/lib/a.js", "/w/b.js", "/w/gone.js"];
  const ask = { id: "a", kind: "permission", state: "asked", subject: { type: "diff", diff, paths } };
  await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        ...{ kind: "tool_call", role: "model", status: "running", text: "{}" },
        metadata: { toolUseId: "t", toolName: "file_change", stage: "running", ask } as never,
      }),
  });
  const { page, context } = await harness.open(`/c/${conversation}`);
  const asked = page.locator(".agent-ask");
  await asked.locator(".asked-file").first().waitFor();
  const heads = await asked.locator(".asked-file").allInnerTexts();
  expect(heads.map((head) => head.replace(/\s+/g, " ").trim())).toEqual([
    "/w/src/a.js moved to /w/lib/a.js",
    "new /w/b.js",
    "deleted /w/gone.js",
  ]);
  expect(await asked.locator(".diff").count()).toBe(2);
  await context.close();
});
