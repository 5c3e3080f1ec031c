/** Which commands of Codex go on in the background, by what it said in a recording. */
import { readFileSync } from "node:fs";
import { type JsonObject, problem } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Connection } from "./connection.ts";
import { CodexThread } from "./thread.ts";

interface Said {
  readonly dir: string;
  readonly line: string;
}

const FOLDER = new URL("../../../../../providers/fixtures/codex-app-server/", import.meta.url);

/** What Codex tells of, and what then runs in the background: each time that one of the two changes. */
async function seenIn(recording: string): Promise<readonly string[]> {
  const said = readFileSync(new URL(recording, FOLDER), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said)
    .filter(({ dir }) => dir === "out")
    .map(({ line }) => JSON.parse(line) as JsonObject);
  // Codex lists every process that lives, whether the model waits for it or not.
  const alive = new Map<string, string>();
  const request = async () => ({
    data: [...alive].map(([itemId, command]) => ({ itemId, processId: itemId, command })),
  });
  const thread = new CodexThread(() => ({ request }) as Pick<Connection, "request"> as Connection);
  const seen: string[] = [];
  for (const { method, params } of said) {
    if (typeof method !== "string") continue;
    const { threadId, item } = params as { threadId?: string; item?: JsonObject };
    if (method === "turn/started") thread.id = String(threadId);
    if (item?.["type"] === "commandExecution") {
      if (method === "item/started") alive.set(String(item["id"]), String(item["command"]));
      else alive.delete(String(item["id"]));
    }
    thread.notified(method, params as JsonObject);
    if (alive.size === 0 || /delta|rateLimits|status|summaryPart/i.test(method)) continue;
    const tasks = (await thread.tasks()).map(({ description }) => description);
    const now = `${method}${item === undefined ? "" : ` ${item["type"]}`}: ${tasks.join()}`;
    if (now !== seen.at(-1)) seen.push(now);
  }
  return seen;
}

it("[CM16] a command is in the background once the model says something without it, and not before", async () => {
  const up = "/bin/bash -lc 'echo up; sleep 300'";
  expect((await seenIn("background-terminals.jsonl")).slice(0, 4)).toEqual([
    "item/started commandExecution: ",
    "thread/tokenUsage/updated: ",
    `item/started agentMessage: ${up}`,
    `item/completed agentMessage: ${up}`,
  ]);
});

it("[CM16] a command that the model asks about again, or thinks about, is not in the background until the model does something else", async () => {
  const ticks = "/bin/bash -lc 'for i in 1 2 3 4 5 6 7 8 9; do echo tick $i; sleep 1; done'";
  expect(await seenIn("background-polled.jsonl")).toEqual([
    "item/started commandExecution: ",
    "thread/tokenUsage/updated: ",
    "item/commandExecution/terminalInteraction: ",
    "thread/tokenUsage/updated: ",
    "item/started reasoning: ",
    "item/completed reasoning: ",
    `item/started commandExecution: ${ticks}`,
    `item/completed commandExecution: ${ticks}`,
    `thread/tokenUsage/updated: ${ticks}`,
    `item/started agentMessage: ${ticks}`,
    `item/completed agentMessage: ${ticks}`,
    `thread/tokenUsage/updated: ${ticks}`,
    `thread/readState/changed: ${ticks}`,
    `turn/completed: ${ticks}`,
  ]);
});

it("[D65] a model or an effort that Codex does not change during a turn is refused in words that say when it can be", async () => {
  const refused = problem("unavailable", "turn settings updates require the step_model_switching feature");
  const request = async () => refused;
  const thread = new CodexThread(() => ({ request }) as Pick<Connection, "request"> as unknown as Connection);
  thread.begun({ id: "1" });
  expect(await thread.update({ model: "gpt-5.4" })).toMatchObject({
    problem: "unavailable",
    message: "Codex changes its model and effort only between turns: choose them with the next message",
  });
});
