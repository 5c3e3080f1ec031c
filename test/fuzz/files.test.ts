/** Files here and on the disk; `npm run fuzz -- files` runs it for long. */
import { expect, it } from "vitest";
import { fuzz } from "./files.fuzz.ts";
import { clean, runSeeds } from "./fuzz.ts";

it("[F13] [F14] [F15] [F16] whatever happens here and on the disk, in any order, no line is lost", async () => {
  expect(await runSeeds(fuzz, 1, 40)).toMatchObject(clean);
});
