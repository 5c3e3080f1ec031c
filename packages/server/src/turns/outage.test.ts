/**
 * Turns while the store is unavailable: the agent's output is held and written once when it is back, command output and
 * pictures too; nothing rejects unhandled. The outage ends after a number of refused calls, not after a time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  type Store,
  StoreError,
  type Turn,
} from "@blockyard/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, say } from "../../../../test/model/script.ts";
import { ModelServer } from "../../../../test/model/server.ts";
import { ProcessTracker } from "../processes/process-tracker.ts";
import { nodeEnv } from "../system/env.ts";
import { APIS, apiDriver } from "./api.ts";
import { Turns } from "./turns.ts";

let model: ModelServer;
let folder: string;
let tracker: ProcessTracker;
beforeEach(async () => {
  model = await ModelServer.start();
  folder = mkdtempSync(join(tmpdir(), "blockyard-outage-"));
  tracker = new ProcessTracker(join(folder, "home"));
});
afterEach(async () => {
  await model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const LONG = Array.from({ length: 2_000 }, (_, i) => `line ${i} of what the model says\n`).join("");
const REFUSED = 4;

type Lost = "request" | "answer";

class Outage {
  readonly inner = new MemoryStore("m");
  readonly faults: unknown[] = [];
  /** The call of this name, and how many of that name come before it. */
  begin: { readonly name: string; skip: number } | undefined;
  lost: Lost = "request";
  refused = 0;
  #left = 0;

  readonly store: Store = new Proxy(this.inner, {
    get: (inner, name: keyof MemoryStore) => {
      const value: unknown = inner[name];
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        const run = async () => (value as (...all: unknown[]) => unknown).apply(inner, given);
        const isFirst = this.#isBegin(name);
        if (this.#left === 0) return run();
        this.#left--;
        this.refused++;
        if (isFirst && this.lost === "answer") await run();
        throw new StoreError("io", "the connection was lost");
      };
    },
  }) as Store;

  #isBegin(name: string): boolean {
    if (this.begin?.name !== name || this.begin.skip-- > 0) return false;
    this.begin = undefined;
    this.#left = REFUSED;
    return true;
  }
}

async function open(outage: Outage) {
  const kernel = new Kernel(nodeEnv, outage.store);
  kernel.onFault = (error) => outage.faults.push(error);
  const options = {
    kernel,
    root: folder,
    home: join(folder, "home"),
    env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url, PATH: process.env["PATH"] },
    tracker,
    matcher: inlineMatcher(() => performance.now()),
    schemas: () => [],
    call: async () => null,
    onFault: (_: string, error: unknown) => outage.faults.push(error),
  };
  const turns = new Turns({ kernel, drivers: APIS.map((api) => apiDriver(api, options)) });
  const conversation = await kernel.createConversation("ann", "t");
  if (isProblem(conversation)) throw new Error(conversation.message);
  return { kernel, turns, conversation };
}

async function ended(kernel: Kernel): Promise<Turn> {
  return new Promise((resolve) => {
    const stop = kernel.listen(({ ops }) => {
      for (const { body } of ops) {
        if (body.type !== "turn" || body.turn.status === "running") continue;
        stop();
        resolve(body.turn);
      }
    });
  });
}

const ROWS: readonly { readonly name: string; readonly skip: number; readonly lost: Lost }[] = [
  { name: "commit", skip: 3, lost: "request" },
  { name: "commit", skip: 3, lost: "answer" },
  { name: "appendRaw", skip: 0, lost: "answer" },
  { name: "appendRaw", skip: 1, lost: "answer" },
  { name: "blocks", skip: 0, lost: "request" },
  { name: "turns", skip: 1, lost: "request" },
];

describe("[L63] an outage in the middle of a turn of the loop", () => {
  it.each(ROWS)(
    "at $name $skip, the $lost lost: the turn is whole, and its output is there once",
    async (row) => {
      const outage = new Outage();
      const { kernel, turns, conversation } = await open(outage);
      model.play([
        { parts: [{ text: LONG }, call("bash", { command: "seq 1 2000" })], deltaChars: 200 },
        say("Done."),
      ]);
      outage.begin = { name: row.name, skip: row.skip };
      outage.lost = row.lost;
      const over = ended(kernel);
      await turns.start("ann", { conversation, provider: "anthropic", prompt: "Go", allow: ["bash"] });
      expect(await over).toMatchObject({ status: "done" });
      await turns.close();
      const isReached = outage.begin === undefined;
      if (isReached) expect(outage.refused).toBeGreaterThan(0);
      expect(outage.faults).toEqual([]);
      const blocks = await outage.inner.blocks({ conversation, order: "first", limit: 100 });
      const texts = await Promise.all(blocks.map(({ id }) => outage.inner.text(id)));
      expect(texts.filter((text) => text === LONG)).toHaveLength(1);
      expect(texts.filter((text) => text.startsWith("1\n2\n3\n") && text.includes("2000"))).toHaveLength(1);
      expect(blocks.map(({ status }) => status)).toEqual(blocks.map(() => "done"));
      const [run = ""] = await outage.inner.rawRuns(conversation);
      const raw = Buffer.from(await outage.inner.raw({ conversation, run })).toString();
      expect(raw.split('"type":"message_start"')).toHaveLength(3);
      expect(raw.split("line 1999 of").length + raw.split("message_stop").length).toBeGreaterThan(3);
      expect(
        new Set(
          raw
            .trimEnd()
            .split("\n")
            .filter((line) => line.includes("message_stop")),
        ).size,
      ).toBe(1);
    },
  );
});
