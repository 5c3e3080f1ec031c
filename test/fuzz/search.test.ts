/** Search against the slow and obvious way; `npm run fuzz -- search` runs it for long. */
import { expect, it } from "vitest";
import { clean, runSeeds } from "./fuzz.ts";
import { fuzz } from "./search.fuzz.ts";

it("[Q7] [Q12] finds what the engine finds in the whole text, and no filter hides it", async () => {
  expect(await runSeeds(fuzz, 1, 150)).toMatchObject(clean);
});
