/**
 * How long buttons with a name stay disabled from when they are first in the page: measured inside the page, since a test that
 * looks from outside may come too late on a busy machine.
 */
import type { Page } from "playwright-core";

interface Watched {
  waits?: number[];
}

export async function watchWaits(page: Page, name: string): Promise<void> {
  await page.addInitScript(watch, name);
  await page.evaluate(watch, name);
}

/** The waits that are over, in milliseconds; 0 for a button that never was disabled. */
export function waitsIn(page: Page): Promise<number[]> {
  return page.evaluate(() => (window as Watched).waits ?? []);
}

function watch(name: string): void {
  const waits: number[] = [];
  (window as Watched).waits = waits;
  let since: number | undefined;
  let isOpen = false;
  const look = () => {
    const button = [...document.querySelectorAll("button")].find((each) => each.textContent?.includes(name));
    if (!button) {
      since = undefined;
      isOpen = false;
    } else if (button.disabled) {
      since ??= performance.now();
      isOpen = false;
    } else if (!isOpen) {
      isOpen = true;
      waits.push(since === undefined ? 0 : performance.now() - since);
      since = undefined;
    }
  };
  const options = { subtree: true, childList: true, attributes: true };
  const start = () => new MutationObserver(look).observe(document.documentElement, options);
  if (document.documentElement) start();
  else addEventListener("DOMContentLoaded", start);
}
