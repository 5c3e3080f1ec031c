/** Which commands of Codex go on in the background, by what it said in a recording. */
import { readFileSync } from "node:fs";
import type { JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Connection } from "./connection.ts";
import { CodexThread } from "./thread.ts";

interface Said {
  readonly dir: string;
  readonly line: string;
}

const RECORDING = new URL(
  "../../../../../providers/fixtures/codex-app-server/background-terminals.jsonl",
  import.meta.url,
);

it("[CM16] a command is in the background once the model has gone on without it, and not before", async () => {
  const said = readFileSync(RECORDING, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said)
    .filter(({ dir }) => dir === "out")
    .map(({ line }) => JSON.parse(line) as JsonObject);
  // Codex lists every process that lives, whether the model waits for it or not.
  const alive = new Map<string, string>();
  const request = async () => ({
    data: [...alive].map(([itemId, processId]) => ({ itemId, processId, command: processId })),
  });
  const thread = new CodexThread(() => ({ request }) as Pick<Connection, "request"> as Connection);
  const seen: string[] = [];
  for (const { method, params } of said) {
    if (typeof method !== "string") continue;
    const { threadId, item } = params as { threadId?: string; item?: JsonObject };
    if (method === "turn/started") thread.id = String(threadId);
    if (item?.["type"] === "commandExecution") {
      const [id, process] = [String(item["id"]), String(item["processId"])];
      if (method === "item/started") alive.set(id, process);
      else alive.delete(id);
    }
    thread.notified(method, params as JsonObject);
    const now = `${method} ${(await thread.tasks()).map(({ id }) => id).join()}`;
    if (alive.size > 0 && seen.length < 4) seen.push(now);
  }
  expect(seen).toEqual([
    "item/started ",
    "thread/tokenUsage/updated 25286",
    "account/rateLimits/updated 25286",
    "item/started 25286",
  ]);
  expect(await thread.tasks()).toEqual([]);
});
