/** A reader's actions in a conversation: goes to its end, turns the wheel. */
import type { Page } from "playwright-core";

/** Goes to the end of the conversation, by its key. */
export async function toEnd(page: Page): Promise<void> {
  await page.evaluate(async () => {
    (document.activeElement as HTMLElement | null)?.blur();
    dispatchEvent(new KeyboardEvent("keydown", { key: "G" }));
    for (let i = 0; i < 4; i++) await new Promise((done) => requestAnimationFrame(done));
  });
}

/** Turns the wheel and waits until the list has come to rest somewhere else, or is at its top. */
export async function wheelUp(page: Page, px: number): Promise<void> {
  const topOf = () => page.evaluate(() => (document.querySelector(".list") as HTMLElement).scrollTop);
  const before = await topOf();
  await page.mouse.wheel(0, -px);
  await page.waitForFunction(async (from) => {
    const list = document.querySelector(".list") as HTMLElement;
    const now = list.scrollTop;
    for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
    return list.scrollTop === now && (now !== from || now === 0);
  }, before);
}
