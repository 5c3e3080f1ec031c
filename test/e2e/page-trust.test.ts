/** The page asks what is trusted in a folder before the first turn there, and shows how a command would be confined. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness } from "./page/harness.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

test("[V60] what acts by itself is shown before the first turn; no keeps the prompt, yes sends it, and it is asked once", async () => {
  writeFileSync(join(harness.root, "CLAUDE.md"), "Be brief.\n");
  const { page } = await harness.open();
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill("say hello");
  await prompt.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Trust this folder?" });
  await dialog.getByText("CLAUDE.md").waitFor();
  expect(await dialog.innerText()).toContain("agents follow it as instructions");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => prompt.inputValue()).toBe("say hello");
  await prompt.press("Enter");
  await dialog.getByRole("button", { name: "Trust and send" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("article", { hasText: "say hello" }).first().waitFor();
  await page.goto(`${new URL(page.url()).origin}/`);
  await prompt.fill("say it again");
  await prompt.press("Enter");
  await page.locator("article", { hasText: "say it again" }).first().waitFor();
  expect(await dialog.count()).toBe(0);
  await page.context().close();
}, 120_000);

test("[V61] whoever runs a command again sees how it is confined, and can allow the network", async () => {
  const conversation = await newConversation(harness.kernel, "Commands");
  await harness.kernel.write(conversation, {
    agent: "claude",
    plan: (draft) =>
      draft.create({
        kind: "command",
        role: "tool",
        status: "done",
        text: "x\n",
        metadata: { command: "echo x" },
      }),
  });
  const { words, isConfined } = await harness.running.tools.sandbox.state();
  const { page } = await harness.open(`/c/${conversation}`);
  await page
    .getByRole("button", { name: /Run.*again/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(words, { exact: false }).waitFor();
  if (isConfined) {
    await dialog.getByRole("button", { name: "Allow network" }).click();
    await dialog.getByText("Sandboxed, with network").waitFor();
    expect(await dialog.getByRole("button", { name: "Allow network" }).count()).toBe(0);
  }
  await dialog.getByRole("button", { name: "Run it" }).click();
  const again = page.locator(".rerun");
  await again.getByText(isConfined ? "sandboxed, with network" : words).waitFor();
  await page.context().close();
}, 120_000);
