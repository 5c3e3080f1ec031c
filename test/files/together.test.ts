/** Several agents and a person in one file: short here, a minute in `npm run faults -- demo`. */
import { expect, it } from "vitest";
import { editTogether } from "./together.ts";

it("[F27] three agents over MCP and a person over a socket lose nothing in one file", {
  timeout: 90_000,
}, async () => {
  const ended = await editTogether({ seed: 27, deeds: 25 });
  expect(ended.wrong).toEqual([]);
  expect(ended.typed).toBe(25);
  const { inserted, patched, undid } = ended.deeds;
  expect(Math.min(inserted, patched, undid)).toBeGreaterThan(0);
  expect(ended.lines).toBeGreaterThan(20);
});
