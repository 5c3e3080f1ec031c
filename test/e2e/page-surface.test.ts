/**
 * What the page is drawn with: its own fonts, without a movement when they come.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openYard, type Yard } from "./page/yard.ts";

const ASSETS = fileURLToPath(new URL("../../packages/web/dist/assets/", import.meta.url));
const FONTS_KB = 120;

describe("the surface", () => {
  let yard: Yard;
  beforeAll(async () => {
    yard = await openYard();
  }, 120_000);
  afterAll(() => yard?.close());

  test("[V101] the page's fonts are small, and the first two are preloaded and used", async () => {
    const fonts = readdirSync(ASSETS).filter((name) => name.endsWith(".woff2"));
    const bytes = fonts.reduce((sum, name) => sum + statSync(join(ASSETS, name)).size, 0);
    expect(fonts.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(FONTS_KB * 1024);
    const { page, complaints, context } = await yard.open();
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
    const { page, context } = await yard.open();
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
      const { page, context } = await yard.open("/", { isStill });
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
});
