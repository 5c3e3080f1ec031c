/**
 * A turn from the composer to its end, with an agent that asks for permission; and where others are in a text.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Draft, isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAKE_CLAUDE, ingest, newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";
import { waitsIn, watchWaits } from "./page/waits.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);

let harness: PageHarness;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-turn-"));
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a turn whose agent asks for leave, and writes down how it is answered. */
async function ask(page: Page, answers: string): Promise<void> {
  await page
    .getByRole("textbox", { name: "Prompt" })
    .fill(JSON.stringify({ recording: RECORDING, lines: 0, act: "ask", answers }));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
}

/** A turn that has stopped at a usage limit, as Codex tells of it. */
async function limited(resetsAt: number): Promise<string> {
  const conversation = await newConversation(harness.kernel, "limited");
  const written = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const turn = { id: "turn-limit", provider: "claude", agent: "claude", startedAt: Date.now() };
      const rateLimits = { primary: { usedPercent: 100, resetsAt } };
      const end = { status: "error", error: "usage_limit", native: { rateLimits } } as const;
      draft.create({ kind: "text", role: "user", text: "Do it", metadata: { turn: turn.id } });
      draft.setTurn({ ...turn, startedBy: "tester", ...end });
      return null;
    },
  });
  if (isProblem(written)) throw new Error(written.message);
  return conversation;
}

describe("a turn", () => {
  test("[V162] forked while the agent works, the next prompt goes on from there, whatever the agent says meanwhile", async () => {
    const conversation = await newConversation(harness.kernel, "fork meanwhile");
    const [, middle = "", last = ""] = await say(harness.kernel, conversation, [
      { text: "one", role: "user" },
      { text: "two" },
      { text: "three" },
    ]);
    const write = async (plan: (draft: Draft) => null) => {
      const written = await harness.kernel.write(conversation, { agent: "tester", plan });
      if (isProblem(written)) throw new Error(written.message);
    };
    const turn = { id: "turn-fork", provider: "claude", agent: "claude", startedAt: Date.now() };
    await write((draft) => {
      draft.setTurn({ ...turn, startedBy: "tester", status: "running" });
      return null;
    });
    const { page, context } = await harness.open(`/c/${conversation}`);
    await page.getByRole("textbox", { name: "Prompt" }).fill("From two, ");
    await page.locator(`[data-block="${middle}"]`).focus();
    await page.keyboard.press("f");
    await page.getByText("Your next prompt continues from an earlier block").waitFor();
    await write((draft) => {
      draft.create({ kind: "text", role: "model", text: "four", parent: last, status: "done" });
      return null;
    });
    await page.getByText("four").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.type("please");
    await page.keyboard.press("Enter");
    const sent = async () => {
      const blocks = await harness.kernel.allBlocks(conversation);
      if (isProblem(blocks)) throw new Error(blocks.message);
      const found = blocks.find(({ role, parent }) => role === "user" && parent !== null);
      return found && (found.metadata.queued?.parent ?? found.parent);
    };
    await expect.poll(sent).toBe(middle);
    await context.close();
  });

  test("[CM9] at a usage limit continues by itself: every window says so, also after a reload", async () => {
    const conversation = await limited(Math.floor(Date.now() / 1_000) + 3_600);
    const { page, context } = await harness.open(`/c/${conversation}`);
    await page.getByRole("button", { name: /^Continue at / }).click();
    const cancel = (at: Page) => at.getByRole("button", { name: /^Continues at .* Cancel$/ });
    await cancel(page).waitFor();
    await page.reload();
    await cancel(page).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await cancel(other).click();
    await other.getByRole("button", { name: /^Continue at / }).waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByRole("button", { name: /^Continue at / }).waitFor();
    await context.close();
  });

  test("is asked for, asks back over a reload, and ends; the buttons wait half a second", async () => {
    const answers = join(folder, "answers.jsonl");
    const { page, complaints } = await harness.open("/");
    await ask(page, answers);
    const allow = page.getByRole("button", { name: "Allow once" });
    await allow.first().waitFor();
    await page.locator(".entry .state-needs").waitFor();
    expect(await page.title()).toMatch(/^\(1\) .* · Blockyard$/);
    // The request says it; the line of the turn does not repeat it.
    await expect.poll(() => page.locator("footer.turn.running").textContent()).toBe("");
    await watchWaits(page, "Allow once");
    await page.reload();
    await expect.poll(() => allow.first().isEnabled()).toBe(true);
    expect((await waitsIn(page))[0]).toBeGreaterThan(450);
    const asked = (await page.textContent(".agent-ask .exact")) ?? "";
    expect(asked.length).toBeGreaterThan(0);
    const asking = page.locator(".agent-ask:not(.answered)");
    const answered = page.locator(".agent-ask.answered.allowed");
    const ended = page.locator("footer.turn:not(.running)");
    for (let i = 0; i < 10; i++) {
      await asking.or(ended).first().waitFor();
      if ((await ended.count()) > 0) break;
      const before = await answered.count();
      const question = page.getByRole("region", { name: "Needs an answer" });
      if ((await question.count()) > 0) {
        await question.getByRole("radio").or(question.getByRole("checkbox")).first().check();
        await question.getByRole("button", { name: "Answer", exact: true }).click();
      } else {
        await expect.poll(() => allow.first().isEnabled()).toBe(true);
        await allow.first().click();
      }
      await expect
        .poll(async () => (await answered.count()) > before || (await ended.count()) > 0)
        .toBe(true);
    }
    await page.waitForSelector("footer.turn:not(.running)");
    expect(readFileSync(answers, "utf8")).toContain('"allow"');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("[V15] [D7] who does not allow a call can say why, by keyboard; the agent gets it and the call shows it", async () => {
    const answers = join(folder, "denials.jsonl");
    const { page, complaints } = await harness.open("/");
    await ask(page, answers);
    const deny = page.getByRole("button", { name: "Deny…" });
    const why = page.getByRole("textbox", { name: "Reason for the agent" });
    const heard = () => readFileSync(answers, "utf8").trimEnd().split("\n");
    await expect.poll(() => deny.isEnabled()).toBe(true);
    await deny.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => why.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type("changed my mind");
    await page.keyboard.press("Escape");
    await expect.poll(() => deny.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await why.count()).toBe(0);
    await page.keyboard.press("Enter");
    expect(await why.inputValue()).toBe("");
    await page.keyboard.type("Use the other folder");
    await page.keyboard.press("Enter");
    await page.locator(".agent-ask.denied").first().waitFor();
    expect(await page.locator(".agent-ask.denied").first().textContent()).toMatch(
      /^You denied this: Use the other folder$/,
    );
    await expect
      .poll(() => heard()[0])
      .toContain('"deny","message":"The user denied this tool call. Reason: Use the other folder"');

    await expect.poll(() => deny.isEnabled()).toBe(true);
    await deny.click();
    await page.keyboard.press("Enter");
    await expect
      .poll(() => heard()[1])
      .toMatch(/"deny","message":"The user denied this tool call without a reason\. /);
    // The agent may hear of it before the page does.
    await expect.poll(() => page.locator(".agent-ask.denied").last().textContent()).toBe("You denied this");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("[V37] a denied call says so once, and not as a failure; so does an export", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/permission-denied.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    const denied = page.locator(".agent-ask.denied").first();
    await denied.waitFor();
    const said = ((await denied.textContent()) ?? "").replace(/^Denied: /, "");
    expect(said.length).toBeGreaterThan(10);
    const row = page.locator("article", { has: denied }).first();
    expect((await row.innerText()).split(said).length - 1).toBe(1);
    expect(await row.locator(".bad, .failed").count()).toBe(0);
    expect(await row.locator(".state.quiet").textContent()).toBe("denied");
    const { url, auth } = harness.running;
    const answer = await fetch(`${url}/v1/conversations/${conversation}/export?format=html`, {
      headers: { authorization: `Bearer ${auth.ownerToken}` },
    });
    const exported = await answer.text();
    await page.setContent(exported);
    const copy = page.locator("article", { has: page.locator(".agent-ask") }).first();
    expect((await copy.innerText()).split(said).length - 1).toBe(1);
    await page.context().close();
  });

  test("[V36] an agent that is not installed is said to be so, with the command that mends it; the prompt stays", async () => {
    process.env["BLOCKYARD_CLAUDE"] = join(folder, "no-such-agent");
    const { page } = await harness.open("/");
    const before = await harness.kernel.store.conversations({ limit: 1_000 });
    await page.getByRole("textbox", { name: "Prompt" }).fill("do it\n");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".note.bad");
    expect(await page.textContent(".note.bad")).toContain("not found");
    expect(await page.locator(".note.bad code").first().textContent()).toContain("npm install");
    expect(await page.textContent(".note.bad")).not.toContain("`");
    expect(await page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe("do it\n");
    process.env["BLOCKYARD_CLAUDE"] = FAKE_CLAUDE;
    // Not made, not archived: there never was a conversation.
    expect(await harness.kernel.store.conversations({ limit: 1_000 })).toHaveLength(before.length);
    const prompt = JSON.stringify({ recording: RECORDING, lines: 0, act: "exit0" });
    await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/c\//);
    await page.waitForSelector("footer.turn:not(.running)");
    expect(await page.textContent("h1.title")).toContain("recording");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Prompt");
    await page.context().close();
  });

  test("[D13] a prompt says how much of the conversation went along, and is what was typed", async () => {
    const conversation = await newConversation(harness.kernel, "taken over");
    const texts = ["How many plums?", "Seven.", "And pears?", "Nine."];
    await say(
      harness.kernel,
      conversation,
      texts.map((text, i) => ({ text, role: i % 2 === 0 ? "user" : "model" })),
    );
    const { page, complaints } = await harness.open(`/c/${conversation}`);
    const heard = join(folder, "heard.json");
    const prompt = JSON.stringify({ recording: RECORDING, lines: 0, act: "exit0", heard });
    await page.getByRole("button", { name: "Agent: Claude Code" }).waitFor();
    await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
    await page.keyboard.press("Enter");
    const note = page.locator(".said-user .told");
    await note.waitFor();
    expect(await note.textContent()).toBe("+ 4 earlier messages shared with the agent");
    await page.waitForSelector("footer.turn:not(.running)");
    expect(await page.locator(".said-user .told").count()).toBe(1);
    expect(await page.locator("main").innerText()).not.toContain("[Blockyard]");
    const [told, asked] = JSON.parse(readFileSync(heard, "utf8"));
    for (const text of texts) expect(told.text).toContain(`| ${text}`);
    expect(asked.text).toBe(prompt);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("a conversation goes on with the agent that it was with; another choice holds for it", async () => {
    const conversation = await ingest(harness.kernel, "codex", "codex/api-500-then-ok.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    await page.getByRole("button", { name: "Agent: Codex" }).click();
    await page.getByRole("menuitemradio", { name: /^OpenAI API/ }).click();
    await page.getByRole("button", { name: "Agent: OpenAI API" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Agent: OpenAI API" }).waitFor();
    await page.context().close();
  });
});

describe("together", () => {
  test("[V135] an agent's cursor is seen in the text, its name beside the text, and both move with it", async () => {
    const conversation = await newConversation(harness.kernel, "cursors");
    const [block] = await say(harness.kernel, conversation, [{ text: "zero line\none two three" }]);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.locator(`[data-block="${block}"]`).focus();
    await page.keyboard.press("e");
    await page.locator(".editor-host .cm-content").click();
    await harness.running.tools.call({ agent: "helper-agent", role: "agent" } as never, "cursor.set", {
      block_id: block,
      head: { offset: 14 },
    });
    const cursor = page.locator(".editor-host .remote-cursor");
    await cursor.waitFor({ state: "attached" });
    expect(await cursor.getAttribute("data-agent")).toBe("helper-agent");
    const at = () => cursor.evaluate((bar) => bar.getBoundingClientRect().left);
    const left = await at();
    const covered = () =>
      page.locator(".editor-host .remote-name").evaluate((name) => {
        const content = name.closest(".cm-content") as HTMLElement;
        const box = name.getBoundingClientRect();
        const words = document.createRange();
        words.selectNodeContents(content);
        const isOn = ({ left, right, top, bottom, width }: DOMRect) =>
          width > 0 && left < box.right && right > box.left && top < box.bottom && bottom > box.top;
        const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
        let count = 0;
        while (texts.nextNode()) {
          words.selectNodeContents(texts.currentNode);
          count += [...words.getClientRects()].filter(isOn).length;
        }
        return { count, isSeen: box.width > 20 };
      });
    expect(await covered()).toEqual({ count: 0, isSeen: true });
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Home");
    await page.keyboard.type("zero ");
    await expect.poll(at).toBeGreaterThan(left + 10);
    expect(await covered()).toEqual({ count: 0, isSeen: true });
    await page.context().close();
  });
});
