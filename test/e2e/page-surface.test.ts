/**
 * What the page is drawn with: its own fonts, without a movement when they come.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const ASSETS = fileURLToPath(new URL("../../packages/web/dist/assets/", import.meta.url));
const FONTS_KB = 120;

describe("the surface", () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await openHarness();
  }, 120_000);
  afterAll(() => harness?.close());

  test("[V101] the page's fonts are small, and the first two are preloaded and used", async () => {
    const fonts = readdirSync(ASSETS).filter((name) => name.endsWith(".woff2"));
    const bytes = fonts.reduce((sum, name) => sum + statSync(join(ASSETS, name)).size, 0);
    expect(fonts.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(FONTS_KB * 1024);
    const { page, complaints, context } = await harness.open();
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    const found = await page.evaluate(() => ({
      preloaded: [...document.querySelectorAll<HTMLLinkElement>("link[rel=preload][as=font]")].length,
      loaded: [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family),
    }));
    expect(found.preloaded).toBe(2);
    expect(found.loaded.join(" ")).toContain("Geist");
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V101] what stands in for a font is as wide and as high", async () => {
    const { page, context } = await harness.open();
    const sizes = await page.evaluate(async () => {
      await Promise.all([document.fonts.load("14px Geist"), document.fonts.load("14px 'Geist Mono'")]);
      const text =
        "Add a multiply function to src/math.ts, then run the tests; 12 of 14 passed in 3.2 seconds.";
      const measure = (family: string) => {
        const span = document.createElement("span");
        span.textContent = text;
        span.style.cssText = `position:absolute;white-space:nowrap;font:14px/normal ${family}`;
        document.body.append(span);
        const { width, height } = span.getBoundingClientRect();
        span.remove();
        return { width, height };
      };
      return {
        sans: [measure('"Geist"'), measure('"Geist Fallback"')],
        mono: [measure('"Geist Mono"'), measure('"Geist Mono Fallback"')],
      };
    });
    for (const [own, standIn] of Object.values(sizes)) {
      expect(Math.abs((own?.width ?? 0) / (standIn?.width ?? 1) - 1)).toBeLessThan(0.02);
      expect(Math.abs((own?.height ?? 0) - (standIn?.height ?? 9))).toBeLessThanOrEqual(1);
    }
    await context.close();
  });

  test("[V157] who wants no motion sees none, and waits as long as others for what is shown later", async () => {
    for (const isStill of [true, false]) {
      const { page, context } = await harness.open("/", { isStill });
      const names = await page.evaluate(() =>
        ["needs-you", "list-fetching", "spinner"].map((name) => {
          const element = document.body.appendChild(document.createElement("p"));
          element.className = name;
          return getComputedStyle(element).animationName;
        }),
      );
      expect(names).toEqual(["shown-later", "shown-later", isStill ? "none" : expect.any(String)]);
      await context.close();
    }
  });

  test("[V157] text that is being written does not blink for who wants no motion", async () => {
    const conversation = await newConversation(harness.kernel, "written");
    await say(harness.kernel, conversation, [{ text: "Some words", status: "running" }]);
    const { page, context } = await harness.open(`/c/${conversation}`, { isStill: true });
    await page.getByText("Some words").waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await context.close();
  });

  test("[V19] lists, quotes and titles begin where their letters begin, and long words stay in dialogs", async () => {
    const word = "W".repeat(200);
    const conversation = await newConversation(harness.kernel, `Long ${word}`);
    await say(harness.kernel, conversation, [{ text: "1. הצעד\n2. עוד\n\n> ציטוט\n\nThen:\n\n- plain\n" }]);
    const { page, context } = await harness.open(`/c/${conversation}`);
    await page.getByText("plain").waitFor();
    const sides = await page.evaluate(() =>
      [".md ol", ".md blockquote", ".md ul"].map((name) => {
        const { direction } = getComputedStyle(document.querySelector(name) as Element);
        return direction;
      }),
    );
    expect(sides).toEqual(["rtl", "rtl", "ltr"]);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("Delete the");
    await page.keyboard.press("Enter");
    const title = page.getByRole("dialog").getByRole("heading");
    await title.waitFor();
    expect(await title.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
    await context.close();
    // A title that is too long for its place loses its end, not its beginning.
    const other = await newConversation(harness.kernel, "תיקון המחירים בעגלה");
    const visit = await harness.open(`/c/${other}`);
    const named = [visit.page.getByRole("heading", { level: 1 }), visit.page.getByRole("navigation")];
    for (const place of named) {
      const words = place.getByText("תיקון המחירים בעגלה");
      expect(await words.evaluate((each) => getComputedStyle(each).direction)).toBe("rtl");
    }
    await visit.context.close();
  });

  test("[V19] code reads from left to right in every text; a picture that cannot be drawn is its words", async () => {
    const conversation = await newConversation(harness.kernel, "code");
    const table = `| a | b |\n|---|---|\n| 1 000 | ${"long words ".repeat(20)} |`;
    const broken = "![the receipt](data:image/png;base64,AAAA)";
    await say(harness.kernel, conversation, [{ text: `اشرح \`discounted()\` هنا\n\n${broken}\n\n${table}` }]);
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 390 });
    const code = page.locator(".md code", { hasText: "discounted()" });
    expect(await code.evaluate((each) => getComputedStyle(each).direction)).toBe("ltr");
    expect(await code.evaluate((each) => getComputedStyle(each).unicodeBidi)).toBe("isolate");
    await page.locator(".md").getByText("the receipt").waitFor();
    expect(await page.locator(".md img").count()).toBe(0);
    const linesOf = (cell: HTMLElement) => {
      const words = document.createRange();
      words.selectNodeContents(cell);
      return new Set([...words.getClientRects()].map(({ top }) => top)).size;
    };
    expect(await page.getByRole("cell", { name: "1 000" }).evaluate(linesOf)).toBe(1);
    await context.close();
  });

  test("[V14] on the first page a conversation is told by its title, and none that needs the reader is left out", async () => {
    const ask = {
      ...{ id: "a", state: "asked", kind: "permission", title: "Run it", input: {} },
      subject: { type: "command", command: `npm test -- ${"packages/checkout ".repeat(30)}` },
    };
    const names = Array.from({ length: 8 }, (_, i) => `Remove what nobody needs, part ${i}`);
    for (const name of names) {
      const conversation = await newConversation(harness.kernel, name);
      await harness.kernel.write(conversation, {
        agent: "tester",
        plan: (draft) => {
          const metadata = { toolName: "Bash", toolUseId: "q", stage: "running", ask } as never;
          return draft.create({ kind: "tool_call", role: "model", text: "{}", status: "running", metadata });
        },
      });
    }
    const { page, context } = await harness.open();
    const needs = page.getByRole("region", { name: "Needs you: conversations" });
    await needs.getByRole("link").first().waitFor();
    const isCut = (each: HTMLElement) => each.scrollWidth > each.clientWidth;
    expect(
      await needs
        .getByText(/^Remove what nobody needs/)
        .first()
        .evaluate(isCut),
    ).toBe(false);
    await needs.getByRole("button", { name: "Show 2 more" }).click();
    for (const name of names) await needs.getByText(name).waitFor();
    await context.close();
  });

  test("[V187] the tools of a line stand beside its words", async () => {
    const conversation = await newConversation(harness.kernel, "tools");
    const command = `npm test -- ${"packages/checkout ".repeat(30)}`;
    await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => {
        const metadata = { toolName: "Bash", toolUseId: "q", stage: "end", input: { command } };
        return draft.create({ kind: "tool_call", role: "model", text: "{}", status: "done", metadata });
      },
    });
    for (const look of [{ width: 900 }, { width: 390, touch: true }]) {
      const { page, context } = await harness.open(`/c/${conversation}`, look);
      const line = page.locator("article .tool-open");
      await (look.touch ? line.focus() : line.hover());
      const tools = page.locator(".block-actions");
      await tools.waitFor();
      const words = await page.locator(".tool-params").evaluate((each) => each.getBoundingClientRect().right);
      expect(words).toBeLessThanOrEqual((await tools.boundingBox())?.x ?? 0);
      await context.close();
    }
  });

  test("[V19] the columns of a table in right-to-left text stand on its right, and it ends where the text does", async () => {
    const conversation = await newConversation(harness.kernel, "columns");
    const rows = "| קובץ | שורות |\n|---|---|\n| cart.ts | שתים |\n| very-long-name.ts | 4 |\n";
    await say(harness.kernel, conversation, [{ text: `הנה טבלה:\n\n${rows}` }]);
    const { page, context } = await harness.open(`/c/${conversation}`, { width: 1400 });
    await page.getByRole("cell", { name: "cart.ts" }).waitFor();
    const edges = await page.evaluate(() => {
      const right = (element: Element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return Math.round(range.getBoundingClientRect().right);
      };
      const all = (selector: string) => [...document.querySelectorAll(selector)].map(right);
      return { text: all(".md p"), first: all(".md tr > :first-child"), second: all(".md tr > :last-child") };
    });
    expect(new Set([...edges.text, ...edges.first]).size).toBe(1);
    expect(new Set(edges.second).size).toBe(1);
    expect(edges.second[0]).toBeLessThan(edges.first[0] as number);
    await context.close();
  });

  test("[V158] on paper there is the conversation, in light colours, and where to get all of it", async () => {
    const conversation = await newConversation(harness.kernel, "on paper");
    await say(
      harness.kernel,
      conversation,
      Array.from({ length: 80 }, (_, i) => ({ text: `Words ${i}` })),
    );
    const { page, context } = await harness.open(`/c/${conversation}`, { dark: true, height: 500 });
    await page.getByText("Words 79").waitFor();
    const onPaper = () =>
      page.evaluate(() => {
        const list = document.querySelector(".list") as HTMLElement;
        return {
          others: [".sidebar", ".composer", ".toolbar"].map((name) =>
            document.querySelector(name)?.checkVisibility(),
          ),
          ground: getComputedStyle(document.body).backgroundColor,
          note: getComputedStyle(list, "::before").content,
          isWhole: list.scrollHeight <= list.clientHeight && list.clientHeight > innerHeight,
          words: list.innerText.match(/Words \d+/g) ?? [],
        };
      });
    const ground = "rgb(255, 255, 255)";
    expect(await page.locator(".list-row").count()).toBeLessThan(80);
    await page.emulateMedia({ media: "print" });
    const near = await onPaper();
    expect(near).toMatchObject({ others: [false, false, false], ground, isWhole: true });
    expect(near.note).toContain("export it as HTML");
    // What the browser says before it prints brings the rest, in its order.
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await onPaper()).toMatchObject({
      isWhole: true,
      note: "none",
      words: Array.from({ length: 80 }, (_, i) => `Words ${i}`),
    });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await expect.poll(() => page.locator(".printed-rows").count()).toBe(0);
    await context.close();
  });

  test("[V158] printing leaves the reader where they are", async () => {
    const conversation = await newConversation(harness.kernel, "printed");
    await say(
      harness.kernel,
      conversation,
      Array.from({ length: 80 }, (_, i) => ({ text: `Words ${i}` })),
    );
    const { page, context } = await harness.open(`/c/${conversation}`, { height: 500 });
    await page.getByText("Words 79").waitFor();
    const list = page.getByRole("log", { name: "Blocks" });
    await list.hover();
    await page.mouse.wheel(0, -1_500);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const seen = () =>
      page.evaluate(() => {
        const row = document.elementFromPoint(innerWidth / 2, 200)?.closest(".list-row");
        return [row?.textContent, row?.getBoundingClientRect().top];
      });
    const before = await seen();
    await page.evaluate(() => {
      addEventListener("beforeprint", () => {
        document.body.dataset["printed"] = `${document.querySelectorAll(".list-row").length}`;
      });
    });
    await page.pdf();
    expect(Number(await page.locator("body").getAttribute("data-printed"))).toBeGreaterThanOrEqual(80);
    await expect.poll(() => page.locator(".printed-rows").count()).toBe(0);
    expect(await seen()).toEqual(before);
    await context.close();
  });
});
