/**
 * [AC230] Viewers and agents that flood the server over every transport, each at its quota: the owner hardly notices, memory
 * has a bound, and afterwards everything is as before.
 */
import { Auth } from "@blockyard/server";
import type { Driver } from "../../bench/fanout/driver.ts";
import { flood } from "./flooded.ts";
import type { Trial } from "./trial.ts";

const VIEWERS = 4;
const AGENTS = 4;

export const floods: Trial = {
  name: "flood",
  question:
    "What does the owner notice of viewers and agents that ask for all they may, over every transport?",
  async run(driver, { minutes, tell }) {
    const { auth, call } = ownerOf(driver);
    const { conversation } = await call("conversation.create", { title: "flood" });
    const content = "a line of words that is read again and again\n".repeat(23_300);
    const { block_id: block } = await call("block.create", {
      conversation,
      kind: "text",
      role: "user",
      content,
    });
    const { block_id: small } = await call("block.create", {
      ...{ conversation, kind: "text", role: "user", content: "small\n", status: "running" },
    });
    const names = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`);
    const order = {
      ...{ url: driver.blockyard.url, conversation: String(conversation), block: String(block) },
      viewers: names(VIEWERS, "wall").map((name) => auth.create(name, "viewer")),
      agents: names(AGENTS, "busy").map((name) => auth.create(name, "agent")),
      seconds: Math.min(60, minutes * 60),
    };
    const rows = [];
    const before = driver.residentMb();
    for (const [name, ask] of [
      ["reads", () => call("block.read", { block_id: small })],
      ["writes", () => call("block.append", { block_id: small, text: "x", wait: true })],
    ] as const) {
      const { outcome: seen, peakMb } = await driver.peakMb(
        flood(order, 15, { pid: driver.server.pid, call: ask }),
      );
      const { idle, elsewhere, flooded, overMs } = seen;
      for (const [what, times] of Object.entries({ idle, elsewhere, flooded }))
        tell(`the owner ${name}, ${what}: ${JSON.stringify(times)}`);
      tell(`answers: ${JSON.stringify(seen.outcome.answers)}`);
      rows.push(
        { rule: "AC230", figure: `owner ${name}: idle p99 ms`, value: idle.p99Ms },
        { rule: "AC230", figure: `owner ${name}: flooded p99 ms`, value: flooded.p99Ms },
        {
          rule: "AC230",
          figure: `owner ${name}: p99 against idle`,
          value: flooded.p99Ms / idle.p99Ms,
          target: { max: 3 },
        },
        {
          rule: "AC230",
          figure: `owner ${name}: p99 of the server's work against idle`,
          value: flooded.workP99Ms / idle.workP99Ms,
        },
        {
          rule: "AC230",
          figure: `owner ${name}: p99 against a flood elsewhere`,
          value: flooded.p99Ms / elsewhere.p99Ms,
        },
        {
          rule: "AC230",
          figure: `owner ${name}: longest call s`,
          value: flooded.maxMs / 1_000,
          target: { max: 1 },
        },
        { rule: "AC230", figure: "as before after s", value: overMs / 1_000, target: { max: 5 } },
        { rule: "AC230", figure: "most memory MB", value: peakMb, target: { max: before + 1_024 } },
      );
    }
    return rows;
  },
};

function ownerOf(driver: Driver) {
  const headers = { authorization: `Bearer ${driver.blockyard.token}` };
  return {
    auth: new Auth(driver.home, "owner", () => performance.now()),
    async call(tool: string, input: unknown): Promise<Record<string, unknown>> {
      const url = `${driver.blockyard.url}/v1/tools/${tool}`;
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(input) });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(JSON.stringify(answer));
      return answer;
    },
  };
}
