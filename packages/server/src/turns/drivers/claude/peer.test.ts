/** Who receives the output of a Claude Code process, from one turn to the next: everything, in order, once. */
import { setImmediate as soon } from "node:timers/promises";
import { type BlockEvent, isProblem, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { type Provider, providers, trafficLine } from "@blockyard/providers";
import { expect, it } from "vitest";
import { StreamIngest } from "../../../ingest/ingest-stream.ts";
import type { Child } from "../../../processes/child.ts";
import { nodeEnv } from "../../../system/env.ts";
import { ClaudePeer, type PeerListener } from "./peer.ts";
import { ClaudeRest } from "./rest.ts";

/** A process that prints a test's lines. */
class Process {
  readonly #lines: string[] = [];
  readonly peer: ClaudePeer;

  constructor() {
    const lines = this.#lines;
    const child = {
      ended: new Promise(() => undefined),
      kill: () => undefined,
      write: () => undefined,
      async *output() {
        for (;;) {
          const line = lines.shift();
          if (line === undefined) await soon();
          else yield Buffer.from(`${line}\n`);
        }
      },
    } as unknown as Child;
    this.peer = new ClaudePeer(new VirtualEnv(1), child, "/", undefined);
  }

  /** Until no more output comes. */
  async says(...lines: readonly object[]): Promise<void> {
    this.#lines.push(...lines.map((line) => JSON.stringify(line)));
    for (let n = 0; n < 10; n++) await soon();
  }
}

const said = (words: string) => ({ type: "assistant", words });
const status = (words: string) => ({ type: "system", subtype: "status", words });

/** Processes each line slowly, as one that waits for the store does. */
function listener(told: string[], then: (words: string) => void = () => undefined): PeerListener {
  return {
    heard: async (_, message) => {
      await soon();
      told.push(String(message?.["words"]));
      then(String(message?.["words"]));
      await soon();
      return true;
    },
    sent: () => undefined,
    closed: () => undefined,
  };
}

it("[D97] a turn gets earlier output, and what arrives during that, in order", async () => {
  const process = new Process();
  await process.says(said("one"), said("two"));
  const told: string[] = [];
  const caughtUp = process.peer.listen(
    listener(told, (words) => words === "one" && void process.says(said("three"))),
  );
  await caughtUp;
  await process.says(said("four"));
  expect(told).toEqual(["one", "two", "three", "four"]);
});

it("[D97] output after the end of a turn is not that turn's, even if it arrived before the turn began", async () => {
  const process = new Process();
  await process.says(said("one"), said("the end"), said("two"));
  const [first, second]: string[][] = [[], []];
  await process.peer.listen(listener(first ?? [], (words) => words === "the end" && process.peer.leave()));
  await process.says(said("three"));
  await process.peer.listen(listener(second ?? []));
  expect([first, second]).toEqual([
    ["one", "the end"],
    ["two", "three"],
  ]);
});

it("[D97] output between the end of a turn and the beginning of its wait wakes it", async () => {
  const process = new Process();
  let wakes = 0;
  await process.says(status("quiet"), said("one"), said("two"));
  const rest = new ClaudeRest({
    ...{ peer: process.peer, stream: undefined, now: () => 0 },
    onWake: () => wakes++,
    onTasks: () => undefined,
  });
  process.peer.waits(rest);
  await process.says(said("three"));
  expect([wakes, rest.isAwake, process.peer.isBusy]).toEqual([1, true, true]);
  expect(await process.peer.wakes()).toBeUndefined();
  const told: string[] = [];
  await process.peer.listen(listener(told));
  expect(told).toEqual(["quiet", "one", "two", "three"]);
});

/** A store that is slow when a test says so. */
class SlowStore extends MemoryStore {
  gate: Promise<void> = Promise.resolve();
  override async commit(...given: Parameters<MemoryStore["commit"]>): ReturnType<MemoryStore["commit"]> {
    await this.gate;
    return super.commit(...given);
  }
}

it("[D97] a turn goes on with what the one before has left when that is written", async () => {
  const process = new Process();
  const store = new SlowStore("m");
  const kernel = new Kernel(nodeEnv, store);
  const conversation = (await kernel.createConversation("ann", "x")) as string;
  const seen: BlockEvent[] = [];
  const make = (after?: StreamIngest) =>
    new StreamIngest(kernel, {
      ...{ conversation, agent: "claude", after, onEvent: (event) => void seen.push(event) },
      provider: providers.get("claude-control") as Provider,
    });
  const first = make();
  await first.open();
  const line = (value: object) => Buffer.from(`${trafficLine("out", JSON.stringify(value), 0)}\n`);
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t" };
  await first.push(line({ type: "control_request", request_id: "r", request }));
  expect([await first.leave(), first.hasOpen]).toEqual([undefined, true]);
  process.peer.stream = first;
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const content = [{ type: "tool_result", tool_use_id: "t", content: "x" }];
  await first.push(line({ type: "user", message: { role: "user", content } }));
  const woken = process.peer.wakes();
  setTimeout(gate.resolve, 20);
  expect(await woken).toBeUndefined();
  const second = make(process.peer.takeStream());
  expect([second.hasOpen, process.peer.takeStream()]).toEqual([false, undefined]);
  const blocks = await kernel.allBlocks(conversation);
  expect(isProblem(blocks) ? blocks : blocks.filter(({ status: is }) => is === "running")).toEqual([]);
});
