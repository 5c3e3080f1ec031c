/**
 * What axe finds wrong with the page as it stands, in both themes, in a line each.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What depends on the theme; the rest is the same in both. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

interface Axe {
  run(options: object): Promise<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>;
}

/** In the page's own theme all of it, in the other one what its colours decide. */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const [own, other] = isDark ? (["dark", "light"] as const) : (["light", "dark"] as const);
  await page.emulateMedia({ colorScheme: other });
  const ofOther = await run(page, OF_COLOURS);
  await page.emulateMedia({ colorScheme: own });
  const ofOwn = await run(page);
  return [...ofOther.map((each) => `${other}: ${each}`), ...ofOwn.map((each) => `${own}: ${each}`)];
}

function run(page: Page, rules?: readonly string[]): Promise<string[]> {
  return page.evaluate(async (runOnly) => {
    // What fades in, or changes its colour with the theme, is judged when it has: running marks go on for ever.
    const passing = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(passing.map(({ finished }) => finished));
    const only = runOnly === undefined ? {} : { runOnly: { type: "rule", values: runOnly } };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run({
      resultTypes: ["violations"],
      ...only,
    });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary.slice(0, 200)}`,
    );
  }, rules);
}
