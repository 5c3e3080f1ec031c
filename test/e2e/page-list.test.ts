/**
 * The list of conversations: it follows what happens without being asked; titles; the archive; messages that wait.
 */
import { fileURLToPath } from "node:url";
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/text-markdown.jsonl", import.meta.url),
);

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

const entry = (page: Page, title: string) => page.locator(".conversation-list li", { hasText: title });

async function setTurn(conversation: string, status: "running" | "done"): Promise<void> {
  const answer = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      draft.setTurn({ id: "t1", provider: "claude", agent: "tester", status, startedAt: draft.at });
      return null;
    },
  });
  if (isProblem(answer)) throw new Error(answer.message);
}

describe("the list", () => {
  test("[V9] follows what happens elsewhere, without asking: new, running, new since one looked", async () => {
    const first = await newConversation(harness.kernel, "the first one");
    const { page } = await harness.open(`/c/${first}`);
    await entry(page, "the first one").waitFor();
    const sent: string[] = [];
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    network.on("Network.webSocketFrameSent", ({ response }) => sent.push(response.payloadData));
    const second = await newConversation(harness.kernel, "the second one");
    await entry(page, "the second one").waitFor();
    await setTurn(second, "running");
    await entry(page, "the second one").getByText("Running").waitFor();
    expect(await page.locator(".conversation-list li .entry-title").first().textContent()).toContain(
      "second",
    );
    await setTurn(second, "done");
    await entry(page, "the second one").locator(".unread-dot").waitFor();
    expect(await entry(page, "the first one").locator(".unread-dot").count()).toBe(0);
    await entry(page, "the second one").locator("a").click();
    await expect.poll(() => page.locator(".unread-dot").count()).toBe(0);
    await say(harness.kernel, first, [{ text: "news" }]);
    await entry(page, "the first one").locator(".unread-dot").waitFor();
    await page.getByRole("searchbox", { name: "Filter conversations" }).fill("unread");
    await expect.poll(() => page.locator(".conversation-list li").count()).toBe(1);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((frame) => frame.includes("conversation.list"))).toEqual([]);
    await page.reload();
    await entry(page, "the first one").locator(".unread-dot").waitFor();
    await page.context().close();
  });

  test("titles: by key in the head, by menu in the list; the other side sees it", async () => {
    const conversation = await newConversation(harness.kernel, "old name");
    const { page } = await harness.open(`/c/${conversation}`);
    await page.waitForSelector(".title button");
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
    await page.keyboard.press("t");
    await page.getByRole("textbox", { name: "Conversation title" }).fill("new name");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent(".title")).toContain("new name");
    await entry(page, "new name").hover();
    await entry(page, "new name").getByRole("button", { name: "More actions for new name" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Conversation title" }).fill("unwanted");
    await page.keyboard.press("Escape");
    expect(await page.textContent(".title")).toContain("new name");
    await page.context().close();
  });

  test("[V7] what is written and not sent stays with its conversation", async () => {
    const first = await newConversation(harness.kernel, "drafts one");
    await newConversation(harness.kernel, "drafts two");
    const { page } = await harness.open(`/c/${first}`);
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.fill("half a thought");
    await entry(page, "drafts two").locator("a").click();
    await expect.poll(() => page.textContent(".title")).toContain("drafts two");
    expect(await prompt.inputValue()).toBe("");
    await entry(page, "drafts one").locator("a").click();
    await expect.poll(() => prompt.inputValue()).toBe("half a thought");
    await page.context().close();
  });

  test("[V29] commands are those that can do something here", async () => {
    const conversation = await newConversation(harness.kernel, "something to command");
    await say(harness.kernel, conversation, [{ text: "a block" }]);
    const { page } = await harness.open("/");
    const offered = async () => {
      await page.keyboard.press("Control+k");
      await page.locator(".chooser-item").first().waitFor();
      const names = await page.locator(".chooser-item").allTextContents();
      await page.keyboard.press("Escape");
      return names.join();
    };
    expect(await offered()).toMatch(/^(?!.*(the block|Rename)).*New task/);
    await entry(page, "something to command").locator("a").click();
    await page.locator("article[data-block]").waitFor();
    expect(await offered()).toMatch(/^(?!.*Edit the block).*Rename/);
    await page.locator("body").click({ position: { x: 700, y: 10 } });
    await page.keyboard.press("j");
    expect(await offered()).toContain("Edit the block");
    await page.context().close();
  });

  test("[V29] [V108] the settings are found by what can be set there", async () => {
    const { page } = await harness.open("/");
    await page.getByRole("textbox", { name: "Prompt" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator(".chooser-item").first().waitFor();
    await page.keyboard.type("notif");
    await page.locator(".chooser-item", { hasText: "Settings" }).waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByRole("dialog", { name: "Settings" })
      .getByRole("group", { name: "Notifications" })
      .waitFor();
    await page.context().close();
  });

  test("[V12] the archive: out of the list, below it, and back; axe finds nothing", async () => {
    const conversation = await newConversation(harness.kernel, "put away");
    const { page } = await harness.open(`/c/${conversation}`);
    await entry(page, "put away").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Commands" }).fill("archive the");
    await page.keyboard.press("Enter");
    const line = page.getByRole("button", { name: /archived conversation/ });
    await line.waitFor();
    expect(await entry(page, "put away").count()).toBe(0);
    await line.click();
    await entry(page, "put away").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await entry(page, "put away").getByRole("button", { name: "More actions for put away" }).click();
    await page.getByRole("menuitem", { name: "Unarchive" }).click();
    await line.waitFor({ state: "detached" });
    await entry(page, "put away").waitFor();
    await page.context().close();
  });
});

describe("messages that wait", () => {
  test("[V10] [D15] are shown at the composer, taken back one by one, and said when their turn comes", async () => {
    const { page, complaints } = await harness.open("/");
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    const send = async (text: string) => {
      await prompt.fill(text);
      await page.keyboard.press("Enter");
    };
    const plan = (act: string) => JSON.stringify({ recording: RECORDING, lines: 6, act });
    await send(plan("stay"));
    await page.waitForURL(/\/c\//);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    // While one is being sent, Enter sends no other.
    for (const [i, text] of ["drop me", "write me anew", plan("exit0")].entries()) {
      await send(text);
      await expect.poll(() => page.locator(".queue li", { hasText: "Queued" }).count()).toBe(i + 1);
    }
    expect(await page.locator("article", { hasText: "drop me" }).count()).toBe(0);
    const waits = (text: string) => page.locator(".queue li", { hasText: text });
    await waits("drop me").getByRole("button", { name: "Remove this message" }).click();
    await expect.poll(() => page.locator(".queue li").count()).toBe(2);
    await waits("write me anew").getByRole("button", { name: "Edit this message" }).click();
    await expect.poll(() => prompt.inputValue()).toBe("write me anew");
    expect(await page.locator(".queue li").count()).toBe(1);
    // Another window has the same queue. A stop sends nothing; what waited is sent when somebody says so, at either.
    const other = await harness.open(new URL(page.url()).pathname);
    await expect.poll(() => other.page.locator(".queue li").count()).toBe(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    for (const each of [page, other.page]) {
      await each.locator(".queue li.held", { hasText: "Not sent: the turn was stopped" }).waitFor();
      expect(await each.locator("article", { hasText: "exit0" }).count()).toBe(0);
    }
    await other.page.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect.poll(() => page.locator(".queue li").count()).toBe(0);
    await other.context.close();
    await page.locator("article", { hasText: "exit0" }).waitFor();
    expect(await page.locator("article", { hasText: "drop me" }).count()).toBe(0);
    expect(await page.locator("article", { hasText: '"exit0"' }).count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

test("[V10] [V36] a message that waits is taken back with its files", async () => {
  const { page } = await harness.open("/");
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill(JSON.stringify({ recording: RECORDING, lines: 6, act: "stay" }));
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await choosing).setFiles({ name: "notes.md", mimeType: "text/plain", buffer: Buffer.from("whole") });
  await prompt.fill("with a file");
  await page.keyboard.press("Enter");
  await page.locator(".queue li", { hasText: "+ 1 file" }).waitFor();
  expect(await page.locator(".attached li").count()).toBe(0);
  await page.getByRole("button", { name: "Edit this message" }).click();
  await page.locator(".attached li", { hasText: "notes.md" }).waitFor();
  expect(await prompt.inputValue()).toBe("with a file");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await page.context().close();
});

test("[CM7] who stops a turn hears that it stops, and that it was stopped", async () => {
  const { page, complaints } = await harness.open("/");
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill(JSON.stringify({ recording: RECORDING, lines: 6, act: "stay", deaf: true }));
  await page.keyboard.press("Enter");
  await page.locator("article[data-kind=text]").nth(1).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("Stopping…").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("status").getByText("The turn was stopped.").waitFor({ state: "attached" });
  expect(await page.getByText("Stopping…").count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V9] the card of a conversation leaves the composer in sight", async () => {
  for (let i = 0; i < 24; i++) await newConversation(harness.kernel, `in the list ${i}`);
  const other = await newConversation(harness.kernel, "beside the card");
  const { page, context } = await harness.open(`/c/${other}`);
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  const composer = await page.locator("form.composer").boundingBox();
  const entries = page.locator("a.entry");
  const tops = await entries.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
  const beside = tops.findIndex((top) => top > (composer?.y ?? 0) - 40);
  expect(beside).toBeGreaterThan(-1);
  await entries.nth(beside).hover();
  const card = page.locator(".entry-card:popover-open");
  await card.waitFor();
  await expect
    .poll(async () => {
      const box = await card.boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0) <= (composer?.y ?? 0);
    })
    .toBe(true);
  await context.close();
});

test("[V3] what was on the screen is not counted as new", async () => {
  const conversation = await newConversation(harness.kernel, "counted");
  await say(harness.kernel, conversation, [{ text: "the first" }]);
  const { page, complaints } = await harness.open(`/c/${conversation}`);
  // Who edits does not follow the end.
  await page.locator("article", { hasText: "the first" }).click();
  await page.keyboard.press("e");
  await page.getByRole("button", { name: "Done" }).click();
  await say(harness.kernel, conversation, [{ text: "seen one" }, { text: "seen two" }]);
  await page.locator("article", { hasText: "seen two" }).waitFor();
  await say(
    harness.kernel,
    conversation,
    Array.from({ length: 40 }, (_, i) => ({ text: `below ${i}` })),
  );
  await page.locator(".to-end", { hasText: "40 new below" }).waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("[V156] find, an editor and a block's details are put away when the page goes elsewhere", async () => {
  const [here, there] = [
    await newConversation(harness.kernel, "left behind"),
    await newConversation(harness.kernel, "gone to"),
  ];
  for (const id of [here, there]) await say(harness.kernel, id, [{ text: "Words to find" }]);
  const { page, complaints } = await harness.open(`/c/${here}`);
  const details = page.getByRole("complementary", { name: "Block details" });
  const opened = [
    { key: "Control+f", shown: page.getByRole("textbox", { name: "Find in this conversation" }) },
    { key: "e", shown: page.getByRole("button", { name: "Done" }) },
    { key: "i", shown: details },
  ];
  for (const { key, shown } of opened) {
    await page.locator("article[data-block]").focus();
    await page.keyboard.press(key);
    await shown.waitFor();
    await page.evaluate((path) => {
      history.pushState(null, "", path);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/c/${there}`);
    await page.getByRole("heading", { name: "gone to" }).waitFor();
    await expect.poll(() => shown.count()).toBe(0);
    await page.goBack();
    await page.getByRole("heading", { name: "left behind" }).waitFor();
    expect(await shown.count()).toBe(0);
  }
  expect(complaints).toEqual([]);
  await page.context().close();
});

describe("a long list", () => {
  test("[V9] of very many, the first are drawn and the filter finds all", async () => {
    const oldest = await newConversation(harness.kernel, "the needle below");
    await Promise.all(Array.from({ length: 700 }, (_, i) => newConversation(harness.kernel, `hay ${i}`)));
    const { page } = await harness.open("/");
    await page.getByText(/more: filter to see them/).waitFor();
    expect(await page.locator(".conversation-list li").count()).toBeLessThan(400);
    await page.getByRole("searchbox", { name: "Filter conversations" }).fill("the needle");
    await entry(page, "the needle below").locator("a").click();
    await page.waitForURL(`**/c/${oldest}`);
    await page.context().close();
  });
});
