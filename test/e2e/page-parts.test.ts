/** What works while the server is away or was updated: parts that cannot be loaded, and a prompt on its way. */
import { type Draft, isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportFile } from "../../packages/server/src/export/export-file.ts";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);
afterAll(() => harness?.close());

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

test("[V13] a part that cannot be loaded says so, and the rest of the page goes on", async () => {
  const conversation = await newConversation(harness.kernel, "Parts");
  await say(harness.kernel, conversation, [{ text: "Still here." }]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.getByText("Still here.").waitFor(); // signed in: another tab is, too
  await page.close();
  const later = await context.newPage();
  for (const part of ["overlays", "pane", "editor"])
    await later.route(`**/assets/${part}-*.js`, (route) => route.abort());
  await later.goto(`${harness.running.url}/c/${conversation}`);
  await later.getByText("Still here.").waitFor();

  const said = later.getByText("Couldn't load this part of the page");
  await later.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await later.keyboard.press("?");
  await said.waitFor();
  await later.keyboard.press("]");
  await expect.poll(() => said.count()).toBe(2);
  expect(await later.getByText("Still here.").count()).toBe(1);
  await later.keyboard.press("j");
  await later.keyboard.press("e");
  await expect.poll(() => later.getByRole("button", { name: "Reload the page" }).count()).toBe(1);
  // What was to be edited can still be read.
  expect(await later.getByText("Still here.").count()).toBe(1);

  await later.unrouteAll();
  await later.getByRole("button", { name: "Reload the page" }).first().click();
  await later.getByText("Still here.").waitFor();
  await later.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await later.keyboard.press("?");
  await later.getByRole("dialog").waitFor();
  await context.close();
});

test("[V13] a block can be read while its editor waits for the connection, and edited once that is back", async () => {
  const conversation = await newConversation(harness.kernel, "Train");
  await say(harness.kernel, conversation, [{ text: "Edit me." }]);
  const { page, context } = await harness.open();
  const editor = page.waitForEvent("requestfinished", (request) => /\/editor-\w+\.js/.test(request.url()));
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await page.getByText("Edit me.").waitFor();
  await editor;
  await context.setOffline(true);
  await page.locator("article").hover();
  await page.getByRole("button", { name: "Edit this block" }).click();
  await page.locator(".editor").getByText("Opening…").waitFor();
  expect(await page.locator(".editor").getByText("Edit me.").count()).toBe(1);
  await context.setOffline(false);
  await page.locator(".editor .cm-content").click();
  await context.close();
});

test("[V13] a formula that cannot be typeset is read as it was written", async () => {
  const conversation = await newConversation(harness.kernel, "Formula");
  await say(harness.kernel, conversation, [{ text: "It is $\\frac{1}{2}$ of it." }]);
  const { page, context } = await harness.open();
  await page.route("**/assets/formula-*.js", (route) => route.abort());
  const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("formula-"));
  await page.goto(`${harness.running.url}/c/${conversation}`);
  await failed;
  await expect.poll(() => page.locator(".md").first().innerText()).toBe("It is $\\frac{1}{2}$ of it.");
  expect(await page.getByText("Couldn't load this part of the page").count()).toBe(0);
  await context.close();
});

test("[V154] a line of a prompt is a line, on the page and in the exported file", async () => {
  const conversation = await newConversation(harness.kernel, "Lines");
  const text = "first line\nsecond line\n- one\n  more";
  await say(harness.kernel, conversation, [{ text, role: "user" }, { text }]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  const file = must(await exportFile(harness.kernel, conversation, "html", false));
  const exported = await context.newPage();
  let whole = "";
  for await (const piece of file.body) whole += piece;
  await exported.setContent(whole);
  for (const shown of [page, exported]) {
    const [prompt, answer] = [shown.getByText("first line").first(), shown.getByText("first line").last()];
    await expect.poll(() => prompt.innerText()).toBe("first line\nsecond line");
    expect(await answer.innerText()).toBe("first line second line");
  }
  await context.close();
});

test("[V7] [V20] what waits for the server is shown: a prompt, and edits that are not saved yet", async () => {
  const conversation = await newConversation(harness.kernel, "Away");
  await say(harness.kernel, conversation, [{ text: "Edit me." }]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  const open: (() => Promise<void>)[] = [];
  let isAway = false;
  await page.routeWebSocket(/\/v1\/feed/, (socket) => {
    if (isAway) return void socket.close();
    socket.connectToServer();
    open.push(() => socket.close());
  });
  await page.reload();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  // It has been connected: the list is there.
  await page.getByRole("navigation").getByRole("link", { name: /Away/ }).first().waitFor();
  await page.locator("article").hover();
  await page.getByRole("button", { name: "Edit this block" }).click();
  await page.locator(".editor .cm-content").click();
  isAway = true;
  for (const close of open) await close();
  await page.getByText("Reconnecting… your work is saved").waitFor();
  await page.keyboard.type("Mine. ");
  await page.getByText("keep this page open, your last edits aren't saved yet").waitFor();
  const asked = page.waitForEvent("dialog");
  void page.close({ runBeforeUnload: true });
  await (await asked).dismiss();
  await page.getByRole("textbox", { name: "Prompt" }).fill("Are you there?");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Sending" }).getByText("Are you there?").waitFor();
  await context.close();
});

test("a conversation that is not there is said to be so, and nothing can be sent to it", async () => {
  const { page, context } = await harness.open("/c/nowhere");
  await page.getByRole("heading", { level: 1, name: "Conversation not found." }).waitFor();
  expect(await page.getByRole("textbox", { name: "Prompt" }).count()).toBe(0);
  // Also where there is no list beside it.
  await page.setViewportSize({ width: 400, height: 700 });
  await page.getByRole("main").getByRole("link", { name: "Home page" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  await page.goBack();
  await page.getByText("Conversation not found.").waitFor();
  // What is not there has no name, and cannot be renamed or deleted.
  expect(
    await page
      .getByRole("main")
      .getByRole("button", { name: /rename|View|More/ })
      .count(),
  ).toBe(0);
  await context.close();
});

test("[V12] a menu is as wide as its longest entry; leaving the editor keeps the focus on the block", async () => {
  const conversation = await newConversation(harness.kernel, "Menus");
  await say(harness.kernel, conversation, [{ text: "Edit me." }]);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.getByText("Edit me.").waitFor();
  await page.getByRole("button", { name: "More", exact: true }).click();
  expect((await page.locator(".menu:popover-open").boundingBox())?.width).toBeLessThan(320);
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Escape");
  await page.locator(".editor").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("ARTICLE");
  await context.close();
});

test("[V3] [V10] messages that waited are gone from the field, and the end is still followed", async () => {
  const conversation = await newConversation(harness.kernel, "They waited");
  const said = Array.from({ length: 40 }, (_, i) => ({ text: `Line ${i}.`, role: "user" as const }));
  const parent = (await say(harness.kernel, conversation, said)).at(-1) as string;
  const mark = { side: true, status: "pending", metadata: { turn: "t", notice: "queued" } } as const;
  const waits = { kind: "text", role: "user", parent, ...mark } as const;
  const ids: string[] = [];
  const write = (step: (draft: Draft) => void) => {
    const plan = (draft: Draft) => {
      step(draft);
      return null;
    };
    return harness.kernel.write(conversation, { agent: "tester", plan });
  };
  await write((draft) => {
    for (const text of ["One.", "Two.", "Three.", "Four."])
      ids.push(must(draft.create({ ...waits, text })).id);
  });
  const { page, context } = await harness.open(`/c/${conversation}`);
  await expect.poll(() => page.locator(".queue li").count()).toBe(4);
  const belowPx = () =>
    page.locator(".list").evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  await expect.poll(belowPx).toBeLessThan(2);
  // The list becomes higher in the moment in which a row comes that is thought to be higher than that: not the reader's hand.
  await write((draft) => {
    for (const id of ids) must(draft.status(id, "done"));
    must(draft.create({ kind: "text", role: "user", text: `All${"\n".repeat(40)}done.`, status: "done" }));
  });
  await page.locator("article", { hasText: "All" }).waitFor();
  expect(await page.locator(".queue").count()).toBe(0);
  await say(harness.kernel, conversation, [...said.slice(0, 9), { text: "The last." }]);
  await page.locator("article", { hasText: "The last." }).waitFor();
  await expect.poll(belowPx).toBeLessThan(2);
  await context.close();
});

test("[V10] a message that never ran is shown as soon as it is known, not after a reload", async () => {
  const conversation = await newConversation(harness.kernel, "Left over");
  const [asked = ""] = await say(harness.kernel, conversation, [{ text: "First.", role: "user" }]);
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        kind: "text",
        role: "user",
        text: "I waited.",
        parent: asked,
        side: true,
        status: "pending",
        metadata: { turn: "t", notice: "queued" },
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
  const { page, context } = await harness.open(`/c/${conversation}`);
  await page.locator(".queue").getByText("I waited.").waitFor();
  expect(await page.locator("article", { hasText: "I waited." }).count()).toBe(0);
  await harness.kernel.writeBlock(made.id, {
    agent: "tester",
    plan: (draft) => draft.status(made.id, "error", { reason: "interrupted" }),
  });
  await page.locator("article", { hasText: "I waited." }).waitFor();
  expect(await page.locator(".queue").count()).toBe(0);
  await context.close();
});
