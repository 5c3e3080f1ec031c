/**
 * Diagrams: a Mermaid source is code until somebody asks for its drawing. Drawn in a frame that can reach nothing, shown as
 * an image, in a real browser.
 */
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportFile } from "../../packages/server/src/export/export-file.ts";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";

const FLOW = "graph TD\n  A[Start] --> B{Is it working?}\n  B -->|no| A";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

async function openWith(source: string, dark = false) {
  const conversation = await newConversation(harness.kernel, "diagram");
  await say(harness.kernel, conversation, [
    { text: `Before.\n\n\`\`\`mermaid\n${source}\n\`\`\`\n\nAfter.` },
    { text: "And more." },
  ]);
  const visit = await harness.open(`/c/${conversation}`, { dark });
  await visit.page.waitForSelector(".fence-tool");
  return { ...visit, conversation };
}

const press = (page: Page) => page.click(".fence-tool");
const drawn = async (page: Page) =>
  decodeURIComponent((await page.locator(".diagram img").getAttribute("src")) ?? "");

describe("a diagram", () => {
  test("[V43] is code until it is asked for, then a picture, then code again; what was pressed stays", async () => {
    const { page, context, complaints } = await openWith(FLOW);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    expect(await page.locator(".fence .line").count()).toBe(3);
    expect(asked.filter((url) => url.includes("diagram"))).toEqual([]);
    const place = await page.locator(".fence-tool").boundingBox();
    await press(page);
    await page.waitForSelector(".diagram img");
    const image = await page.evaluate(async () => {
      const shown = document.querySelector(".diagram img") as HTMLImageElement;
      await shown.decode();
      return { width: shown.naturalWidth, height: shown.naturalHeight, box: shown.clientWidth };
    });
    expect(image.width).toBeGreaterThan(100);
    expect(image.height).toBeGreaterThan(100);
    expect(image.box).toBeGreaterThan(100);
    const words = (await drawn(page)).replace(/<[^>]*>/g, "");
    for (const label of ["Start", "Is it working?", "no"]) expect(words).toContain(label);
    expect(await page.locator(".fence .line").count()).toBe(0);
    expect(await page.locator("iframe").count()).toBe(0);
    expect(await page.locator(".fence-tool").boundingBox()).toMatchObject({ y: place?.y });
    await press(page);
    expect(await page.locator(".fence .line").count()).toBe(3);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V43] has the colours of the theme, and follows it", async () => {
    const { page, context } = await openWith(FLOW, true);
    await press(page);
    await page.waitForSelector(".diagram img");
    const dark = await drawn(page);
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(
      (before) => document.querySelector(".diagram img")?.getAttribute("src") !== before,
      `data:image/svg+xml;charset=utf-8,${encodeURIComponent(dark.slice(dark.indexOf(",") + 1))}`,
    );
    expect(dark).toContain("rgb(230, 235, 236)");
    expect(await drawn(page)).toContain("rgb(22, 28, 30)");
    await context.close();
  });

  test.each([
    ["graph TD\n  A --> B\n  C --[ D", "it ends too early, after “C --[ D”"],
    ["graph TD\n  A --> --> B\n  C --> D", "line 2 can't be read: “A --> --> B”"],
    ["nonsense\n  A", "“nonsense” is not a supported diagram type"],
    [`graph TD\n  A["${"word ".repeat(2_400)}"]`, "it has 12,016 characters, and the limit is 10,000"],
  ])("[V43] that cannot be drawn stays code, and says why: %#", async (source, why) => {
    const { page, context, complaints } = await openWith(source);
    await press(page);
    await page.waitForSelector(".diagram-note.failed");
    expect(await page.textContent(".diagram-note")).toBe(`Couldn't draw the diagram: ${why}.`);
    expect(await page.locator(".fence .line").count()).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V43] whose row is gone before what draws is here is drawn, and shown when one comes back", async () => {
    const { page, context, complaints, conversation } = await openWith(FLOW);
    const held = Promise.withResolvers<void>();
    await page.route("**/assets/draw-*.js", async (route) => {
      await held.promise;
      await route.continue();
    });
    const frame = page.waitForRequest(/diagram-frame/);
    await press(page);
    await page.getByRole("link", { name: "New task" }).click();
    await page.locator(".fence-tool").waitFor({ state: "detached" });
    held.resolve();
    await frame;
    await page.locator("iframe").waitFor({ state: "detached" });
    await page.locator(`.sidebar a[href="/c/${conversation}"]`).click();
    await page.waitForSelector(".diagram img");
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("[V43] that takes too long is given up, and its frame is gone; so is one that sends nonsense", async () => {
    const { page, context } = await openWith(FLOW);
    const answers = [
      "",
      `<script>parent.postMessage("ready", "*"); parent.postMessage({ svg: 7 }, "*")</script>`,
    ];
    await page.route(/diagram-frame/, (route) =>
      route.fulfill({ contentType: "text/html", body: answers.shift() ?? "" }),
    );
    await press(page);
    await page.waitForSelector(".diagram-note.failed");
    expect(await page.textContent(".diagram-note")).toContain("it took longer than 10 seconds");
    expect(await page.locator("iframe").count()).toBe(0);
    // Nobody is asked the same in vain again, but another theme is another drawing.
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction(() =>
      document.querySelector(".diagram-note.failed")?.textContent?.includes("nothing was drawn"),
    );
    await context.close();
  });

  test("[V43] [R37] is drawn in a document without an origin, which may load nothing", async () => {
    const { page, context } = await openWith(FLOW);
    const answer = page.waitForResponse(/diagram-frame/);
    await press(page);
    const policy = (await (await answer).allHeaders())["content-security-policy"] ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/=]{44}'; /);
    expect(policy).toContain("sandbox allow-scripts");
    expect(policy).not.toContain("unsafe");
    await page.waitForSelector(".diagram img");
    await page.goto((await answer).url());
    expect(
      await page.evaluate(async () => ({
        origin,
        asked: await fetch("/health").then(
          () => "answered",
          () => "refused",
        ),
      })),
    ).toEqual({ origin: "null", asked: "refused" });
    await context.close();
  });

  test("[V43] is its source in the exported files", async () => {
    const conversation = await newConversation(harness.kernel, "diagram");
    await say(harness.kernel, conversation, [{ text: `\`\`\`mermaid\n${FLOW}\n\`\`\`` }]);
    for (const format of ["markdown", "html"] as const) {
      const file = await exportFile(harness.kernel, conversation, format, false);
      if (isProblem(file)) throw new Error(file.message);
      let text = "";
      for await (const piece of file.body) text += piece;
      expect(text.replaceAll("&gt;", ">")).toContain("A[Start] --> B{Is it working?}");
    }
  });
});
