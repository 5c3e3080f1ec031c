/**
 * The page in a real browser, on a real server: what a person sees and does.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness, replayed, say } from "./page/harness.ts";

let harness: PageHarness;

/** Tall enough to have all rows of a recording in the document. */
const TALL = { height: 6_000 };

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

async function settled(page: Page, selector = "article"): Promise<void> {
  await page.waitForSelector(selector);
  await page.waitForFunction(() => document.querySelectorAll(".waiting").length === 0);
}

/** What the page shows, without what differs between two looks at the same thing: names, times, colours. */
function shownTree(page: Page): Promise<string> {
  return page.evaluate(() => {
    const lines: string[] = [];
    const walk = (element: Element, depth: number): void => {
      if (element.matches(".block-actions, .took, svg, style")) return;
      if (element.matches(".line"))
        return void lines.push(`${" ".repeat(depth)}| ${element.textContent?.trimEnd()}`);
      const own = [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.textContent?.trim() ?? "")
        .join("");
      const isNamed = element.hasAttribute("data-kind");
      if (isNamed)
        lines.push(
          `${" ".repeat(depth)}[${element.getAttribute("data-kind")} ${element.getAttribute("data-status")}]`,
        );
      if (own !== "") lines.push(`${" ".repeat(depth)}${own}`);
      for (const child of element.children) walk(child, depth + (isNamed ? 1 : 0));
    };
    for (const article of document.querySelectorAll("article, footer.turn")) walk(article, 0);
    return lines.join("\n");
  });
}

describe("a first start", () => {
  test("says what can be done", async () => {
    const { page, complaints } = await harness.open("/");
    await page.getByRole("heading", { level: 1, name: "New task in root" }).waitFor();
    expect(await page.textContent(".first-steps")).toContain("blockyard ingest");
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

describe("what is shown", () => {
  test("a Claude recording: thinking closed, rows of one line, diffs, terminal, to-dos, cost", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl");
    const { page, complaints } = await harness.open(`/c/${conversation}`, TALL);
    await settled(page, ".file-change");
    const changes = await page.locator(".change").evaluateAll((all) => all.map((change) => change.className));
    expect(changes.some((name) => name.includes("change-add"))).toBe(true);
    expect(changes.some((name) => name.includes("change-modify"))).toBe(true);
    expect(await page.locator(".diff-row.add").count()).toBeGreaterThan(0);
    expect(
      await page
        .locator(".tool-line")
        .first()
        .evaluate((line) => line.getBoundingClientRect().height),
    ).toBeLessThan(34);
    // One that was read is one line; what was changed is open.
    expect(await page.locator(".code-result").count()).toBe(0);
    expect(await page.textContent("footer.turn")).toMatch(/\$\d.*in.*out/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("[R37] [V122] terminal output has colours and no escapes, and stands with its command in one place", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/bash-ansi.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    // What succeeded is one line, until somebody opens it.
    const line = page.getByRole("button", { name: /^Run(?! again)/ }).first();
    await line.waitFor();
    expect(await page.locator(".terminal").count()).toBe(0);
    await line.click();
    await settled(page, ".terminal");
    expect(await page.textContent(".terminal .a-fg-1")).toBe("red");
    expect(await page.textContent(".terminal")).not.toContain("\u001b");
    expect(await page.textContent(".terminal")).toContain("progress 100%");
    // Opened, the line has neither the command nor what came of it.
    expect(await page.textContent(".tool-line")).not.toMatch(/printf|café/);
    expect(await page.locator(".command-line").innerText()).toContain("printf");
    await line.click();
    await expect.poll(() => page.textContent(".tool-line")).toMatch(/printf.*café/s);
    await page.context().close();
  });

  test("[V40] more than ten lines are closed: the ends are in the document, the whole when it is opened", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/bash-long-output.jsonl");
    const { page } = await harness.open(`/c/${conversation}`, TALL);
    await page.getByRole("button", { name: "Ran 2 commands" }).click();
    await settled(page, ".tool-line");
    expect(await page.locator(".command-result").count()).toBe(0);
    for (const line of await page.getByRole("button", { name: /^Run(?! again)/ }).all()) await line.click();
    const long = page.locator(".command-result:has(.collapse-line)").first();
    await long.locator(".excerpt .gap").waitFor();
    expect(await long.locator(".terminal").count()).toBe(0);
    expect((await long.locator(".excerpt").innerText()).trim().split("\n")).toHaveLength(8);
    await long.locator(".collapse-line").click();
    await expect.poll(() => long.locator(".terminal .line").count()).toBeGreaterThan(10);
    await page.context().close();
  });

  test.each(["command", "code", "file"] as const)(
    "counts the lines of %s, and no line that the last newline would begin",
    async (kind) => {
      const conversation = await newConversation(harness.kernel, `lines of ${kind}`);
      const metadata = { command: { command: "seq" }, code: {}, tool_result: {}, file: { path: "seq" } }[
        kind
      ];
      const lines = (count: number) => Array.from({ length: count }, (_, i) => i).join("\n");
      const written = await harness.kernel.write(conversation, {
        agent: "tester",
        plan: (draft) => {
          for (const text of [lines(12), `${lines(11)}\n`, `${lines(10)}\n`])
            draft.create({ kind, role: "tool", side: false, text, status: "done", metadata });
          return null;
        },
      });
      expect(written).toBeNull();
      const { page } = await harness.open(`/c/${conversation}`, TALL);
      await settled(page, ".collapse-line");
      const labels = await page.locator(".collapse-line").allTextContents();
      expect(labels).toEqual(["Show 12 lines", "Show 11 lines"]);
      await page.context().close();
    },
  );

  test("[V127] a sub-agent's work opens below its call", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/subagent.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    const agent = page
      .locator("article")
      .getByRole("button", { name: /^Agent/ })
      .first();
    await agent.waitFor();
    const before = await page.locator("article").count();
    await agent.click();
    await page.waitForSelector('article[data-depth="1"]');
    expect(await page.locator("article").count()).toBeGreaterThan(before);
    await page.context().close();
  });

  test("[V127] a background command has no steps, though its end is noted below it", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/bash-background-stop.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    await page
      .getByText(/in the background/i)
      .first()
      .waitFor();
    expect(await page.getByText(/\b0 steps\b/).count()).toBe(0);
    await page.context().close();
  });

  test("kinds can be hidden and shown", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/thinking.jsonl");
    const { page } = await harness.open(`/c/${conversation}`);
    await settled(page, ".thinking-line");
    const thinking = page.getByRole("menuitemcheckbox", { name: "Thinking" });
    await page.getByRole("button", { name: "View" }).click();
    await thinking.click();
    await page.waitForFunction(() => document.querySelectorAll(".thinking-line").length === 0);
    expect(await thinking.getAttribute("aria-checked")).toBe("false");
    await thinking.click();
    await page.waitForSelector(".thinking-line");
    await page.context().close();
  });

  // Of every kind, in another page and in the export: page-equal.test.ts.
  test.each([
    ["claude", "claude/parallel-tools.jsonl"],
    ["codex", "codex/command-ok.jsonl"],
  ])("live is the same as after a reload: %s %s", async (provider, name) => {
    const play = await replayed(harness.kernel, provider, name);
    const { page, complaints } = await harness.open(`/c/${play.conversation}`, TALL);
    await page.waitForSelector(".list");
    while (await play.next()) await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    await play.end();
    await page.waitForFunction(
      () => document.querySelectorAll("[aria-busy=true], footer.turn.running").length === 0,
    );
    await settled(page);
    const live = await shownTree(page);
    await page.reload();
    await settled(page);
    await page.waitForFunction(() => document.querySelectorAll("footer.turn").length > 0);
    expect(await shownTree(page)).toBe(live);
    expect(live.length).toBeGreaterThan(50);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

describe("reading", () => {
  test("[V3] the end is followed until the reader scrolls up, and again from the button on", async () => {
    const conversation = await newConversation(harness.kernel, "long");
    const texts = Array.from({ length: 60 }, (_, i) => ({ text: `Block ${i}. ${"Some words. ".repeat(i)}` }));
    await say(harness.kernel, conversation, texts);
    const [tail] = await say(harness.kernel, conversation, [{ text: "", status: "running" }]);
    const { page } = await harness.open(`/c/${conversation}`);
    await settled(page, `[data-block="${tail}"]`);
    const grow = async (word: string) => {
      harness.kernel.append(tail as string, "tester", `${`${word} and so on. `.repeat(200)}\n\n`);
      await harness.kernel.drain(tail as string, "tester");
    };
    const isAtEnd = () =>
      page.evaluate(() => {
        const list = document.querySelector(".list") as HTMLElement;
        return list.scrollHeight - list.scrollTop - list.clientHeight < 2;
      });
    await grow("one");
    await page.waitForFunction(() => document.body.innerText.includes("one and so on"));
    expect(await isAtEnd()).toBe(true);
    await page.mouse.move(700, 400);
    await page.mouse.wheel(0, -40);
    await page.waitForSelector(".to-end");
    await grow("two");
    await page.waitForFunction(() => document.body.innerText.includes("two and so on"));
    expect(await isAtEnd()).toBe(false);
    await page.locator(".to-end").click();
    await grow("three");
    await page.waitForFunction(() => document.body.innerText.includes("three and so on"));
    expect(await isAtEnd()).toBe(true);
    await page.context().close();
  });

  test("[V2] what was opened is still open when it comes back", async () => {
    const conversation = await newConversation(harness.kernel, "collapsed");
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        for (let i = 0; i < 120; i++)
          draft.create({
            kind: "thinking",
            role: "model",
            text: `Thought ${i}\n\nmore of it`,
            status: "done",
          });
        return null;
      },
    });
    const { page } = await harness.open(`/c/${conversation}`);
    await page.getByRole("button", { name: "Thought 120 times" }).click();
    await settled(page, ".thinking-line");
    await page.keyboard.press("G");
    const last = page.locator("article").last();
    await last.locator(".thinking-line").click();
    await page.waitForSelector(".thinking-body");
    await page.evaluate(() => {
      (document.querySelector(".list") as HTMLElement).scrollTop = 0;
    });
    await page.waitForFunction(() => document.querySelectorAll(".thinking-body").length === 0);
    await page.keyboard.press("G");
    await page.waitForSelector(".thinking-body");
    await page.context().close();
  });
});

describe("what is long", () => {
  test("[V25] a result of one endless line is closed, says how much it is, and opens", async () => {
    const conversation = await newConversation(harness.kernel, "endless");
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const metadata = { toolUseId: "u", toolName: "Bash" };
        const text = "x".repeat(60_000);
        const made = draft.create({ kind: "tool_result", role: "tool", text, status: "done", metadata });
        return isProblem(made) ? made : null;
      },
    });
    const { page } = await harness.open(`/c/${conversation}`);
    const line = page.getByRole("button", { name: "Show 1 line of 60,000 characters" });
    await line.waitFor();
    expect(await page.locator("article .line").count()).toBe(0);
    await page.waitForFunction(
      () => document.querySelector(".excerpt:not(.waiting)")?.textContent?.length === 242,
    );
    await line.click();
    await page.waitForSelector("article .line");
    expect((await page.locator("article .line").innerText()).trim()).toHaveLength(60_000);
    await page.context().close();
  });
});

describe("the ends of what is closed", () => {
  const numbered = (count: number, more = "") =>
    Array.from({ length: count }, (_, i) => `line ${i + 1}${more}`).join("\n");

  test.each<[string, object, string, string]>([
    [
      "passed",
      { exitCode: 0 },
      "line 1|line 2|line 3|line 4|… 13 more lines|line 18|line 19|line 20",
      numbered(20),
    ],
    [
      "failed",
      { exitCode: 1, stderr: "it broke\n" },
      `${Array.from({ length: 11 }, (_, i) => `line ${i + 10}`).join("|")}|it broke`,
      numbered(20),
    ],
    [
      "is longer than what is fetched",
      { exitCode: 0 },
      "line 1 x|line 2 x|line 3 x|line 4 x|… 49,993 more lines|line 49998 x|line 49999 x|line 50000 x",
      numbered(50_000, " x"),
    ],
  ])("[V40] of a command that %s", async (name, more, expected, text) => {
    const conversation = await newConversation(harness.kernel, name);
    const metadata = { toolUseId: "u", toolName: "Bash", command: "npm test", ...more };
    const create = (each: { text: string; kind: "command" | "text"; metadata: object }) =>
      harness.kernel.write(conversation, {
        agent: "tester",
        plan: (draft) => {
          const role = each.kind === "text" ? ("model" as const) : ("tool" as const);
          const made = draft.create({ ...each, role, status: "done", metadata: each.metadata as never });
          return isProblem(made) ? made : null;
        },
      });
    expect(await create({ kind: "command", text, metadata })).toBeNull();
    const { page } = await harness.open("/");
    let chars = 0;
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        chars += payload.length;
      }),
    );
    await page.goto(new URL(`/c/${conversation}`, page.url()).href);
    await page.waitForSelector(".excerpt:not(.waiting)");
    expect((await page.locator(".excerpt").textContent())?.trim().replaceAll("\n", "|")).toBe(expected);
    expect(chars).toBeGreaterThan(0);
    expect(chars).toBeLessThan(64 * 1024);
    await page.context().close();
  });
});

describe("working", () => {
  test("two windows edit a block that an agent is still writing; all three texts survive", async () => {
    const conversation = await newConversation(harness.kernel, "together");
    const [id] = await say(harness.kernel, conversation, [{ text: "The agent writes. ", status: "running" }]);
    const block = id as string;
    const first = await harness.open(`/c/${conversation}`);
    const second = await harness.open(`/c/${conversation}`);
    for (const { page } of [first, second]) {
      await page.locator(`[data-block="${block}"]`).focus();
      await page.keyboard.press("e");
      await page.waitForSelector(".editor-host");
      await page.locator(".editor-host .cm-content").click();
    }
    await first.page.keyboard.press("Control+Home");
    await first.page.keyboard.type("First person. ");
    harness.kernel.append(block, "tester", "And goes on. ");
    await second.page.keyboard.press("Control+End");
    await second.page.keyboard.type("Second person.");
    harness.kernel.append(block, "tester", "And ends.");
    await harness.kernel.drain(block, "tester");
    const texts = async () => {
      const read = await harness.kernel.whole(block);
      return isProblem(read) ? "" : read.text;
    };
    await expect.poll(texts).toContain("First person.");
    await expect.poll(texts).toContain("Second person.");
    // A window that is behind writes where its text ended: in between the agent's words, of which none is lost or moved.
    const agents = async () => (await texts()).replace("First person. ", "").replace("Second person.", "");
    await expect.poll(agents).toBe("The agent writes. And goes on. And ends.");
    const whole = await texts();
    for (const { page } of [first, second])
      await expect
        .poll(() => page.locator(".editor-host .cm-content").innerText())
        .toContain(whole.slice(0, 40));
    // Both windows are the owner's, so both have one undo. Typed within a second it is one step, else one for each window.
    const undone = async () => {
      await first.page.keyboard.press("Control+z");
      return texts();
    };
    await expect.poll(undone).toBe("The agent writes. And goes on. And ends.");
    expect([...first.complaints, ...second.complaints]).toEqual([]);
    await first.context.close();
    await second.context.close();
  });

  test("fork here: the next prompt goes on from there, the other way stays", async () => {
    const conversation = await newConversation(harness.kernel, "fork");
    const [, middle, last] = await say(harness.kernel, conversation, [
      { text: "one", role: "user" },
      { text: "two" },
      { text: "three" },
    ]);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.locator(`[data-block="${middle}"]`).focus();
    await page.keyboard.press("f");
    await page.waitForSelector(".branch-row");
    expect(await page.locator(`[data-block="${last}"]`).count()).toBe(0);
    await page.getByRole("button", { name: "Previous" }).click();
    await page.waitForSelector(`[data-block="${last}"]`);
    await page.context().close();
  });

  test("pruning takes a block away and puts it back", async () => {
    const conversation = await newConversation(harness.kernel, "prune");
    const [, middle] = await say(harness.kernel, conversation, [
      { text: "one" },
      { text: "two" },
      { text: "three" },
    ]);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.locator(`[data-block="${middle}"]`).focus();
    await page.keyboard.press("p");
    await page.waitForSelector(".pruned-row");
    expect(await page.locator(`[data-block="${middle}"]`).count()).toBe(0);
    await page.getByRole("button", { name: "Include again" }).click();
    await page.waitForSelector(`[data-block="${middle}"]`);
    await page.context().close();
  });

  test("[AC5] a viewer's link opens a page to read along, which offers no prompt", async () => {
    const conversation = await newConversation(harness.kernel, "on the wall");
    const [block] = await say(harness.kernel, conversation, [{ text: "first words", status: "running" }]);
    const token = harness.running.auth.create("wall-screen", "viewer");
    const { page, complaints } = await harness.open(`/c/${conversation}`, { token });
    await page.getByText("first words").waitFor();
    await harness.kernel.append(block as string, "tester", " and more\n");
    await page.getByText("and more").waitFor();
    await page.getByText("Read only: this link").waitFor();
    expect(await page.getByRole("textbox", { name: "Prompt" }).count()).toBe(0);
    await page.goto(harness.running.url);
    await page.getByText("Read only: this link").waitFor();
    // With nothing beside it, a sign alone would look lost.
    const search = page.getByRole("navigation").getByRole("button", { name: "Search everything" });
    expect(await search.innerText()).toBe("Search everything");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("search finds a word anywhere and opens at its block", async () => {
    const conversation = await newConversation(harness.kernel, "haystack");
    const [needle] = await say(harness.kernel, conversation, [
      { text: "here lies the xylophone of the orchestra" },
    ]);
    const { page } = await harness.open("/");
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: "Search everything" }).fill("xylophone");
    await page.waitForSelector(".chooser-item mark");
    await page.keyboard.press("Enter");
    await page.waitForSelector(`[data-block="${needle}"].focused`);
    await page.context().close();
  });

  test("the connection is cut and comes back; nothing is lost", async () => {
    const conversation = await newConversation(harness.kernel, "cut");
    const [id] = await say(harness.kernel, conversation, [{ text: "before. ", status: "running" }]);
    const { page, context } = await harness.open(`/c/${conversation}`);
    await settled(page);
    await context.setOffline(true);
    await page.evaluate(() => dispatchEvent(new Event("offline")));
    harness.kernel.append(id as string, "tester", "meanwhile. ");
    await harness.kernel.drain(id as string, "tester");
    await context.setOffline(false);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expect
      .poll(() => page.textContent(`[data-block="${id}"]`), { timeout: 15_000 })
      .toContain("meanwhile.");
    await page.context().close();
  });
});

describe("access", () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

  test.each([
    ["light", false, 1280],
    ["dark", true, 1280],
    ["phone", false, 360],
  ])("axe finds nothing: %s", async (_name, dark, width) => {
    const conversation = await ingest(harness.kernel, "claude", "claude/tasks.jsonl");
    const { page } = await harness.open(`/c/${conversation}`, { dark, width, height: 740 });
    await settled(page);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: {
          run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
        };
      };
      const { violations } = await axe.run();
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary.slice(0, 200)}`,
      );
    });
    expect(found).toEqual([]);
    await page.context().close();
  });

  test("[V26] where the system chooses the colours, what is chosen, pressed and worked on is still seen", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/tasks.jsonl");
    await say(harness.kernel, await newConversation(harness.kernel, "another"), [{ text: "one" }]);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.emulateMedia({ forcedColors: "active" });
    await settled(page);
    /** What is drawn at the left edge of an element: forced colours are not told by its styles. */
    const colourOf = async (selector: string, inset: number) => {
      await page.locator(selector).first().scrollIntoViewIfNeeded();
      const box = await page.locator(selector).first().boundingBox();
      if (!box) throw new Error(`${selector} is not drawn`);
      const clip = { x: box.x + inset, y: box.y + box.height / 2, width: 1, height: 1 };
      return (await page.screenshot({ clip })).toString("base64");
    };
    const differ = async (marked: string, plain: string) =>
      expect(await colourOf(marked, 5), marked).not.toBe(await colourOf(plain, 5));
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
    await page.keyboard.press("j");
    await page.waitForSelector(".block.focused");
    expect(await colourOf(".block.focused", 31)).not.toBe(await colourOf(".block.focused", 20));
    await page.keyboard.press("]");
    await page.waitForSelector(".segments");
    await differ('.segments [aria-pressed="true"]', '.segments [aria-pressed="false"]');
    await differ('[aria-current="page"]', ".entry:not([aria-current])");
    await page.keyboard.press("Control+k");
    await page.waitForSelector('.chooser-item[aria-selected="true"]');
    await differ('.chooser-item[aria-selected="true"]', '.chooser-item[aria-selected="false"]');
    await page.context().close();
  });

  test("[V26] where the system chooses the colours, a prompt has an edge, and what is drawn has these colours", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/tasks.jsonl");
    await say(harness.kernel, conversation, [{ text: "a prompt", role: "user" }]);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.emulateMedia({ forcedColors: "active" });
    const prompt = await page
      .locator(".said-user")
      .first()
      .evaluate((said) => getComputedStyle(said).outlineStyle);
    expect(prompt).toBe("solid");
    await page.locator("button.cost").first().click();
    const bar = page.locator(".cost-chart .bar").first();
    await page.getByRole("dialog", { name: "Costs" }).getByRole("button", { name: "All" }).click();
    await bar.waitFor({ state: "attached" });
    const [fill, system] = await bar.evaluate((drawn) => {
      document.body.style.setProperty("caret-color", "CanvasText");
      return [getComputedStyle(drawn).fill, getComputedStyle(document.body).caretColor];
    });
    expect(fill).toBe(system);
    await page.context().close();
  });

  test("the narrowest phone has no sideways scroll, and the list opens over the page", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/write-edit.jsonl");
    const { page } = await harness.open(`/c/${conversation}`, { width: 360, height: 700 });
    await settled(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(
      await page.evaluate(() => (document.querySelector(".list") as HTMLElement).scrollWidth),
    ).toBeLessThanOrEqual(360);
    await page.getByRole("button", { name: "Conversations" }).click();
    await page.waitForSelector(".sidebar.open .entry");
    await page.context().close();
  });
});
