/**
 * Presses what can be opened and closed on the page, and measures how far it was from its place in any frame behind that.
 * Nothing here knows which parts of the page can be opened: what is found is pressed.
 */
import type { Page } from "playwright-core";

export interface Found {
  readonly name: string;
  readonly at: number;
  readonly x: number;
  readonly y: number;
}

/** What can be opened or closed and is wholly on the screen; each has a number of its own from then on. */
export function findAll(page: Page): Promise<Found[]> {
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
export async function pressed(
  page: Page,
  probe: number,
  press: () => Promise<void>,
  count = 6,
): Promise<number> {
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
export async function pressAll(page: Page, tried: Set<string>, place: string, before: () => Promise<void>) {
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
