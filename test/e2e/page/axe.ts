/**
 * What axe finds wrong with the page as it stands, in both themes, in a line each.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** In the page's own theme and in the other one. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const findings: string[] = [];
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  for (const colorScheme of isDark ? (["light", "dark"] as const) : (["dark", "light"] as const)) {
    await page.emulateMedia({ colorScheme });
    for (const finding of await run(page)) findings.push(`${colorScheme}: ${finding}`);
  }
  return findings;
}

function run(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary.slice(0, 200)}`,
    );
  });
}
