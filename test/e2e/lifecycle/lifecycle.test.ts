/** Agents that end badly, once each; `npm run lifecycle` does it fifty times. */
import { expect, it } from "vitest";
import { DEATHS, die } from "./deaths.ts";
import { killServer } from "./server-kill.ts";

it.each(DEATHS)(
  "[R17] [D1] [D2] the turn ends once and nothing is left when the agent $name",
  async (death) => {
    expect(await die(death)).toEqual([]);
  },
);

it("[R18] [D3] no agent survives a server that is killed, and what it left is closed once", async () => {
  expect(await killServer({ agents: 20, withReaper: false })).toEqual([]);
});

it("[R18] [D3] where the reaper is killed too, the next start clears up", async () => {
  expect(await killServer({ agents: 4, withReaper: true })).toEqual([]);
});
