/** A queued message is sent later with the settings of its request. */
import { isProblem, MemoryStore } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { madeBlock } from "./made-block.ts";
import type { TurnRequest } from "./run.ts";
import { markOf, requestOf } from "./waiting.ts";

/** A new field of a request has to state here whether it is stored with its message. */
const FIELDS: { readonly [K in keyof Required<TurnRequest>]: Required<TurnRequest>[K] | undefined } = {
  conversation: "c",
  provider: "claude",
  prompt: "go on",
  author: "blockyard",
  model: "opus",
  parent: "c/ann/1",
  fresh: true,
  allow: ["write"],
  attachments: [{ type: "text", name: "a.txt", text: "hello" }],
  mode: "plan",
  sandbox: "read-only",
  effort: "high",
  goesOn: true,
  cwd: "/srv",
  // It says that the message is not queued, or how; later it does not apply.
  when: undefined,
};

it("[D15] a message that was held is sent with all that it was asked with, its mode too", async () => {
  const store = new MemoryStore("e");
  const asked = Object.fromEntries(
    Object.entries(FIELDS).filter(([, value]) => value !== undefined),
  ) as unknown as TurnRequest;
  const queued = await markOf(store, asked);
  const metadata = { notice: "queued", queued: JSON.parse(JSON.stringify({ ...queued, held: "stopped" })) };
  const block = { ...madeBlock("text", "", { role: "user", metadata }), conversation: "c" };
  const sent = await requestOf(store, block, asked.prompt);
  if (isProblem(sent)) throw new Error(sent.message);
  expect(sent).toEqual(asked);
});
