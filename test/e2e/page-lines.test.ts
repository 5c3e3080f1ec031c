/**
 * The lines of how the work was done, and what stands below them: where they begin and end, what shows that they open, and that
 * nothing is framed that is not there.
 */
import { isProblem } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness } from "./page/harness.ts";

describe("lines", () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await openHarness();
  }, 120_000);
  afterAll(() => harness?.close());

  test("[V176] what came of a call ends where the column ends, and what opens it stands where its icon stands", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/bash.jsonl");
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 1400 });
    const line = page.getByRole("button", { name: /^Run/ }).first();
    await line.waitFor();
    const look = () =>
      line.evaluate((button) => {
        const [icon, chevron] = [...button.querySelectorAll("svg")].map(
          (svg) => svg.getBoundingClientRect().x,
        );
        const [drawn, other] = [...button.querySelectorAll("svg")].map(
          (svg) => getComputedStyle(svg).visibility,
        );
        const words = button.querySelector("code")?.getBoundingClientRect().x;
        const row = button.parentElement as Element;
        const ends = [...row.children]
          .filter((each) => each.clientWidth > 1)
          .map((each) => each.getBoundingClientRect().right);
        return { icon, chevron, drawn, other, words, end: Math.round(Math.max(...ends)) };
      });
    const column = await page.locator("form.composer, .composer").first().boundingBox();
    const before = await look();
    expect(before).toMatchObject({ drawn: "visible", other: "hidden", chevron: before.icon });
    expect(before.end).toBe(Math.round((column?.x ?? 0) + (column?.width ?? 0)));
    await line.hover();
    expect(await look()).toEqual({ ...before, drawn: "hidden", other: "visible" });
    await context.close();
  });

  test("[V122] a change that has no diff is told by its line: no empty frame stands below it", async () => {
    const conversation = await ingest(harness.kernel, "codex", "codex/tour.jsonl");
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 1400 });
    await page.getByRole("button", { name: /^Edit/ }).first().waitFor();
    const frames = await page
      .locator(".file-change")
      .evaluateAll((all) =>
        all.map((each) => ({ frame: each.getBoundingClientRect().height, has: each.textContent })),
      );
    expect(frames.length).toBeGreaterThan(0);
    for (const { frame, has } of frames) expect([has, frame === 1 || frame > 16]).toEqual([has, true]);
    expect(await page.getByText("1 file", { exact: true }).count()).toBe(0);
    await context.close();
  });

  test("[V177] a file that is new is in one column, also where others have two", async () => {
    const conversation = await newConversation(harness.kernel, "two columns");
    const written = await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const changes = [
          { path: "new.ts", kind: "add", diff: "@@ -0,0 +1,2 @@\n+one\n+two\n" },
          { path: "old.ts", kind: "modify", diff: "@@ -1,2 +1,2 @@\n same\n-was\n+is\n" },
        ] as const;
        return draft.create({
          kind: "file_change",
          role: "tool",
          status: "done",
          text: "",
          metadata: { changes },
        });
      },
    });
    expect(isProblem(written)).toBe(false);
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 1400 });
    await page.getByRole("button", { name: "View" }).click();
    await page.getByRole("menuitemradio", { name: "Side by side" }).click();
    await page.keyboard.press("Escape");
    const rows = (name: string) =>
      page
        .getByRole("region", { name })
        .locator(".diff-row")
        .evaluateAll((all) => all.map((row) => row.textContent));
    await expect.poll(() => rows("changes to old.ts")).toEqual([" same", " same", "−was", "+is"]);
    expect(await rows("changes to new.ts")).toEqual(["+one", "+two"]);
    await context.close();
  });

  test("[V102] pointing at a conversation of the list moves nothing in it, and shows its menu", async () => {
    const title = "A conversation whose title is longer than the list is wide";
    await newConversation(harness.kernel, title);
    const { page, context } = await harness.open("/", { width: 1400 });
    const entry = page.getByRole("navigation").getByRole("link", { name: title });
    await entry.waitFor();
    const words = entry.getByText(title);
    const before = await words.boundingBox();
    await entry.hover();
    await page.getByRole("button", { name: `More actions for ${title}` }).waitFor();
    expect(await words.boundingBox()).toEqual(before);
    await context.close();
  });
});
