/**
 * Opening and closing: whatever can be opened on the page, wherever it stands, by mouse and by keyboard, also while text
 * streams in below. What is found to press is pressed; nothing here knows which parts of the page can be opened.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toEnd, wheelUp } from "./page/reader.ts";
import { ingest, newConversation, openYard, say, type Yard } from "./page/yard.ts";

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

let yard: Yard;

beforeAll(async () => {
  yard = await openYard();
}, 180_000);

afterAll(async () => {
  await yard?.close();
});

interface Found {
  readonly name: string;
  readonly at: number;
  readonly x: number;
  readonly y: number;
}

/** What can be opened or closed and is wholly on the screen; each has a number of its own from then on. */
function findAll(page: Page): Promise<Found[]> {
  return page.evaluate(() => {
    const list = document.querySelector(".list") as HTMLElement;
    const box = list.getBoundingClientRect();
    const shown = [...list.querySelectorAll<HTMLElement>("[aria-expanded]:not([aria-haspopup]), summary")];
    return shown.flatMap((element) => {
      const { top, bottom, left } = element.getBoundingClientRect();
      if (top < box.top || bottom > box.bottom) return [];
      const count = window as unknown as { probes?: number };
      count.probes = (count.probes ?? 0) + 1;
      element.dataset["probe"] ??= String(count.probes);
      const name = `${element.className} of ${element.closest<HTMLElement>("[data-kind]")?.dataset["kind"]}`;
      return [{ name, at: Number(element.dataset["probe"]), x: left + 12, y: (top + bottom) / 2 }];
    });
  });
}

/** Presses something; the furthest that it was from its place in any of the frames behind that. */
async function pressed(page: Page, probe: number, press: () => Promise<void>, count = 6): Promise<number> {
  await page.evaluate((at) => {
    const element = document.querySelector(`[data-probe="${at}"]`) as HTMLElement;
    const place = element.getBoundingClientRect().top;
    const watched = { off: 0, left: Number.POSITIVE_INFINITY };
    Object.assign(window, { watched });
    element.addEventListener("click", () => (watched.left = -1), { once: true });
    const look = (): void => {
      if (element.isConnected)
        watched.off = Math.max(watched.off, Math.abs(element.getBoundingClientRect().top - place));
      if (watched.left > -100) requestAnimationFrame(look);
    };
    look();
  }, probe);
  await press();
  return page.evaluate(async (left) => {
    for (let i = 0; i < left; i++) await new Promise((done) => requestAnimationFrame(done));
    const { watched } = window as unknown as { watched: { off: number; left: number } };
    const isPressed = watched.left < 0;
    watched.left = -100;
    return isPressed ? watched.off : Number.NaN;
  }, count);
}

/** Opens and closes all that is on the screen; what moved, by name. */
async function pressAll(page: Page, tried: Set<string>, place: string, before: () => Promise<void>) {
  const moved: string[] = [];
  const known = new Set<number>();
  for (;;) {
    await before();
    const next = (await findAll(page)).find(({ at }) => !known.has(at));
    if (!next) return moved;
    known.add(next.at);
    tried.add(next.name);
    const click = () => page.mouse.click(next.x, next.y);
    const isThere = () => page.locator(`[data-probe="${next.at}"]`).count();
    const opened = await pressed(page, next.at, click);
    if (!(opened < 1)) moved.push(`${next.name}, ${place}: ${opened} px`);
    if ((await isThere()) === 0) continue;
    const closed = await pressed(page, next.at, click);
    if (!(closed < 1)) moved.push(`${next.name}, ${place}, again: ${closed} px`);
  }
}

describe("what is opened or closed", () => {
  test.each(RECORDINGS)(
    "[V31] stays where it is, everything that can be, in %s's %s",
    async (provider, name) => {
      const conversation = await ingest(yard.kernel, provider, name);
      const { page, context, complaints } = await yard.open(`/c/${conversation}`, { height: HEIGHT });
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
      const conversation = await ingest(yard.kernel, "claude", "claude/subagent.jsonl");
      const [tail = ""] = await say(yard.kernel, conversation, [{ text: "now\n\n", status: "running" }]);
      const { page, context } = await yard.open(`/c/${conversation}`, { height: 2 * HEIGHT });
      await page.waitForSelector(`[data-block="${tail}"]`);
      let count = 0;
      /** Text that comes, and is drawn where its row is drawn at all. */
      const stream = async (pieces: number) => {
        for (let i = 0; i < pieces; i++) {
          const last = `word${++count}`;
          yard.kernel.append(tail, "tester", `some words, ${last}${count % 8 === 0 ? "\n\n" : " "}`);
          await yard.kernel.drain(tail, "tester");
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
    const conversation = await newConversation(yard.kernel, "beside");
    const long = Array.from({ length: 30 }, (_, i) => ({
      text: `Paragraph ${i}. ${"Words of it. ".repeat(30)}`,
    }));
    const ids = await say(yard.kernel, conversation, long);
    const { page, context } = await yard.open(`/c/${conversation}`, { height: 700 });
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
    const conversation = await ingest(yard.kernel, "claude", "claude/subagent.jsonl");
    const { page, context } = await yard.open(`/c/${conversation}`, { height: HEIGHT });
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
