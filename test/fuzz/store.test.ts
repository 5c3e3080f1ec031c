/** The store on SQLite against the one in memory; `npm run fuzz -- store` runs it for long. */
import { expect, it } from "vitest";
import { clean, runSeeds } from "./fuzz.ts";
import { fuzz } from "./store.fuzz.ts";

it("[S3] [S5] [S9] [S12] SQLite gives back what memory does, flushed or not, closed or killed", async () => {
  expect(await runSeeds(fuzz, 1, 12)).toMatchObject(clean);
});
