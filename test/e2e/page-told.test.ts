/**
 * What agents and programs report, as a user sees it: session facts, numbers of sources in the text, reports as
 * Markdown, collapsed thoughts as written, and the footer of a turn that a program ran itself.
 */
import { type Draft, isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness } from "./page/harness.ts";

let harness: PageHarness;
let token: string;

beforeAll(async () => {
  harness = await openHarness();
  token = harness.running.auth.create("my-loop", "agent");
}, 180_000);
afterAll(() => harness?.close());

async function write<T>(conversation: string, plan: (draft: Draft) => T): Promise<T> {
  const made = await harness.kernel.write(conversation, { agent: "tester", plan });
  if (isProblem(made)) throw new Error(made.message);
  return made as T;
}

const TALL = { height: 3_000 };

test("[P32] the session is behind the model's name: tools, servers with their state, permissions, folder", async () => {
  const conversation = await ingest(harness.kernel, "claude", "claude/mcp.jsonl");
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(".head").getByRole("button", { name: "claude-opus-5-5" }).click();
  const panel = page.getByRole("tabpanel", { name: "Session" });
  const session = panel.getByRole("region", { name: "Session: Claude Code" });
  await session.locator("dl > div", { hasText: "Tools" }).getByRole("button", { name: /more$/ }).click();
  const facts = await session
    .locator("dl > div")
    .evaluateAll((rows) =>
      Object.fromEntries(
        rows.map((row) => [row.querySelector("dt")?.textContent, row.querySelector("dd")?.textContent]),
      ),
    );
  expect(facts).toMatchObject({
    ...{ Model: "claude-opus-5-5", "Permission mode": "Full access", Folder: "/workspace/demo" },
    Session: "80ca459a-66a4-4ce0-bd2a-be13dba7003a",
  });
  expect(await session.getByRole("listitem").allTextContents()).toEqual(["labconnected", "brokenfailed"]);
  const tools = Object.entries(facts).find(([name]) => name.startsWith("Tools"))?.[1];
  expect(tools).toMatch(/^TaskBash.*mcp__lab__slow/);
  await panel.getByRole("button", { name: "Copy the command that resumes this session" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "cd /workspace/demo && claude --resume 80ca459a-66a4-4ce0-bd2a-be13dba7003a",
  );
  await page.keyboard.press("Escape");
  await expect.poll(() => panel.count()).toBe(0);
  await context.close();
});

test("[P32] without a session the pane says so", async () => {
  const conversation = await newConversation(harness.kernel, "none");
  await own(conversation, "turn.begin", { conversation, model: "m-1" });
  const { page, context } = await harness.open(`/c/${conversation}`);
  const pane = page.getByRole("complementary", { name: "Side pane" });
  await page.getByRole("heading", { name: "none" }).waitFor();
  await page.getByRole("button", { name: "Side pane" }).click();
  await pane.getByRole("tab", { name: "Session" }).click();
  await pane.getByText("No agent session yet.").waitFor();
  await context.close();
});

test("[E16] a cited answer is one text: numbers behind its passages, each source once below", async () => {
  const conversation = await newConversation(harness.kernel, "cited");
  const text = "Iron rusts. Gold does not. Nor does platinum.";
  const citations = [
    { url: "https://a.example/iron", title: "Iron", snippet: "it rusts", start: 0, end: 11 },
    { url: "https://b.example/gold", title: "Gold", start: 12, end: 26 },
    { url: "https://a.example/iron", title: "Iron", start: 12, end: 26 },
  ];
  await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const made = draft.create({
        kind: "text",
        role: "model",
        text,
        status: "done",
        metadata: { citations },
      });
      return isProblem(made) ? made : null;
    },
  });
  const { page, context } = await harness.open(`/c/${conversation}`);
  const said = page.locator(".said");
  await said.waitFor();
  expect(await said.locator(".md p").allTextContents()).toEqual([
    "Iron rusts.[1] Gold does not.[1][2] Nor does platinum.",
  ]);
  expect(
    await said.locator(".citations li > a").evaluateAll((all) => all.map((a) => a.getAttribute("href"))),
  ).toEqual(["https://a.example/iron", "https://b.example/gold"]);
  expect(await said.locator(".snippet").allTextContents()).toEqual(["it rusts"]);
  await context.close();
});

test("[V129] [V132] [V133] a call reads as people say it, with short paths; an answer as an answer; a warning is one line", async () => {
  const conversation = await newConversation(harness.kernel, "words");
  const call = (toolName: string, more: object) => ({
    ...{ kind: "tool_call", role: "model", text: "{}", status: "done" },
    metadata: { toolUseId: toolName, toolName, stage: "end", success: true, input: {}, ...more },
  });
  const raw = 'User has answered your questions: "Which rounding?"="Half up". You can now continue.';
  const ask = {
    ...{ id: "a", kind: "question", state: "answered", answeredBy: "root" },
    questions: [{ id: "1", question: "Which rounding?", multiple: false, options: [] }],
    answer: { questions: { 1: { chosen: ["Half up"] } } },
  };
  const warning = `Codex could not find bubblewrap on PATH. ${"Install it with your package manager. ".repeat(6)}`;
  const [asked, changed, warned] = await write(conversation, (draft) => {
    draft.conversation({ metadata: { cwd: "/repo/shop" } });
    const make = (block: object) => {
      const made = draft.create(block as never);
      if (isProblem(made)) throw new Error(made.message);
      return made.id;
    };
    const question = make(
      call("AskUserQuestion", { compactParams: "Which rounding?", shortResult: raw, ask }),
    );
    const result = { kind: "tool_result", role: "tool", side: true, status: "done" };
    const own = { toolUseId: "AskUserQuestion", toolName: "AskUserQuestion" };
    make({ ...result, parent: question, text: raw, metadata: own });
    const edit = make({ ...call("apply_patch", { compactParams: "/repo/shop/src/a.ts" }), parent: question });
    const diff = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
    const changes = [{ path: "/repo/shop/src/a.ts", kind: "modify", diff }];
    const patch = { toolUseId: "apply_patch", toolName: "apply_patch", changes };
    make({ ...result, kind: "file_change", parent: edit, text: "", metadata: patch });
    const metadata = { notice: "warning" };
    const notice = make({
      kind: "error",
      role: "system",
      status: "done",
      text: warning,
      metadata,
      parent: edit,
    });
    return [question, edit, notice];
  });
  const { page, context } = await harness.open(`/c/${conversation}`, TALL);
  const question = page.locator(`article[data-block="${asked}"]`);
  await question.getByText("Half up").waitFor();
  expect(await question.innerText()).toMatch(/^Asked a question\s+Which rounding\?/);
  expect(await question.innerText()).not.toContain("User has answered");
  const line = question.getByRole("button", { name: /^Asked a question/ });
  expect(await line.getAttribute("title")).toContain("AskUserQuestion");
  await line.click();
  await question.getByText("AskUserQuestion", { exact: true }).waitFor();
  await question.getByText("User has answered").waitFor();
  const edit = page.locator(`article[data-block="${changed}"]`);
  expect(await edit.locator(".tool-line").innerText()).toMatch(/^Edit\s+src\/\s*a\.ts/);
  expect(await edit.locator(".file-open").getAttribute("title")).toContain("/repo/shop/src/a.ts");
  await edit.getByRole("button", { name: "Copy the path /repo/shop/src/a.ts" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("/repo/shop/src/a.ts");
  // A remark in a diff is a line of it, not a box.
  const remark = edit.locator(".diff-row", { hasText: "No newline at end of file" });
  expect(await remark.evaluate((row) => getComputedStyle(row).boxShadow)).toBe("none");
  const notice = page.locator(`article[data-block="${warned}"]`);
  const height = async () => (await notice.boundingBox())?.height ?? 0;
  const closed = await height();
  await notice.getByRole("button", { name: /^warning/i }).click();
  await expect.poll(height).toBeGreaterThan(closed + 10);
  expect(await notice.locator(".error-block").count()).toBe(0);
  await context.close();
});

test("[E15] a sub-agent's report is Markdown, below its work", async () => {
  const conversation = await newConversation(harness.kernel, "report");
  const known = { toolUseId: "t", toolName: "Task" };
  await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const call = { ...known, stage: "end", success: true } as const;
      const made = draft.create({
        kind: "tool_call",
        role: "model",
        text: "{}",
        status: "done",
        metadata: call,
      });
      if (isProblem(made)) return made;
      const side = { side: true, parent: made.id, status: "done" } as const;
      const work = draft.create({ ...side, kind: "text", role: "model", text: "I count." });
      if (isProblem(work)) return work;
      const text = "## Found\n\n- **two** exports\n- `user_id`\n";
      const result = draft.create({ ...side, kind: "tool_result", role: "tool", text, metadata: known });
      return isProblem(result) ? result : null;
    },
  });
  const { page, context } = await harness.open(`/c/${conversation}`, TALL);
  const report = page.locator(".report");
  await report.waitFor();
  expect(await report.getByRole("heading", { name: "Found" }).count()).toBe(1);
  expect(await report.locator("li").allTextContents()).toEqual(["two exports", "user_id"]);
  expect(await report.locator("strong").allTextContents()).toEqual(["two"]);
  expect(await report.innerText()).not.toContain("##");
  const work = await page.getByRole("button", { name: /^Agent(?!:)/ }).boundingBox();
  expect(work?.y).toBeLessThan((await report.boundingBox())?.y ?? 0);
  await context.close();
});

test.each([
  "`user_id` or __init__ where a > b && c < d",
  "> **Plan**: 1 * 2 * 3",
  "# no heading, [no](link)",
])("[E14] a closed thought says its first line as it was written: %s", async (line) => {
  const conversation = await newConversation(harness.kernel, "thought");
  const text = `\n${line}\n\nAnd more.`;
  await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const made = draft.create({ kind: "thinking", role: "model", text, status: "done" });
      return isProblem(made) ? made : null;
    },
  });
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(".thinking-preview").waitFor();
  expect(await page.locator(".thinking-preview").textContent()).toBe(line);
  await context.close();
});

test("[D20] a turn that a program leads has a foot: it works, then what it cost and how it ended", async () => {
  const conversation = await newConversation(harness.kernel, "own loop");
  const { page, context } = await harness.open(`/c/${conversation}`);
  const { turn } = await own(conversation, "turn.begin", { conversation, model: "m-1" });
  const { block_id } = await own(conversation, "block.create", { conversation, kind: "text", role: "model" });
  await own(conversation, "block.append", { block_id, text: "I look.", wait: true });
  await page.locator("footer.turn.running").getByText("m-1 is working…").waitFor();
  await own(conversation, "turn.end", {
    ...{ conversation, turn, stop_reason: "max_tokens", cost_usd: 0.25 },
    usage: { input: 4_000, cache_read: 1_000, output: 20 },
  });
  const foot = page.locator("footer.turn:not(.running)");
  await foot.waitFor();
  const facts = await foot.locator(".turn-facts > span").allTextContents();
  expect(facts.filter((part) => !/ m?s$/.test(part)).join(" · ")).toBe(
    "max tokens · $0.25 · 4k in (1k cached) · 20 out · m-1",
  );
  expect(await page.locator("footer.turn").count()).toBe(1);
  expect(await page.locator("article").last().getAttribute("data-status")).toBe("done");
  await context.close();
});

test("[V42] the facts below a title are on one line", async () => {
  const conversation = await ingest(harness.kernel, "claude", "claude/mcp.jsonl");
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(".head-facts button").waitFor();
  const feet = await page.locator(".head-facts > *").evaluateAll((facts) =>
    facts.map((fact) => {
      const words = document.createTreeWalker(fact, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      while (words.nextNode()) range.selectNodeContents(words.currentNode);
      return range.getBoundingClientRect().bottom;
    }),
  );
  expect(feet.length).toBeGreaterThan(1);
  for (const foot of feet) expect(foot).toBeCloseTo(feet[0] as number, 0);
  await context.close();
});

/** A call of a program with a token of its own. */
async function own(conversation: string, tool: string, input: object): Promise<Record<string, string>> {
  const answer = await fetch(`${harness.running.url}/v1/tools/${tool}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const said = (await answer.json()) as Record<string, string>;
  if (!answer.ok) throw new Error(`${tool} in ${conversation}: ${JSON.stringify(said)}`);
  return said;
}
