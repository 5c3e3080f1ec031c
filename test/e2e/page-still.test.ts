/**
 * What a user looks at does not move: measured on every animation frame, while text streams below at two thousand
 * tokens a second and older blocks load above.
 */
import { isProblem, type Kernel } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const TOKENS_PER_SECOND = 2_000;
const TICK_MS = 16;

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

/** Blocks of very different heights: what is guessed of them is wrong by far. */
async function fill(kernel: Kernel, conversation: string, count: number): Promise<void> {
  const answer = await kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      for (let i = 0; i < count; i++) {
        const { kind, text } = sample(i);
        const made = draft.create({ kind, role: "model", text, status: "done", metadata: {} });
        if (isProblem(made)) return made;
      }
      return null;
    },
  });
  if (isProblem(answer)) throw new Error(answer.message);
}

function sample(i: number): { kind: "text" | "thinking" | "error"; text: string } {
  if (i % 7 === 3) return { kind: "thinking", text: `Thought ${i}\n\nand the rest of it` };
  if (i % 31 === 5) return { kind: "error", text: `It failed, number ${i}` };
  const code = i % 5 === 0 ? `\n\n\`\`\`ts\n${`const a${i} = [1, 2, 3];\n`.repeat(i % 9)}\`\`\`` : "";
  const table = i % 11 === 0 ? "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |" : "";
  return {
    kind: "text",
    text: `# Block ${i}\n\n${"Some words of it. ".repeat(i % 13)}\n\n- a\n- b${code}${table}`,
  };
}

/** Appends to a block, at the pace of the fastest models, until it is told to stop. */
function streamInto(block: string): () => Promise<number> {
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1_000) * TOKENS_PER_SECOND;
    let piece = "";
    for (; sent < due; sent++)
      piece += `${["word", "**bold**", "`code`", "and"][sent % 4]} ${sent % 160 === 159 ? "\n\n" : ""}`;
    harness.kernel.append(block, "tester", piece);
  }, TICK_MS);
  return async () => {
    clearInterval(timer);
    await harness.kernel.drain(block, "tester");
    return sent;
  };
}

interface Seen {
  readonly frames: number;
  /** How far the rows went down the screen, all in all. */
  readonly travelled: number;
  /** The furthest that they went up, in one frame. */
  readonly back: number;
  /** The furthest that two rows moved apart or together, in one frame. */
  readonly torn: number;
  /** The longest run of frames in which a part of the list's window had no row. */
  readonly blank: number;
}

/** Watches every row on the screen from now on. */
async function watch(page: Page): Promise<() => Promise<Seen>> {
  await page.evaluate(() => {
    const seen = { frames: 0, travelled: 0, back: 0, torn: 0, blank: 0, isOver: false };
    Object.assign(window, { seen });
    const box = (document.querySelector(".list") as HTMLElement).getBoundingClientRect();
    let known = new Map<string, number>();
    let blank = 0;
    const look = (): void => {
      const now = new Map<string, number>();
      let top = Number.POSITIVE_INFINITY;
      let bottom = 0;
      for (const row of document.querySelectorAll<HTMLElement>(".list-row")) {
        const place = row.getBoundingClientRect();
        if (place.bottom <= box.top || place.top >= box.bottom) continue;
        top = Math.min(top, place.top);
        bottom = Math.max(bottom, place.bottom);
        now.set(row.dataset["key"] as string, place.top);
      }
      const moves = [...now].flatMap(([key, at]) => {
        const before = known.get(key);
        return before === undefined ? [] : [at - before];
      });
      const [least, most] = [Math.min(...moves), Math.max(...moves)];
      if (moves.length > 0) {
        seen.travelled += most;
        seen.back = Math.max(seen.back, -least);
        seen.torn = Math.max(seen.torn, most - least);
      }
      blank = top > box.top + 37 || bottom < box.bottom - 25 ? blank + 1 : 0;
      seen.blank = Math.max(seen.blank, blank);
      seen.frames++;
      known = now;
      if (!seen.isOver) requestAnimationFrame(look);
    };
    look();
  });
  return () =>
    page.evaluate(() => {
      const { seen } = window as unknown as { seen: Seen & { isOver: boolean } };
      seen.isOver = true;
      const { frames, travelled, back, torn, blank } = seen;
      return { frames, travelled: Math.round(travelled * 10) / 10, back, torn, blank };
    });
}

function frames(page: Page, count: number): Promise<void> {
  return page.evaluate(async (left) => {
    for (let i = 0; i < left; i++) await new Promise((done) => requestAnimationFrame(done));
  }, count);
}

/** The name of the first row in the document; its number is its block's. */
function firstDrawn(page: Page): Promise<string> {
  return page.evaluate(() => document.querySelector<HTMLElement>(".list-row")?.dataset["key"] ?? "");
}

async function openStreaming(blocks: number) {
  const conversation = await newConversation(harness.kernel, "still");
  await fill(harness.kernel, conversation, blocks);
  const [tail] = await say(harness.kernel, conversation, [{ text: "", status: "running" }]);
  const visit = await harness.open(`/c/${conversation}`);
  await visit.page.waitForSelector(`[data-block="${tail}"]`);
  await visit.page.mouse.move(700, 400);
  await visit.page.mouse.wheel(0, -3_000);
  await visit.page.waitForSelector(".to-end");
  await frames(visit.page, 30);
  return { ...visit, conversation, tail: tail as string };
}

/** Goes to a conversation as a link inside the page does. */
async function goTo(page: Page, conversation: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `/c/${conversation}`);
}

/** The rows on the screen, by their keys: where each begins, from the top of the list. */
function placesOf(page: Page): Promise<Readonly<Record<string, number>>> {
  return page.evaluate(() => {
    const box = (document.querySelector(".list") as HTMLElement).getBoundingClientRect();
    const rows = [...document.querySelectorAll<HTMLElement>(".list-row")].flatMap((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return bottom > box.top && top < box.bottom ? [[row.dataset["key"], top - box.top] as const] : [];
    });
    return Object.fromEntries(rows);
  });
}

/** Where a row is, in each frame in which any row of its conversation can be seen, from now on. */
async function watchRow(page: Page, key: string): Promise<() => Promise<(number | null)[]>> {
  await page.evaluate((wanted) => {
    const own = `[data-block^="${wanted.split("/")[0]}/"]`;
    const places: (number | null)[] = [];
    const watched = { places, isOver: false };
    Object.assign(window, { watched });
    const look = (): void => {
      const list = document.querySelector<HTMLElement>(".list");
      const rows = [...(list?.querySelectorAll<HTMLElement>(".list-row") ?? [])];
      const isSeen = rows.some(
        (row) => row.querySelector(own) !== null && row.checkVisibility({ visibilityProperty: true }),
      );
      const row = rows.find(({ dataset }) => dataset["key"] === wanted);
      const top = list?.getBoundingClientRect().top ?? 0;
      if (isSeen) places.push(row ? row.getBoundingClientRect().top - top : null);
      if (!watched.isOver) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, key);
  return () =>
    page.evaluate(() => {
      const { watched } = window as unknown as { watched: { places: (number | null)[]; isOver: boolean } };
      watched.isOver = true;
      return watched.places;
    });
}

describe("who comes back", () => {
  test.each([
    ["near the end", 6_000],
    ["where older blocks have to be fetched first", 40_000],
  ])("[V21] is where they were, from the first frame on: %s", async (_, px) => {
    const { page, context, conversation, complaints } = await openStreaming(500);
    const other = await newConversation(harness.kernel, "elsewhere");
    await fill(harness.kernel, other, 40);
    // What was focused and is far away by now takes nobody back to it.
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
    await page.keyboard.press("j");
    for (let up = 0; up < px; up += 1_000) {
      await page.mouse.wheel(0, -1_000);
      await frames(page, 2);
    }
    await frames(page, 30);
    const [[key, top] = ["", 0]] = Object.entries(await placesOf(page));
    await goTo(page, other);
    await page.getByText("Block 39").waitFor();
    await say(harness.kernel, conversation, [{ text: "said meanwhile" }]);
    const seen = await watchRow(page, key);
    await goTo(page, conversation);
    await page.waitForSelector(`.list-row[data-key="${key}"]`);
    await frames(page, 60);
    const places = await seen();
    expect(places.length).toBeGreaterThan(40);
    for (const place of places) expect(Math.abs((place ?? Number.NaN) - top)).toBeLessThan(1);
    expect(await page.locator(".to-end").count()).toBe(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V21] is at the end if they were there, and where a link points if it points somewhere", async () => {
    const { page, context, conversation, tail } = await openStreaming(200);
    const other = await newConversation(harness.kernel, "elsewhere");
    await fill(harness.kernel, other, 3);
    const away = async () => {
      await goTo(page, other);
      await page.getByText("Block 2").waitFor();
    };
    const first = Object.keys(await placesOf(page))[0] as string;
    await away();
    await goTo(page, `${conversation}#${tail.slice(conversation.length + 1)}`);
    await page.locator(`[data-block="${tail}"].focused`).waitFor();
    expect(await page.locator(`.list-row[data-key="${first}"]`).count()).toBe(0);
    await page.keyboard.press("G");
    await page.locator(".to-end").waitFor({ state: "detached" });
    await away();
    await say(harness.kernel, conversation, [{ text: "the newest of all" }]);
    await goTo(page, conversation);
    await page.getByText("the newest of all").waitFor();
    await frames(page, 10);
    const rest = await page.evaluate(() => {
      const list = document.querySelector(".list") as HTMLElement;
      return list.scrollHeight - list.scrollTop - list.clientHeight;
    });
    expect(rest).toBeLessThan(2);
    await page.reload();
    await page.getByText("the newest of all").waitFor();
    await context.close();
  });
});

describe("what the user looks at", () => {
  test("[V1] stays where it is while text streams below", async () => {
    const { page, context, tail, complaints } = await openStreaming(300);
    const seen = await watch(page);
    const stop = streamInto(tail);
    await frames(page, 120);
    expect(await stop()).toBeGreaterThan(2_000);
    expect(await seen()).toMatchObject({ travelled: 0, back: 0, torn: 0, blank: 0 });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V1] [V2] moves with the user's input and with nothing else while 500 blocks load above", async () => {
    const { page, context, tail, complaints } = await openStreaming(1_200);
    const stop = streamInto(tail);
    const first = await firstDrawn(page);
    const seen = await watch(page);
    const STEPS = 300;
    for (let i = 0; i < STEPS; i++) {
      await page.mouse.wheel(0, -300);
      await frames(page, 2);
    }
    await frames(page, 40);
    const { travelled, back, torn, blank } = await seen();
    expect({ travelled, back, torn }).toEqual({ travelled: 300 * STEPS, back: 0, torn: 0 });
    expect(blank).toBeLessThanOrEqual(1);
    const passed = Number(first.split("/").at(-1)) - Number((await firstDrawn(page)).split("/").at(-1));
    expect(passed).toBeGreaterThan(500);
    await stop();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V3] [V31] stays where a small scroll up has put it that comes together with new text, also for a press right after", async () => {
    const conversation = await newConversation(harness.kernel, "together");
    const read = { toolName: "Read", stage: "end", success: true, input: {} } as const;
    await fill(harness.kernel, conversation, 30);
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        for (const toolUseId of ["a", "b"])
          draft.create({
            ...{ kind: "tool_call", role: "model", status: "done", text: "{}" },
            metadata: { ...read, toolUseId },
          });
        return null;
      },
    });
    const { page, context } = await harness.open(`/c/${conversation}`, { height: 700 });
    await page.waitForSelector(".gathered-line");
    const grow = () => say(harness.kernel, conversation, [{ text: "a line of its own\n\n".repeat(6) }]);
    for (const isPressed of [false, true]) {
      await page.keyboard.press("Escape");
      await page.keyboard.press("G");
      await frames(page, 12);
      // Up by less than the list has gone down, before the browser tells of either. It watches before the text is sent: a
      // loaded machine may bring the text first.
      const watcher = await page.evaluateHandle((presses) => {
        const list = document.querySelector(".list") as HTMLElement;
        const put = new Promise<number>((done) => {
          const observer = new MutationObserver(() => {
            observer.disconnect();
            list.scrollTop -= 40;
            const top = list.scrollTop;
            if (presses) document.querySelector<HTMLElement>(".gathered-line")?.click();
            done(top);
          });
          observer.observe(list, { subtree: true, attributes: true, attributeFilter: ["style"] });
        });
        return { put };
      }, isPressed);
      await grow();
      const top = await watcher.evaluate(({ put }) => put);
      for (let i = 0; i < 4; i++) {
        await grow();
        await frames(page, 6);
      }
      const now = await page.evaluate(() => (document.querySelector(".list") as HTMLElement).scrollTop);
      expect(Math.abs(now - top)).toBeLessThanOrEqual(1);
    }
    await context.close();
  });

  test("[V1] stays while pages come in above a reader who has jumped to the beginning", async () => {
    const { page, context, tail } = await openStreaming(900);
    const stop = streamInto(tail);
    for (let i = 0; i < 4; i++) {
      await page.evaluate(() => {
        (document.querySelector(".list") as HTMLElement).scrollTop = 0;
      });
      // The jump itself takes a frame; what comes in above because of it takes longer.
      await frames(page, 1);
      const seen = await watch(page);
      await frames(page, 45);
      expect(await seen()).toMatchObject({ travelled: 0, back: 0, torn: 0 });
    }
    await stop();
    await context.close();
  });

  test("[V128] moves down for nothing: a command that ends becomes a line, a thought that ends too", async () => {
    const conversation = await newConversation(harness.kernel, "shorter");
    await fill(harness.kernel, conversation, 40);
    const [last = ""] = await say(harness.kernel, conversation, [{ text: "The last words before it." }]);
    const { page, context } = await harness.open(`/c/${conversation}`);
    await page.waitForSelector(`[data-block="${last}"]`);
    const ids = await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const known = { toolUseId: "t", toolName: "Bash" };
        const input = { command: "make all" };
        const call = draft.create({
          ...{ kind: "tool_call" as const, role: "model" as const, status: "running" as const, text: "{}" },
          metadata: { ...known, stage: "running", input },
        });
        if (isProblem(call)) return call;
        const output = draft.create({
          ...{ kind: "command" as const, role: "tool" as const, status: "running" as const, side: true },
          ...{
            parent: call.id,
            text: "one\ntwo\nthree\nfour\nfive\n",
            metadata: { ...known, command: "make all" },
          },
        });
        return isProblem(output) ? output : { call: call.id, output: output.id };
      },
    });
    if (isProblem(ids)) throw new Error(ids.message);
    await page.locator(".command-result").getByText("five").waitFor();
    await frames(page, 4);
    // Where the last words are, in every frame from here on.
    await page.evaluate((id) => {
      const tops: number[] = [];
      Object.assign(window, { tops });
      const look = (): void => {
        const top = document.querySelector(`[data-block="${id}"]`)?.getBoundingClientRect().top;
        if (top !== undefined) tops.push(top);
        requestAnimationFrame(look);
      };
      look();
    }, last);
    const ended = await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        draft.status(ids.output, "done", { exitCode: 0 });
        draft.status(ids.call, "done", { success: true, stage: "end" });
        return null;
      },
    });
    expect(ended).toBeNull();
    await page.locator(".command-result").waitFor({ state: "detached" });
    await frames(page, 10);
    const tops = await page.evaluate(() => (window as unknown as { tops: number[] }).tops);
    expect(tops.length).toBeGreaterThan(10);
    expect(Math.max(...tops) - (tops[0] as number)).toBeLessThan(1);
    // What comes then fills the room first.
    await say(harness.kernel, conversation, [{ text: "And on it goes." }]);
    await page.getByText("And on it goes.").waitFor();
    expect(await page.locator(".to-end").count()).toBe(0);
    await context.close();
  });
});
