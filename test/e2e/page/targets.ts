/**
 * What a finger could miss: buttons, links and fields that are shown and are lower or narrower than a finger needs, or are covered by
 * something else.
 */
import type { Page } from "playwright-core";

/** A line each. Links inside of a sentence are as high as the sentence; text that is edited is no target by itself. */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const LEAST = 44;
    const found: string[] = [];
    const seen = new Set<string>();
    const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
    for (const each of top.querySelectorAll<HTMLElement>(
      "button, a[href], input, select, textarea, summary, [role=tab], [role=option], [role=treeitem]",
    )) {
      const { width, height, left, top: y, right, bottom } = each.getBoundingClientRect();
      const isShown = each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!isShown || width === 0 || right <= 0 || left >= innerWidth || bottom <= 0 || y >= innerHeight)
        continue;
      const isInText = each.matches(".md a, .literal a, p a") || each.closest(".cm-editor") !== null;
      const label = each.closest("label")?.getBoundingClientRect();
      const high = Math.max(height, label?.height ?? 0);
      const wide = Math.max(width, label?.width ?? 0);
      if (isInText || (high >= LEAST - 0.5 && wide >= LEAST - 0.5)) continue;
      const name = each.getAttribute("aria-label") ?? each.textContent?.trim().slice(0, 30) ?? "";
      const line = `small: ${each.tagName.toLowerCase()}.${each.className} “${name}” ${Math.round(wide)} × ${Math.round(high)}`;
      const key = `${each.tagName}.${each.className}`;
      if (!seen.has(key)) found.push(line);
      seen.add(key);
    }
    return found;
  });
}
