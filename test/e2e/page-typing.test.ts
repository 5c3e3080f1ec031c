/**
 * Where letters go: into the prompt, once something was done that is followed by writing, and never to a shortcut then.
 */
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

/** Every letter that is a shortcut, and more. */
const LETTERS = "execute for joking: fix it";

function promptOf(page: Page) {
  return page.getByRole("textbox", { name: "Prompt" });
}

async function isPrompt(page: Page): Promise<void> {
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
    .toBe("Prompt");
}

async function textOf(block: string): Promise<string> {
  const read = await harness.kernel.whole(block);
  return isProblem(read) ? read.message : read.text;
}

async function openBlocks() {
  const conversation = await newConversation(harness.kernel, "typing");
  const ids = await say(harness.kernel, conversation, [{ text: "first", role: "user" }, { text: "answer" }]);
  const visit = await harness.open(`/c/${conversation}`);
  const block = visit.page.locator(`[data-block="${ids[1]}"]`);
  await block.waitFor();
  return { ...visit, conversation, ids, block };
}

test("[V32] who opens a page can write at once, and gets to the blocks by Escape", async () => {
  const { page, context, conversation, ids } = await openBlocks();
  await isPrompt(page);
  await page.keyboard.type(LETTERS);
  expect(await promptOf(page).inputValue()).toBe(LETTERS);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.locator(`[data-block="${ids[0]}"].focused`).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("New task");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".home-main");
  await isPrompt(page);
  await page.locator(`.sidebar a[href="/c/${conversation}"]`).click();
  await page.waitForSelector("article");
  await isPrompt(page);
  expect(await promptOf(page).inputValue()).toBe(LETTERS);
  await context.close();
});

test("[V160] steps that are faster than the screen end where the last one leads", async () => {
  const { page, context, ids } = await openBlocks();
  await isPrompt(page);
  await page.keyboard.press("Escape");
  const passed = await page.evaluate(async () => {
    const seen: (string | null)[] = [];
    addEventListener("focusin", ({ target }) => seen.push((target as Element).getAttribute("data-block")));
    // All of them before the next frame, each one drawn.
    await new Promise(requestAnimationFrame);
    for (const key of ["j", "j", "k"]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      await new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage("");
      });
    }
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    return seen;
  });
  expect(passed).toEqual([ids[0]]);
  await context.close();
});

test("[V32] a link to a block gives the focus to the block", async () => {
  const { page, context, conversation, ids } = await openBlocks();
  await page.goto(
    `${harness.running.url}/c/${conversation}#${(ids[1] as string).slice(conversation.length + 1)}`,
  );
  await page.reload();
  await page.locator(`[data-block="${ids[1]}"].focused`).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("ARTICLE");
  await context.close();
});

test.each(["the button", "the menu of commands", "the key"])(
  "[V32] fork, by %s, then typing goes to the prompt and into nobody's answer",
  async (way) => {
    const { page, context, block, ids, complaints } = await openBlocks();
    await block.click();
    if (way === "the button") await block.getByRole("button", { name: "Fork the conversation here" }).click();
    else {
      await block.focus();
      if (way === "the key") await page.keyboard.press("f");
      else {
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Commands" }).fill("Fork here");
        await page.keyboard.press("Enter");
        await page.getByText("Your next prompt continues from here").first().waitFor();
      }
    }
    await page.keyboard.type(LETTERS);
    expect(await promptOf(page).inputValue()).toBe(LETTERS);
    expect(await page.locator(".editor").count()).toBe(0);
    expect(await textOf(ids[1] as string)).toBe("answer");
    expect(complaints).toEqual([]);
    await context.close();
  },
);

/** The editor is fetched when it is first needed: here it takes its time, until it is let go. */
async function holdEditor(page: Page): Promise<() => void> {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(/editor-.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  return () => letGo();
}

test.each(["the pen", "the key"])(
  "[V32] [V41] letters behind %s wait for the editor, are no shortcuts and are written",
  async (way) => {
    const { page, context, block, ids } = await openBlocks();
    const letGo = await holdEditor(page);
    await block.hover();
    if (way === "the pen") await block.getByRole("button", { name: "Edit this block" }).click();
    else {
      await block.focus();
      await page.keyboard.press("e");
    }
    await page.keyboard.type("fxpi/? joq");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Enter");
    expect(await page.locator("dialog, .inspector, .is-pruned, .branch-row").count()).toBe(0);
    letGo();
    await page.locator(".editor-host .cm-content").waitFor();
    await page.keyboard.type("and ");
    await expect.poll(() => textOf(ids[1] as string)).toBe("fxpi/? jo\nand answer");
    await context.close();
  },
);

test("[V32] sending, attaching and choosing an agent by pointer go on in the prompt's field", async () => {
  const { page, context } = await openBlocks();
  await page.locator("article").first().click();
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await choosing).setFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
  await page.keyboard.type("see this");
  await page.locator(".attached-list li, .attached li").first().waitFor();
  await page.getByRole("button", { name: /^Agent: / }).click();
  await page.getByRole("menuitemradio", { name: "Claude Code" }).click();
  await page.keyboard.type(" file");
  expect(await promptOf(page).inputValue()).toBe("see this file");
  await page.getByRole("button", { name: "Agent: Claude Code" }).waitFor();
  await page.getByRole("button", { name: /Send|Queue/ }).click();
  await page.keyboard.type("then");
  await expect.poll(() => promptOf(page).inputValue()).toContain("then");
  await context.close();
});

test("[V32] a touch screen keeps its keyboard away; one that has keys writes the first letter into the prompt", async () => {
  const conversation = await newConversation(harness.kernel, "touch");
  const [id = ""] = await say(harness.kernel, conversation, [{ text: "answer" }]);
  const context = await harness.browser.newContext({
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 800 },
  });
  const page = await context.newPage();
  await page.goto(`${harness.running.url}/c/${conversation}${new URL(harness.running.link).search}`);
  const block = page.locator(`[data-block="${id}"]`);
  await block.waitFor();
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
  await block.tap();
  await block.getByRole("button", { name: "More actions for this block" }).tap();
  await page.getByRole("menuitem", { name: "Fork here" }).tap();
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("TEXTAREA");
  await page.keyboard.type("edit");
  expect(await promptOf(page).inputValue()).toBe("edit");
  await context.close();
});

test("[V36] a prompt that is refused comes back in front of what was written meanwhile, and to its own conversation", async () => {
  const first = await newConversation(harness.kernel, "refused one");
  const second = await newConversation(harness.kernel, "refused two");
  const { page, context } = await harness.open(`/c/${first}`);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route("**/v1/tools/turn.start", async (route) => {
    await held;
    await route.fulfill({ json: { problem: "busy", message: "not now: run `blockyard doctor`" } });
  });
  const long = `${"long ".repeat(60_000)}prompt`;
  await promptOf(page).fill(long);
  await page.keyboard.press("Enter");
  await expect.poll(() => promptOf(page).inputValue()).toBe("");
  await page.keyboard.type("meanwhile");
  await page.locator(`.sidebar a[href="/c/${second}"]`).click();
  await expect.poll(() => page.textContent(".title")).toContain("refused two");
  letGo();
  await page.locator(".note.bad code", { hasText: "blockyard doctor" }).waitFor();
  expect(await promptOf(page).inputValue()).toBe("");
  await page.locator(`.sidebar a[href="/c/${first}"]`).click();
  await expect.poll(() => promptOf(page).inputValue()).toBe(`${long}\nmeanwhile`);
  await context.close();
});

test("[V36] a title that cannot be kept is in its field again", async () => {
  const { page, context } = await openBlocks();
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? JSON.parse(message) : {};
      if (frame.tool !== "conversation.update") return server.send(message);
      const problem = { problem: "unavailable", message: "the disk is full" };
      socket.send(JSON.stringify({ type: "answer", id: frame.id, problem }));
    });
  });
  await page.reload();
  await page.waitForSelector("article");
  await page.locator("h1.title button").click();
  const title = page.getByRole("textbox", { name: "Conversation title" });
  await title.fill("a better name");
  await page.keyboard.press("Enter");
  await page.getByText("the disk is full").waitFor();
  expect(await title.inputValue()).toBe("a better name");
  await context.close();
});

test("[V34] Ctrl Z outside of an editor undoes my last edit, says what, and Ctrl Shift Z redoes it", async () => {
  const { page, context, block, ids } = await openBlocks();
  const edit = async (id: string, words: string) => {
    await page.locator(`[data-block="${id}"]`).focus();
    await page.keyboard.press("e");
    await page.locator(".editor-host .cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(words);
    await expect.poll(() => textOf(id)).toContain(words);
    await page.keyboard.press("Escape");
    await page.locator(".editor").waitFor({ state: "detached" });
  };
  const [first = "", second = ""] = ids;
  await edit(second, " of mine");
  await edit(first, " too");
  await block.focus();
  await page.keyboard.press("Control+z");
  await page.getByText("Undone: removed “ too”").waitFor();
  expect(await textOf(first)).toBe("first");
  await page.keyboard.press("Control+z");
  await page.getByText("Undone: removed “ of mine”").waitFor();
  expect([await textOf(first), await textOf(second)]).toEqual(["first", "answer"]);
  await page.locator(`[data-block="${second}"].focused`).waitFor();
  await page.keyboard.press("Control+z");
  await page.getByText("You have nothing to undo").waitFor();
  await page.keyboard.press("Control+Shift+z");
  await page.getByText("Redone: put back “ of mine”").waitFor();
  await page.keyboard.press("Control+y");
  await expect.poll(() => textOf(first)).toBe("first too");
  // In a field with words the keys are the field's own.
  await promptOf(page).fill("words");
  await page.keyboard.press("Control+z");
  expect(await textOf(first)).toBe("first too");
  await context.close();
});

test("[V41] who leaves before the editor is there has written nothing", async () => {
  const { page, context, block, ids } = await openBlocks();
  const letGo = await holdEditor(page);
  await block.focus();
  await page.keyboard.press("e");
  await page.keyboard.type("gone");
  await page.keyboard.press("Escape");
  letGo();
  await block.focus();
  await page.keyboard.press("e");
  await page.locator(".editor-host .cm-content").waitFor();
  await page.keyboard.type("kept ");
  await expect.poll(() => textOf(ids[1] as string)).toBe("kept answer");
  await context.close();
});

test("[V80] each command is offered once, and what fits no letters is not offered", async () => {
  const { page, context, block } = await openBlocks();
  await block.click();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Commands" });
  const options = page.locator(".chooser-item");
  await options.first().waitFor();
  const all = await options.evaluateAll((each) =>
    each.map(({ firstChild }) => firstChild?.textContent?.trim()),
  );
  // Conversations are offered too, and may have one title.
  const conversations = await harness.kernel.conversations({ limit: 200 });
  if (isProblem(conversations)) throw new Error(conversations.message);
  const titles = new Set(conversations.map(({ title }) => title));
  const names = all.filter((name) => !titles.has(name ?? ""));
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  expect(names.filter((name) => name?.startsWith("Redo"))).toHaveLength(2);
  for (const letters of ["redo", "qzqzqz", "redo", "qzqzqz"]) await field.fill(letters);
  await page.getByText("No matches").waitFor();
  expect(await options.allInnerTexts()).toEqual([]);
  await context.close();
});

test("[V83] Enter while a prompt is being sent sends the next one behind it, in the conversation that the first one makes", async () => {
  const { page, context } = await harness.open("/");
  const held: (() => void)[] = [];
  const asked: { readonly prompt: string; readonly conversation?: string }[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? JSON.parse(message) : {};
      if (frame.tool !== "turn.start") return server.send(message);
      asked.push(frame.input);
      held.push(() => server.send(message));
    });
  });
  await page.reload();
  await isPrompt(page);
  const plan = (text: string) => JSON.stringify({ recording: "", lines: 0, act: "exit0", more: text });
  for (const text of ["first", "second"]) {
    await promptOf(page).fill(plan(text));
    await page.keyboard.press("Enter");
    await expect.poll(() => promptOf(page).inputValue()).toBe("");
  }
  await page.keyboard.type("a draft");
  await expect.poll(() => page.getByLabel("Sending").count()).toBe(2);
  expect(asked.map(({ prompt }) => prompt)).toEqual([plan("first")]);
  held[0]?.();
  await expect.poll(() => asked.length).toBe(2);
  held[1]?.();
  await page.waitForURL(/\/c\/\w+$/);
  const made = page.url().split("/").at(-1);
  expect(asked[0]).not.toHaveProperty("conversation");
  expect(asked[1]).toMatchObject({ prompt: plan("second"), conversation: made });
  await expect.poll(() => page.getByLabel("Sending").count()).toBe(0);
  expect(await promptOf(page).inputValue()).toBe("a draft");
  await context.close();
});

test("[V83] where a prompt is not taken, those behind it come back with it, in their order", async () => {
  const conversation = await newConversation(harness.kernel, "not taken");
  const { page, context } = await harness.open(`/c/${conversation}`);
  let refuse = () => {};
  let times = 0;
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? JSON.parse(message) : {};
      if (frame.tool !== "turn.start") return server.send(message);
      times++;
      const problem = { problem: "busy", message: "not now" };
      refuse = () => socket.send(JSON.stringify({ type: "answer", id: frame.id, problem }));
    });
  });
  await page.reload();
  await isPrompt(page);
  for (const text of ["one", "two", "three"]) {
    await promptOf(page).fill(text);
    await page.keyboard.press("Enter");
    await expect.poll(() => promptOf(page).inputValue()).toBe("");
  }
  await page.keyboard.type("four");
  await expect.poll(() => times).toBe(1);
  refuse();
  await expect.poll(() => promptOf(page).inputValue()).toBe("one\ntwo\nthree\nfour");
  expect(times).toBe(1);
  await context.close();
});

/** By Escape from each dialog that is opened while something is being written. */
const DIALOGS = ["Settings", "Rules for agents", "Costs", "Keyboard shortcuts"];

test("[V32] behind a dialog writing goes on where it was", async () => {
  const { page, context } = await openBlocks();
  await isPrompt(page);
  await page.keyboard.type("so");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).waitFor();
  await page.keyboard.type("nothing");
  await page.keyboard.press("Escape");
  await isPrompt(page);
  await page.keyboard.type(" far");
  expect(await promptOf(page).inputValue()).toBe("so far");
  for (const name of DIALOGS) {
    await promptOf(page).fill("");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill(name);
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Commands" }).waitFor({ state: "detached" });
    await page.getByRole("dialog").first().waitFor();
    await page.keyboard.press("Escape");
    await isPrompt(page);
    await page.keyboard.type(name);
    expect(await promptOf(page).inputValue()).toBe(name);
  }
  await context.close();
});

test("[V32] who renames by a key goes on where the focus was", async () => {
  const { page, context } = await openBlocks();
  await isPrompt(page);
  for (const key of ["Enter", "Escape"]) {
    await promptOf(page).fill("");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill("Rename");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Conversation title" }).waitFor();
    await page.keyboard.type(`by ${key}`);
    await page.keyboard.press(key);
    await isPrompt(page);
    await page.keyboard.type(LETTERS);
    expect(await promptOf(page).inputValue()).toBe(LETTERS);
  }
  await context.close();
});
