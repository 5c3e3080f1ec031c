/**
 * The page around a conversation: the list, the head, the side pane, the palette, the settings; by keyboard, over reloads, wide and narrow.
 */
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { ingest, newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const WIDE = { width: 1400, height: 900 };
const PHONE = { width: 390, height: 844 };

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

type Plan = Parameters<PageHarness["kernel"]["write"]>[1]["plan"];

async function write(conversation: string, plan: Plan): Promise<void> {
  const answer = await harness.kernel.write(conversation, { agent: "tester", plan });
  if (isProblem(answer)) throw new Error(answer.message);
}

const turn = { id: "t", provider: "claude", agent: "tester", startedAt: 1 } as const;
const leave = (page: Page) => page.getByRole("textbox", { name: "Prompt" }).press("Escape");

describe("the list", () => {
  test("[V102] [D62] shows what needs the reader, what runs, then days, and says each state in words", async () => {
    const asks = await newConversation(harness.kernel, "wants an answer");
    await write(asks, (draft) => {
      draft.setTurn({ ...turn, status: "running" });
      const metadata = {
        toolName: "Bash",
        toolUseId: "1",
        approval: { id: "a", state: "asked", title: "Run it?" },
      };
      draft.create({ kind: "tool_call", role: "model", status: "running", text: "{}", metadata });
      return null;
    });
    const cut = await newConversation(harness.kernel, "asked before a restart");
    await write(cut, (draft) => {
      const begun = { ...turn, startedBy: "tester" };
      draft.setTurn({ ...begun, status: "running" });
      const ask = { id: "a", kind: "permission", state: "asked", title: "Run it again?" } as const;
      const metadata = { toolName: "Bash", toolUseId: "1", turn: turn.id, ask };
      const call = draft.create({
        kind: "tool_call",
        role: "model",
        status: "running",
        text: "{}",
        metadata,
      });
      if (!isProblem(call)) draft.status(call.id, "error", { reason: "interrupted" });
      draft.setTurn({ ...begun, status: "error", reason: "interrupted" });
      return null;
    });
    const ends = { "is at work": "running", "was stopped": "cancelled", "has failed": "failed" } as const;
    for (const [title, how] of Object.entries(ends)) {
      const conversation = await newConversation(harness.kernel, title);
      await write(conversation, (draft) => {
        draft.setTurn({
          ...turn,
          ...(how === "running" ? { status: how } : { status: "error", reason: how }),
        });
        return null;
      });
    }
    const { page, context } = await harness.open("/", WIDE);
    const list = page.getByRole("navigation", { name: "Conversations" });
    const group = (name: string) => list.getByRole("region", { name });
    await group("Needs you")
      .getByRole("link", { name: /wants an answer.*Needs you/ })
      .waitFor();
    await group("Needs you")
      .getByRole("link", { name: /asked before a restart.*Needs you/ })
      .waitFor();
    await group("Running")
      .getByRole("link", { name: /is at work.*Running/ })
      .waitFor();
    await group("Today")
      .getByRole("link", { name: /was stopped.*Stopped/ })
      .waitFor();
    await group("Today")
      .getByRole("link", { name: /has failed.*Failed/ })
      .waitFor();
    // The first page says the same, and what is asked.
    const home = page.getByRole("main");
    await home
      .getByRole("region", { name: "Needs you" })
      .getByRole("link", { name: /wants an answer.*Run it\?/ })
      .waitFor();
    await home
      .getByRole("region", { name: "Needs you" })
      .getByRole("link", { name: /asked before a restart.*Run it again\?/ })
      .waitFor();
    await list.getByRole("searchbox").fill("stopped");
    await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
    // So does the head.
    for (const conversation of [asks, cut]) {
      await page.goto(`${harness.running.url}/c/${conversation}`);
      await page.locator(".head").getByText("Needs you", { exact: true }).waitFor();
    }
    await context.close();
  });

  test("[V102] shows the facts of what is pointed at, not of what moves under a pointer that rests", async () => {
    const last = await newConversation(harness.kernel, "card last");
    const { page, context } = await harness.open(`/c/${last}`, WIDE);
    const list = page.getByRole("navigation", { name: "Conversations" });
    const box = await list.getByRole("link", { name: /card last/ }).boundingBox();
    const card = page.getByRole("tooltip");
    await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) - 200);
    await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 8, { steps: 3 });
    await card.getByText("Started").waitFor();
    await page.getByRole("textbox", { name: "Prompt" }).press("a");
    await expect.poll(() => card.getByText("Started").count()).toBe(0);
    // Another one takes its place in the list.
    await newConversation(harness.kernel, "card newer");
    await list.getByRole("link", { name: /card newer/ }).waitFor();
    await page.waitForTimeout(1_000); // longer than it takes to be shown
    expect(await card.getByText("Started").count()).toBe(0);
    await context.close();
  });

  test("[V103] is walked by keyboard, put away and made wider; all of it is remembered", async () => {
    const first = await newConversation(harness.kernel, "walk one");
    await newConversation(harness.kernel, "walk two");
    const { page, context } = await harness.open(`/c/${first}`, WIDE);
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list
      .getByRole("link", { name: /walk two/ })
      .first()
      .waitFor();
    await leave(page);
    await page.keyboard.press("s");
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await expect.poll(focused).toContain("walk one");
    await page.keyboard.press("k");
    expect(await focused()).toContain("walk two");
    await page.getByRole("tooltip").getByText("Started").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toContain("walk two");

    const width = async () => (await list.boundingBox())?.width ?? 0;
    const before = await width();
    const edge = page.getByRole("separator", { name: "Width of the sidebar" });
    await edge.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await width()).toBeCloseTo(before + 32, 0);
    await page.reload();
    await list.waitFor();
    expect(await width()).toBeCloseTo(before + 32, 0);

    await leave(page);
    await page.keyboard.press("[");
    await list.waitFor({ state: "hidden" });
    await page.reload();
    await page.getByRole("button", { name: "Conversations" }).click();
    await list.waitFor();
    await context.close();
  });
});

describe("the head", () => {
  test("[V104] says state, context and cost; copies the id, and a link to a block", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl", "A head");
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    const head = page.locator("header");
    await head.getByText("Done").waitFor();
    await head.getByText("$0.14").waitFor();
    await head.getByRole("button", { name: /^Context \d+ % full: .* of 1M tokens/ }).waitFor();
    await head.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Copy conversation id" }).click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).toBe(conversation);
    // A block's link is copied too, and leads there.
    const block = page.locator("article").last();
    await block.hover();
    await block.getByRole("button", { name: "More actions for this block" }).click();
    await page.getByRole("menuitem", { name: "Copy link" }).click();
    await expect.poll(copied).toMatch(new RegExp(`/c/${conversation}#.`));
    await context.close();
  });

  test("[V104] menus are walked by arrows and letters; what is on or off stays open", async () => {
    const conversation = await newConversation(harness.kernel, "menus");
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    // With the press that opens it the menu has the keys: no letter behind it is lost.
    const first = await page.getByRole("button", { name: "View" }).evaluate((button: HTMLElement) => {
      button.focus();
      button.click();
      return document.activeElement?.textContent;
    });
    expect(first).toBe("Thinking");
    const item = (name: string) => page.getByRole("menuitemcheckbox", { name });
    const hasFocus = (name: string) =>
      expect.poll(() => item(name).evaluate((node) => node === document.activeElement)).toBe(true);
    await hasFocus("Thinking");
    await page.keyboard.press("ArrowDown");
    await hasFocus("Tool calls");
    await page.keyboard.press("s");
    await hasFocus("System notes");
    await page.keyboard.press("Space");
    await expect.poll(() => item("System notes").getAttribute("aria-checked")).toBe("false");
    await page.keyboard.press("Space");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("View");
    await context.close();
  });
});

describe("the side pane", () => {
  test("[V105] shows the whole name of a file in a deep folder, and from where it was moved", async () => {
    const conversation = await newConversation(harness.kernel, "moved");
    const to = `src/${"deep/".repeat(20)}basket.js`;
    const change = { path: "src/cart.js", kind: "modify", movedTo: to, diff: "" };
    await harness.kernel.write(conversation, {
      agent: "codex",
      plan: (draft) =>
        draft.create({ kind: "file_change", role: "tool", status: "done", metadata: { changes: [change] } }),
    });
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.getByRole("button", { name: "Side pane" }).click();
    const file = page.getByRole("tabpanel", { name: "Changes" }).getByRole("region", { name: to });
    await file.getByText("moved from src/cart.js").waitFor();
    const isWhole = file.getByText("basket.js", { exact: true }).evaluate((name) => {
      const { right } = name.getBoundingClientRect();
      const line = (name.closest("button") as HTMLElement).getBoundingClientRect();
      return name.scrollWidth <= name.clientWidth + 1 && right <= line.right;
    });
    expect(await isWhole).toBe(true);
    await context.close();
  });

  test("[V105] [V106] shows what was changed by file, with diffs, and leads to where it happened", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl", "Changes");
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.getByRole("button", { name: "Side pane" }).click();
    const panel = page.getByRole("tabpanel", { name: "Changes" });
    const file = panel.getByRole("region", { name: "/workspace/demo/src/math.js", exact: true });
    await file.getByText("Net change of 2 edits").waitFor();
    const edges = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((each) => {
          const { left, right } = each.getBoundingClientRect();
          return [left, right];
        });
    expect(await edges(".composer")).toEqual(await edges(".file-change"));
    expect(await file.getByText("Edit 1 of 2").count()).toBe(0);
    await file.getByRole("button", { name: "Show edits" }).click();
    await file.getByText("Edit 1 of 2").waitFor();
    await panel.getByText("4 files").waitFor();
    await panel.getByRole("button", { name: "Last turn" }).click();
    await panel.getByText("4 files").waitFor();
    await file.getByRole("button", { name: "Jump to it" }).first().click();
    await page.locator(".block.focused").waitFor();
    expect(await page.locator(".block.focused").textContent()).toContain("math.js");
    // A click on the file puts its diffs away.
    await file.getByRole("button", { name: /math\.js/ }).click();
    await expect.poll(() => file.getByText("Edit 1 of 2").count()).toBe(0);
    // By keyboard: v marks a file as viewed and goes on to the next.
    const lines = panel.locator("button[aria-expanded][title]");
    await lines.first().focus();
    await page.keyboard.press("v");
    await panel.getByText("1 of 4 viewed").waitFor();
    const focus = () => lines.evaluateAll((all) => all.indexOf(document.activeElement as HTMLButtonElement));
    expect(await focus()).toBe(1);
    await page.keyboard.press("j");
    expect(await focus()).toBe(2);
    await page.keyboard.press("k");
    expect(await focus()).toBe(1);
    expect(await lines.first().getAttribute("aria-expanded")).toBe("false");
    await page.reload();
    await panel.getByText("1 of 4 viewed").waitFor();
    await panel.getByRole("checkbox", { name: "Viewed" }).first().uncheck();
    await panel.getByText("4 files").waitFor();
    await context.close();
  });

  test("[V106] has its tabs by arrow keys, its width and tab over a reload, and an outline that leads to prompts", async () => {
    const conversation = await newConversation(harness.kernel, "Outlined");
    const blocks = Array.from({ length: 60 }, (_, i) => [
      { text: `Question ${i + 1}\nwith a second line`, role: "user" as const },
      { text: `Answer ${i + 1}. ${"word ".repeat(80)}` },
    ]).flat();
    await say(harness.kernel, conversation, blocks);
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.getByText("Answer 60").waitFor();
    await leave(page);
    await page.keyboard.press("]");
    await page.getByRole("tab", { name: "Changes" }).focus();
    await page.keyboard.press("End");
    const outline = page.getByRole("tabpanel", { name: "Outline" });
    const prompts = outline.getByRole("button");
    await expect.poll(() => prompts.count()).toBe(60);
    expect(await prompts.first().textContent()).toContain("1Question 1");
    await prompts.first().click();
    await page.locator(".block.focused", { hasText: "Question 1" }).waitFor();
    await page.reload();
    await expect.poll(() => prompts.count()).toBe(60);
    await page.getByRole("button", { name: "Close the side pane" }).click();
    await outline.waitFor({ state: "detached" });
    await context.close();
  });

  test("[V106] the outline says how a turn went also where its prompt is not loaded", async () => {
    const conversation = await newConversation(harness.kernel, "Turns");
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const begun = { provider: "claude", agent: "claude", startedAt: draft.at };
        draft.setTurn({ ...begun, id: "t1", status: "error", reason: "failed" });
        const metadata = { turn: "t1" };
        const first = draft.create({ kind: "text", role: "user", text: "Fails", status: "done", metadata });
        return isProblem(first) ? first : null;
      },
    });
    await say(
      harness.kernel,
      conversation,
      Array.from({ length: 600 }, (_, i) => ({ text: `Answer ${i + 1}. ${"word ".repeat(40)}` })),
    );
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.getByText("Answer 600").waitFor();
    await leave(page);
    await page.keyboard.press("]");
    await page.getByRole("tab", { name: "Outline" }).click();
    const prompt = page.getByRole("tabpanel", { name: "Outline" }).getByRole("button");
    await prompt.getByText("Failed").waitFor({ state: "attached" });
    expect(await page.locator("article", { hasText: "Fails" }).count()).toBe(0);
    await context.close();
  });

  test("[V106] is as wide as the window has room for, until somebody chooses", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl", "Wide");
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 1920, height: 1080 });
    const pane = page.getByRole("complementary", { name: "Side pane" });
    const edge = pane.getByRole("separator", { name: "Width of the side pane" });
    const widthPx = async () => (await pane.boundingBox())?.width;
    expect([await edge.getAttribute("aria-valuenow"), await widthPx()]).toEqual(["540", 540]);
    await page.setViewportSize(WIDE);
    await expect.poll(widthPx).toBe(400);
    await edge.press("ArrowLeft");
    const chosen = Number(await edge.getAttribute("aria-valuenow"));
    expect(chosen).toBeGreaterThan(400);
    await page.setViewportSize({ width: 1920, height: 1080 });
    await expect.poll(widthPx).toBe(chosen);
    await edge.dblclick();
    await expect.poll(widthPx).toBe(540);
    await context.close();
  });

  test("[V106] is a sheet over a narrow window, which Escape and the way on put away", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl", "A sheet");
    const { page, context } = await harness.open(`/c/${conversation}`, PHONE);
    const pane = page.getByRole("complementary", { name: "Side pane" });
    expect(await pane.count()).toBe(0);
    await page.getByRole("button", { name: "Side pane" }).click();
    await pane.getByRole("tab", { name: "Session" }).click();
    await pane.getByText("claude-opus-5-5").first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
    await page.keyboard.press("Escape");
    await pane.waitFor({ state: "detached" });
    await context.close();
  });
});

describe("little room", () => {
  test("[V153] [V104] while an agent works, its mode stays readable beside the list and the pane, and a long path ends in dots", async () => {
    const conversation = await newConversation(harness.kernel, "At work");
    await write(conversation, (draft) => {
      draft.conversation({ metadata: { cwd: `/workspace/${"deep/".repeat(20)}shop` } });
      draft.setTurn({ ...turn, status: "running" });
    });
    for (const [width, hasPane] of [
      [800, false],
      [960, false],
      [1280, true],
    ] as const) {
      const { page, context } = await harness.open(`/c/${conversation}`, { width, height: 700 });
      await page.getByRole("button", { name: "Stop" }).waitFor();
      if (hasPane) await page.getByRole("button", { name: "Side pane" }).click();
      for (const words of ["", "And then this"]) {
        await page.getByRole("textbox", { name: "Prompt" }).fill(words);
        const mode = page.getByRole("button", { name: /^Mode: / }).locator(".picker-text");
        await expect.poll(() => mode.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
        expect((await mode.boundingBox())?.width).toBeGreaterThan(10);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      }
      await page.getByRole("button", { name: "Queue" }).click({ trial: true });
      const folder = page.getByTitle(/^Works in/).locator("span");
      const cut = await folder.evaluate((each) => [
        each.scrollWidth > each.clientWidth,
        getComputedStyle(each).textOverflow,
      ]);
      expect(cut).toEqual([true, "ellipsis"]);
      await page.getByRole("textbox", { name: "Prompt" }).fill("");
      await context.close();
    }
  });
});

describe("the narrowest window", () => {
  test("[V19] has room for words to find, and for every way to divide the costs", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl", "Narrow");
    const { page, context } = await harness.open(`/c/${conversation}`, {
      width: 320,
      height: 568,
      touch: true,
    });
    await page.getByText(/^Created/).waitFor();
    await page.keyboard.press("Control+f");
    const find = page.getByRole("textbox", { name: /^Find/ }).or(page.getByRole("searchbox"));
    await find.fill("math");
    await page.keyboard.press("Enter");
    await page.getByText(/^\d+ of \d+/).waitFor();
    expect((await find.boundingBox())?.width).toBeGreaterThan(80);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill("costs");
    await page.keyboard.press("Enter");
    const last = page.getByRole("dialog", { name: "Costs" }).getByRole("button", { name: "Conversation" });
    await last.waitFor();
    const box = await last.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(320);
    await context.close();
  });
});

describe("the first page", () => {
  test("[V165] shows a recorded session until there is something of one's own, which it never calls recorded", async () => {
    const fresh = await openHarness();
    const recorded = await newConversation(fresh.kernel, "A missing cent (recorded)");
    await fresh.kernel.write(recorded, {
      agent: "tester",
      plan: (draft) => draft.conversation({ metadata: { recorded: true } }),
    });
    const { page } = await fresh.open("/", WIDE);
    const main = page.getByRole("main", { name: "New task" });
    await main.getByRole("link", { name: /A missing cent”, a recorded session/ }).waitFor();
    await newConversation(fresh.kernel, "My own task");
    await main.getByRole("link", { name: /My own task/ }).waitFor();
    expect(await main.getByText("a recorded session").count()).toBe(0);
    expect(await main.getByText("Other ways to start").count()).toBe(0);
    await fresh.close();
  });
});

describe("the palette", () => {
  test("[V107] offers verbs first, then conversations, then what is set", async () => {
    const conversation = await newConversation(harness.kernel, "Palette");
    await say(harness.kernel, conversation, [{ text: "one" }]);
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.getByText("one", { exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    const options = page.getByRole("dialog", { name: "Commands" }).getByRole("option");
    await options.first().waitFor();
    const names = await options.allTextContents();
    const at = (name: string) => names.findIndex((each) => each.includes(name));
    expect(at("Review changes")).toBeGreaterThan(-1);
    expect(at("Export as HTML")).toBeLessThan(at("Palette"));
    await page.getByRole("combobox", { name: "Commands" }).fill("settings");
    await page.keyboard.press("Enter");
    const settings = page.getByRole("dialog", { name: "Settings" });
    await settings.getByRole("radio", { name: "Dark" }).check();
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await settings.getByRole("radio", { name: "System" }).check();
    await context.close();
  });
});

describe("costs and deleting", () => {
  test("[V110] costs by day, agent and conversation, as a table, a chart and a file", async () => {
    const conversation = await ingest(
      harness.kernel,
      "claude",
      "claude/subagent-parallel.jsonl",
      "Dear, =1+1",
    );
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    await page.locator("header").getByRole("button", { name: "$0.10" }).click();
    const dialog = page.getByRole("dialog", { name: "Costs" });
    // The keyboard begins with what is chosen.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("30 days");
    await dialog.getByRole("button", { name: "All" }).click();
    await dialog.getByRole("img", { name: /^Cost by day/ }).waitFor();
    await dialog.getByRole("button", { name: "Agent" }).click();
    await dialog.getByRole("row", { name: /^Claude Code/ }).waitFor();
    await dialog.getByRole("columnheader", { name: "Sub-agents" }).waitFor();
    await dialog.getByRole("button", { name: "Conversation" }).click();
    await dialog.getByRole("row", { name: /^Dear.*\$0\.10$/ }).waitFor();
    const saving = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export CSV" }).click();
    const saved = await (await saving).createReadStream();
    const file = (await saved.toArray()).join("");
    expect(file).toMatch(/^conversation,conversation_id,turns,/);
    expect(file).toContain(`"Dear, =1+1",${conversation},1,`);
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole("link", { name: /Dear/ }).click();
    await dialog.waitFor({ state: "detached" });
    await context.close();
  });

  test("[V109] a conversation is deleted after a question, and comes back by undo", async () => {
    const conversation = await newConversation(harness.kernel, "to be deleted");
    await say(harness.kernel, conversation, [{ text: "precious words" }]);
    const { page, context } = await harness.open(`/c/${conversation}`, WIDE);
    const entry = page.getByRole("navigation").getByRole("link", { name: /to be deleted/ });
    await entry.waitFor();
    const other = await harness.open(`/c/${conversation}`, WIDE);
    await other.page.getByText("precious words").waitFor();
    const remove = async () => {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: "Delete…" }).click();
    };
    await remove();
    const dialog = page.getByRole("dialog", { name: "Delete conversation" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await entry.count()).toBe(1);
    await remove();
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await entry.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/");
    // Another window in which it is open says so, and offers nothing to write in.
    await other.page.getByText("This conversation was deleted.").waitFor();
    expect(await other.page.getByText("precious words").count()).toBe(0);
    expect(await other.page.getByRole("textbox", { name: "Prompt" }).count()).toBe(0);
    await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
    await entry.waitFor();
    for (const each of [page, other.page]) await each.getByText("precious words").waitFor();
    await other.context.close();
    await context.close();
  });
});

describe("for everybody", () => {
  test.each([WIDE, PHONE])(
    "[V12] axe finds nothing at $width",
    async (size) => {
      const conversation = await ingest(harness.kernel, "claude", "claude/mcp.jsonl", "Everybody");
      const { page, context } = await harness.open(`/c/${conversation}`, size);
      await page.locator("article").first().waitFor();
      const findings: string[] = [];
      const look = async (where: string) => {
        for (const finding of await axeFindings(page)) findings.push(`${where}: ${finding}`);
      };
      await look("the page");
      await page.getByRole("button", { name: "View" }).click();
      await look("the view menu");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Side pane" }).click();
      for (const tab of ["Changes", "Files", "Session", "Outline"]) {
        await page.getByRole("tab", { name: tab }).click();
        await page.getByRole("tabpanel", { name: tab }).waitFor();
        await look(tab);
      }
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
      await look("the palette");
      await page.getByRole("combobox", { name: "Commands" }).fill("settings");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Settings" }).waitFor();
      await look("the settings");
      expect(findings).toEqual([]);
      await context.close();
    },
    300_000,
  );
});
