/**
 * A phone in the hand: everything that can be pressed is large enough for a finger, in every state that the gallery has
 * a picture of.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fill, firstStart, openShowcase, type Showcase } from "./page/showcase.ts";
import { type State, statesOf } from "./page/states.ts";
import { smallTargets } from "./page/targets.ts";

const PHONE = { width: 390, height: 844, touch: true };
/** One of each kind of place. */
const NAMES =
  "home conversation markdown permission-edit questions failed gathered long-diff todo queue terminal list view-menu more-menu palette changes session find settings run-again block".split(
    " ",
  );

let showcase: Showcase;
let states: ReadonlyMap<string, State>;

beforeAll(async () => {
  showcase = await openShowcase();
  const first = await firstStart(showcase);
  const all = statesOf(showcase, { ...first, ...(await fill(showcase)) });
  states = new Map(all.map((state) => [state.name, state]));
}, 180_000);

afterAll(() => showcase?.close());

test("[V3] [V136] the way back to the end stands at the edge, and is as large as a finger needs", async () => {
  const { path } = states.get("conversation") as State;
  const { page, context } = await showcase.open(path, PHONE);
  await page.locator("article").first().waitFor();
  await page.getByRole("log").evaluate((list) => list.scrollBy(0, -600));
  const back = page.getByRole("button", { name: "Jump to latest" });
  await back.waitFor();
  const { x = 0, width = 0, height = 0 } = (await back.boundingBox()) ?? {};
  expect([width, height]).toEqual([44, 44]);
  expect(x + width).toBeGreaterThan(PHONE.width - 24);
  const arrow = await back.locator("svg").boundingBox();
  expect(Math.abs((arrow?.x ?? 0) + (arrow?.width ?? 0) / 2 - (x + width / 2))).toBeLessThan(1);
  await back.click();
  await back.waitFor({ state: "detached" });
  await context.close();
});

test("a title of five words is whole, beside the state of its conversation", async () => {
  const { page, context } = await showcase.open((states.get("permission-command") as State).path, PHONE);
  const head = page.locator(".head");
  const title = head.getByRole("button", { name: "Delete the migrations of 2019" });
  await title.waitFor();
  await head.locator(".state-needs").waitFor();
  expect(await title.evaluate((button) => button.scrollWidth - button.clientWidth)).toBe(0);
  await context.close();
});

test.each([
  ["conversation", "Send"],
  ["todo", "Stop"],
])("[V153] in “%s” the composer is its field and one row, with %s", async (name, button) => {
  const { page, context } = await showcase.open((states.get(name) as State).path, PHONE);
  const composer = page.locator("form.composer");
  const buttons = composer.getByRole("button");
  await composer.getByRole("button", { name: button, exact: true }).waitFor();
  await composer.getByRole("button", { name: /^Mode: / }).waitFor();
  const middles = () =>
    buttons.evaluateAll((all) => {
      const shown = all.map((each) => each.getBoundingClientRect()).filter(({ height }) => height > 0);
      return [...new Set(shown.map(({ top, height }) => Math.round(top + height / 2)))];
    });
  await expect.poll(middles).toHaveLength(1);
  await page.getByRole("textbox", { name: "Prompt" }).fill("And then the next");
  if (button === "Stop") {
    await composer.getByRole("button", { name: "Queue" }).waitFor();
    await expect.poll(middles).toHaveLength(2);
  } else expect(await middles()).toHaveLength(1);
  await context.close();
});

test.each(NAMES)("[V136] what can be pressed in “%s” is as large as a finger needs", async (name) => {
  const { path, act } = states.get(name) as State;
  const { page, context } = await showcase.open(path, PHONE);
  await page
    .locator(path === "/" ? ".home-main" : "article")
    .first()
    .waitFor();
  await act?.(page);
  await expect.poll(() => smallTargets(page)).toEqual([]);
  await context.close();
});
