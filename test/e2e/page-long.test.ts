/** A result of very many lines: opened, it is there at once, and its lines are made where one looks. */
import { isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newConversation, openYard, type Yard } from "./page/yard.ts";

const LINES = 60_000;

let yard: Yard;

beforeAll(async () => {
  yard = await openYard();
}, 180_000);

afterAll(async () => {
  await yard?.close();
});

async function longResult(kind: "tool_result" | "code"): Promise<string> {
  const conversation = await newConversation(yard.kernel, `a long ${kind}`);
  const text = Array.from({ length: LINES }, (_, i) => `line ${i + 1} of many`).join("\n");
  const made = await yard.kernel.write(conversation, {
    agent: "tester",
    plan: (draft) =>
      draft.create({
        kind,
        role: "tool",
        status: "done",
        text,
        ...(kind === "code" ? {} : { metadata: { toolUseId: "t1", toolName: "Read" } }),
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
  return conversation;
}

test.each(["tool_result", "code"] as const)(
  "[V30] the lines of a long %s are made where one looks",
  async (kind) => {
    const { page, complaints } = await yard.open(`/c/${await longResult(kind)}`);
    await page.getByRole("button", { name: /^Show/ }).click();
    await page.getByText("line 1 of many", { exact: false }).first().waitFor();
    const made = () => page.locator(".chunk .line").count();
    await expect.poll(made).toBeGreaterThan(63);
    expect(await made()).toBeLessThan(LINES / 10);
    // All of it is in the document all the same: to be found, selected and copied.
    expect(
      await page
        .locator("pre")
        .first()
        .evaluate((pre) => pre.textContent?.includes("line 60000 of many")),
    ).toBe(true);
    await page.locator(".list").evaluate((list) => {
      list.scrollTop = list.scrollHeight / 2;
    });
    const middle = () =>
      page.evaluate(() => document.elementFromPoint(640, 300)?.closest(".line")?.textContent ?? "");
    await expect.poll(middle).toMatch(/^line [2-4]\d{4} of many/);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);
