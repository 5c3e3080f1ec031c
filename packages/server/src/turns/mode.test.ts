/** Modes: which are offered, and which a conversation keeps. */
import { Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { STREAM } from "./agents.ts";
import type { Driver } from "./driver.ts";
import type { Mode } from "./mode.ts";
import type { TurnStart } from "./run.ts";
import { Turns } from "./turns.ts";

/** A turn that goes on: the mode that its agent says it has, and its end. */
interface Held {
  mode: Mode | undefined;
  readonly over: Promise<void>;
}

async function harness(fullAccess: boolean, after?: Mode, held?: Held) {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const starts: TurnStart[] = [];
  const driver: Driver = {
    ...{ provider: "any", abilities: { ...STREAM, modes: ["plan", "ask", "edits", "full"] } },
    check: () => undefined,
    start: async (start) => {
      starts.push(start);
      const ended = Promise.resolve(held?.over).then(() => ({ error: "over", isExpected: true }) as const);
      return {
        ended,
        get mode() {
          return held ? held.mode : after;
        },
        stop: () => undefined,
        kill: () => undefined,
        asks: () => undefined,
        answer: () => undefined,
      };
    },
  };
  const turns = new Turns({ kernel, drivers: [driver], fullAccess });
  const conversation = (await kernel.createConversation("root", "modes")) as string;
  const turn = async (mode?: Mode, more: { readonly effort?: string } = {}) => {
    const chosen = mode === undefined ? more : { mode, ...more };
    const request = { conversation, provider: "any", prompt: "x", ...chosen };
    const made = await turns.start("root", request);
    while (turns.running > 0) await new Promise((next) => setImmediate(next));
    return made;
  };
  return { kernel, turns, turn, starts, conversation };
}

it("[D63] full access is offered by a server that was started with it, and by no other", async () => {
  const closed = await harness(false);
  expect(closed.turns.drivers.list()[0]?.abilities.modes).toEqual(["plan", "ask", "edits"]);
  expect(await closed.turn("full")).toMatchObject({
    problem: "invalid",
    message: expect.stringContaining("--full-access"),
  });
  const open = await harness(true);
  expect(await open.turn("full")).toMatchObject({ queued: false });
  expect(open.starts[0]?.request.mode).toBe("full");
});

it("[D65] an effort for an agent that has none is refused before anything is written", async () => {
  const { turn, starts } = await harness(false);
  expect(await turn("ask", { effort: "high" })).toMatchObject({
    problem: "invalid",
    message: "any does not let you choose an effort: leave it out",
  });
  expect(starts).toEqual([]);
});

it("[D63] a conversation keeps its mode, and one that it may not have any more becomes asking", async () => {
  const { kernel, turn, starts, conversation } = await harness(false);
  await turn();
  await turn("plan");
  await turn();
  expect(starts.map(({ request }) => request.mode)).toEqual([undefined, "plan", "plan"]);
  await kernel.write(conversation, {
    agent: "root",
    plan: (draft) => {
      draft.conversation({ metadata: { mode: "full" } });
      return null;
    },
  });
  await turn();
  expect(starts.at(-1)?.request.mode).toBe("ask");
});

it("[D63] the mode into which an agent goes by itself is the conversation's", async () => {
  const { turn, starts } = await harness(false, "edits");
  await turn("plan");
  await turn();
  expect(starts.map(({ request }) => request.mode)).toEqual(["plan", "edits"]);
});

it("[D63] it is so at once, while the turn goes on, and not for what an earlier turn has left", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const held: Held = { mode: "edits", over };
  const { kernel, turn, conversation } = await harness(false, undefined, held);
  const done = turn("plan");
  const says = async (mode: Mode) => {
    held.mode = mode;
    const said = { kind: "text", role: "model", text: mode } as const;
    await kernel.write(conversation, { agent: "any", plan: (draft) => draft.create(said) });
    await new Promise((next) => setImmediate(next));
    const read = await kernel.conversation(conversation);
    return "metadata" in read ? read.metadata.mode : read;
  };
  const seen: unknown[] = [];
  for (const mode of ["edits", "plan", "ask", "full", "edits"] as const) seen.push(await says(mode));
  expect(seen).toEqual(["plan", "plan", "ask", "ask", "edits"]);
  end();
  await done;
});

it("[D63] an agent that says it has full access does not give it to the conversation", async () => {
  for (const isOffered of [false, true]) {
    const { turn, starts } = await harness(isOffered, "full");
    await turn("plan");
    await turn();
    expect(starts.map(({ request }) => request.mode)).toEqual(["plan", "plan"]);
  }
});
