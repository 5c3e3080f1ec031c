/**
 * Running a command again from the page: what is shown is what runs, and only that, once.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem, type JsonObject } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { newConversation, openHarness, type PageHarness } from "./page/harness.ts";
import { waitsIn, watchWaits } from "./page/waits.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness({ fakeClaude: true });
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

/** A tool call with the command that it ran: as an agent leaves it. The ids of call and command. */
async function ran(conversation: string, command: string): Promise<{ call: string; command: string }> {
  const made = await harness.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const tool: JsonObject = { toolUseId: "t1", toolName: "Bash" };
      const call = draft.create({
        kind: "tool_call",
        role: "model",
        status: "done",
        metadata: { ...tool, input: { command }, stage: "end", success: true },
      });
      if (isProblem(call)) return call;
      const result = draft.create({
        kind: "command",
        role: "tool",
        parent: call.id,
        side: true,
        status: "done",
        text: "before\n",
        metadata: { ...tool, command, exitCode: 0 },
      });
      return isProblem(result) ? result : { call: call.id, command: result.id };
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  return made;
}

async function openAt(command: string): Promise<{ page: Page; ids: { call: string; command: string } }> {
  const conversation = await newConversation(harness.kernel, "rerun");
  const ids = await ran(conversation, command);
  const { page } = await harness.open(`/c/${conversation}`);
  await page.getByRole("button", { name: /^Run(?! again)/ }).click();
  await page.waitForSelector(`[data-block="${ids.command}"]`);
  return { page, ids };
}

const run = (page: Page) => page.getByRole("button", { name: "Run it" });

describe("run again", () => {
  test("[V6] [V12] [D8] by keyboard: shows text and folder, waits half a second, streams into a block below", async () => {
    const { page, ids } = await openAt("printf 'one\\n'; printf 'two\\u202e\\n'");
    await page.locator(`article[data-block="${ids.call}"]`).focus();
    await watchWaits(page, "Run it");
    await page.keyboard.press("x");
    await page.waitForSelector("dialog .exact");
    expect(await page.textContent("dialog .exact")).toBe("printf 'one\\n'; printf 'two\\u202e\\n'");
    expect(await page.textContent("dialog .ask-place")).toContain("/root");
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    expect((await waitsIn(page))[0]).toBeGreaterThan(450);
    expect(await axeFindings(page)).toEqual([]);
    await run(page).focus();
    await page.keyboard.press("Enter");
    const again = page.locator(".rerun");
    await expect.poll(() => again.getAttribute("data-status")).toBe("done");
    expect(await again.locator(".terminal").innerText()).toContain("one");
    expect(await again.textContent()).toContain("exit 0");
    expect(await page.locator("dialog").count()).toBe(0);
    await page.reload();
    await page.waitForSelector(".rerun .terminal");
    await page.context().close();
  });

  test("[V6] what does not show is spelt out", async () => {
    const { page } = await openAt("echo a\u202eb");
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForSelector("dialog .exact");
    expect(await page.textContent("dialog .exact")).toBe("echo a⟨U+202E⟩b");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    expect(await page.locator(".rerun").count()).toBe(0);
    await page.context().close();
  });

  test("[V6] [D9] a block that changed since is not run; looking again shows it anew", async () => {
    const { page, ids } = await openAt("echo first");
    await page.getByRole("button", { name: "Run again" }).click();
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    await harness.kernel.writeBlock(ids.command, {
      agent: "tester",
      plan: (draft) => draft.meta(ids.command, { command: "echo second" }),
    });
    await run(page).click();
    await page.waitForSelector("dialog [role=alert]");
    expect(await page.textContent("dialog [role=alert]")).toContain("changed");
    expect(await page.locator(".rerun").count()).toBe(0);
    await watchWaits(page, "Run it");
    await page.getByRole("button", { name: "Check again" }).click();
    await expect.poll(() => page.textContent("dialog .exact")).toBe("echo second");
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    expect((await waitsIn(page)).at(-1)).toBeGreaterThan(450);
    await run(page).click();
    await page.waitForSelector('.rerun[data-status="done"]');
    expect(await page.textContent(".rerun .terminal")).toContain("second");
    await page.context().close();
  });

  test("[D14] a folder that is not served is asked for, then shown; an interpreter's code is not offered", async () => {
    const { page, ids } = await openAt("pwd");
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "blockyard-elsewhere-")));
    await harness.kernel.writeBlock(ids.command, {
      agent: "tester",
      plan: (draft) => draft.meta(ids.command, { cwd: elsewhere }),
    });
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForSelector("dialog [role=alert]");
    expect(await page.textContent("dialog [role=alert]")).toContain("which this server serves");
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: `Work in ${elsewhere}` }).click();
    await expect.poll(() => page.textContent("dialog .ask-place")).toContain(elsewhere);
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    await run(page).click();
    await page.waitForSelector('.rerun[data-status="done"]');
    expect(await page.textContent(".rerun .terminal")).toContain(elsewhere);
    await harness.kernel.writeBlock(ids.command, {
      agent: "tester",
      plan: (draft) => draft.meta(ids.command, { toolName: "code_interpreter" }),
    });
    await expect.poll(() => page.getByRole("button", { name: "Run again" }).count()).toBe(1); // the rerun's own
    await page.context().close();
    rmSync(elsewhere, { recursive: true });
  });

  test("[D14] a prompt to a conversation whose folder is gone asks where to work, and sends nothing before", async () => {
    const conversation = await newConversation(harness.kernel, "elsewhere");
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        draft.conversation({ metadata: { cwd: "/nowhere/shop" } });
        return null;
      },
    });
    const { page } = await harness.open(`/c/${conversation}`);
    await page.waitForSelector(".head-folder");
    expect(await page.textContent(".head-folder")).toContain("/nowhere/shop");
    await page.getByRole("textbox", { name: "Prompt" }).fill("hello");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog [role=alert]");
    expect(await page.textContent("dialog [role=alert]")).toContain("/nowhere/shop, does not exist");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await expect.poll(() => page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe("hello");
    expect(await harness.kernel.turns(conversation)).toEqual([]);
    await page.getByRole("textbox", { name: "Prompt" }).press("Enter");
    await page.getByRole("button", { name: `Work in ${harness.root}` }).click();
    await expect.poll(async () => ((await harness.kernel.turns(conversation)) as unknown[]).length).toBe(1);
    // The folder of the workspace is shown by its name; the whole path is in the title.
    await expect.poll(() => page.getAttribute(".head-folder", "title")).toBe(`Works in ${harness.root}`);
    await page.context().close();
  });

  test("one that runs can be stopped", async () => {
    const { page } = await openAt("echo begun; sleep 600");
    await page.getByRole("button", { name: "Run again" }).click();
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    await run(page).click();
    await page.waitForSelector(".rerun .terminal");
    await page.locator(".rerun").getByRole("button", { name: "Stop", exact: true }).click();
    await page.waitForSelector('.rerun[data-status="error"]');
    expect(await page.textContent(".rerun .command-foot")).toContain("interrupted");
    await page.context().close();
  });
});
