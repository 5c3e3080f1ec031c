/**
 * Opening and closing: whatever can be opened on the page, wherever it stands, by mouse and by keyboard, also while text
 * streams in below. What is found to press is pressed; nothing here knows which parts of the page can be opened.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ingest, newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";
import { type Found, findAll, pressAll, pressed } from "./page/presses.ts";
import { toEnd, wheelUp } from "./page/reader.ts";

/** Recordings that have, together, every kind of thing that can be opened. */
const RECORDINGS = [
  ["claude", "claude/subagent.jsonl"],
  ["claude", "claude/read-large.jsonl"],
  ["claude", "claude/write-edit.jsonl"],
  ["claude", "claude/websearch.jsonl"],
  ["claude", "claude/thinking.jsonl"],
  ["claude", "claude/bash-long-output.jsonl"],
  ["claude", "claude/api-404-model.jsonl"],
  ["codex", "codex/tour.jsonl"],
] as const;
const HEIGHT = 420;

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

describe("what is opened or closed", () => {
  test.each(RECORDINGS)(
    "[V31] stays where it is, everything that can be, in %s's %s",
    async (provider, name) => {
      const conversation = await ingest(harness.kernel, provider, name);
      const { page, context, complaints } = await harness.open(`/c/${conversation}`, { height: HEIGHT });
      await page.waitForSelector("footer.turn");
      await page.mouse.move(640, 200);
      const tried = new Set<string>();
      const moved = await pressAll(page, tried, "at the end", () => toEnd(page));
      for (let i = 0; i < 3; i++) {
        await wheelUp(page, 300);
        moved.push(...(await pressAll(page, tried, `${300 * (i + 1)} px above`, async () => {})));
      }
      expect(tried.size).toBeGreaterThan(0);
      expect(moved).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  test.each(["click", "Enter", "o"])(
    "[V31] stays where it is while text streams in below, by %s, and nothing follows the end then",
    async (way) => {
      const conversation = await ingest(harness.kernel, "claude", "claude/subagent.jsonl");
      const [tail = ""] = await say(harness.kernel, conversation, [{ text: "now\n\n", status: "running" }]);
      const { page, context } = await harness.open(`/c/${conversation}`, { height: 2 * HEIGHT });
      await page.waitForSelector(`[data-block="${tail}"]`);
      let count = 0;
      /** Text that comes, and is drawn where its row is drawn at all. */
      const stream = async (pieces: number) => {
        for (let i = 0; i < pieces; i++) {
          const last = `word${++count}`;
          harness.kernel.append(tail, "tester", `some words, ${last}${count % 8 === 0 ? "\n\n" : " "}`);
          await harness.kernel.drain(tail, "tester");
          await page.waitForFunction(
            ([block, word]) => {
              const row = document.querySelector(`[data-block="${block}"]`);
              return !row || row.textContent?.includes(word as string);
            },
            [tail, last],
          );
        }
      };
      await toEnd(page);
      await stream(2);
      const { at, x, y } = (await findAll(page)).at(-1) as Found;
      const press = () => (way === "click" ? page.mouse.click(x, y) : page.keyboard.press(way));
      if (way !== "click")
        await page
          .locator(`[data-probe="${at}"]`)
          .evaluate((element) => element.focus({ preventScroll: true }));
      // From the press on text comes again; before it the end is followed, and what is pressed moves with it.
      const inStream = async () => {
        await press();
        await stream(8);
      };
      expect(await pressed(page, at, inStream)).toBeLessThan(1);
      expect(await pressed(page, at, inStream)).toBeLessThan(1);
      // What comes now goes on below the window.
      await stream(80);
      await page.waitForSelector(".to-end");
      await context.close();
    },
  );

  test("[V31] is a block's details or its editor: the block stays where it is", async () => {
    const conversation = await newConversation(harness.kernel, "beside");
    const long = Array.from({ length: 30 }, (_, i) => ({
      text: `Paragraph ${i}. ${"Words of it. ".repeat(30)}`,
    }));
    const ids = await say(harness.kernel, conversation, long);
    const { page, context } = await harness.open(`/c/${conversation}`, { height: 700 });
    const block = page.locator(`[data-block="${ids.at(-1)}"]`);
    await block.waitFor();
    await block.evaluate((element) => Object.assign(element.dataset, { probe: "1" }));
    const top = () => block.evaluate((element) => element.getBoundingClientRect().top);
    await block.focus();
    const place = await top();
    for (const [key, part] of [
      ["i", ".inspector"],
      ["i", undefined],
      ["e", ".editor .cm-content"],
    ] as const) {
      await page.keyboard.press(key);
      if (part) await page.waitForSelector(part);
      else await page.waitForSelector(".inspector", { state: "detached" });
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      expect(Math.abs((await top()) - place), `${key} ${part}`).toBeLessThan(1);
    }
    await context.close();
  });

  test("[V31] everything at once: the first block that one sees from its beginning stays", async () => {
    const conversation = await ingest(harness.kernel, "claude", "claude/subagent.jsonl");
    const { page, context } = await harness.open(`/c/${conversation}`, { height: HEIGHT });
    await page.waitForSelector("footer.turn");
    const first = () =>
      page.evaluate(() => {
        const top = (document.querySelector(".list") as HTMLElement).getBoundingClientRect().top;
        const rows = [...document.querySelectorAll<HTMLElement>(".list-row")];
        const row = rows.find((each) => each.getBoundingClientRect().top >= top) as HTMLElement;
        return [row.dataset["key"], Math.round(row.getBoundingClientRect().top)];
      });
    const before = await first();
    await page.getByRole("button", { name: "View" }).click();
    await page.getByRole("menuitem", { name: "Expand all" }).click();
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    expect(await first()).toEqual(before);
    await context.close();
  });
});
