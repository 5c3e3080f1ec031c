/** Agents that end badly, once each; `npm run lifecycle` does it fifty times. */
import { expect, it } from "vitest";
import { DEATHS, die } from "./deaths.ts";

it.each(DEATHS)(
  "[R17] [D1] [D2] the turn ends once and nothing is left when the agent $name",
  async (death) => {
    expect(await die(death)).toEqual([]);
  },
);
