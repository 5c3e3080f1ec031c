/** Modes: which are offered, and which a conversation keeps. */
import { type Block, type BlockId, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { STREAM } from "./agents.ts";
import type { Driver } from "./driver.ts";
import type { Mode } from "./mode.ts";
import type { TurnStart } from "./run.ts";
import { Turns } from "./turns.ts";

/** A turn that continues: the mode that its agent reports, and its end. */
interface Held {
  mode: Mode | undefined;
  readonly over: Promise<void>;
  /** The block in which it asks. */
  asking?: BlockId;
}

const ALL: readonly Mode[] = ["plan", "ask", "edits", "full"];

async function harness(fullAccess: boolean, after?: Mode, held?: Held, modes = ALL) {
  const told: Mode[] = [];
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const starts: TurnStart[] = [];
  const driver: Driver = {
    ...{ provider: "any", abilities: { ...STREAM, modes } },
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
        asks: () => held?.asking,
        answer: () => undefined,
        setMode: async (mode) => {
          told.push(mode);
          return undefined;
        },
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
  return { kernel, turns, turn, starts, conversation, told };
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

it.each<[readonly Mode[], string]>([
  [["plan", "ask"], "any has no mode full. Use plan or ask"],
  [[], "any does not let you choose a mode: leave it out"],
])(
  "[D63] an agent with the modes %j says so if full access is requested, on any server",
  async (modes, message) => {
    for (const fullAccess of [false, true]) {
      const { turn, starts } = await harness(fullAccess, undefined, undefined, modes);
      expect(await turn("full")).toMatchObject({ problem: "invalid", message, details: { modes } });
      expect(starts).toEqual([]);
    }
  },
);

it("[D65] an effort for an agent without one is refused before anything is written", async () => {
  const { turn, starts } = await harness(false);
  expect(await turn("ask", { effort: "high" })).toMatchObject({
    problem: "invalid",
    message: "any does not let you choose an effort: leave it out",
  });
  expect(starts).toEqual([]);
});

it("[D63] a conversation keeps its mode, and one that is no longer allowed becomes asking", async () => {
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

it.each([
  ["edits", "plan", "plan"],
  ["edits", "edits", "edits"],
  ["plan", "edits", "plan"],
  ["ask", "edits", "ask"],
  ["edits", "ask", "ask"],
  ["ask", undefined, undefined],
  ["edits", undefined, "edits"],
] as const)(
  "[D63] [AC319] an agent that ends in %s, where the owner had chosen %s, leaves %s",
  async (own, chosen, left) => {
    const { turn, starts } = await harness(false, own);
    await turn(chosen);
    await turn();
    expect(starts.map(({ request }) => request.mode)).toEqual([chosen, left]);
  },
);

/** A turn that continues, in which the agent reports its modes. */
async function saying(chosen: Mode | undefined, first: Mode) {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const held: Held = { mode: first, over };
  const { kernel, turns, turn, conversation, told } = await harness(false, undefined, held);
  const done = turn(chosen);
  const kept = async () => {
    await new Promise((next) => setImmediate(next));
    const read = await kernel.conversation(conversation);
    return "metadata" in read ? read.metadata.mode : read;
  };
  const says = async (mode: Mode) => {
    held.mode = mode;
    const said = { kind: "text", role: "model", text: mode } as const;
    await kernel.write(conversation, { agent: "any", plan: (draft) => draft.create(said) });
    return kept();
  };
  const answers = async (ask: object, given: object) => {
    const metadata = {
      toolUseId: "u",
      toolName: "T",
      ask: { id: "a1", state: "asked", title: "May I?", ...ask },
    } as never;
    const asking = (await kernel.write(conversation, {
      agent: "any",
      plan: (draft) => draft.create({ kind: "tool_call", role: "model", text: "{}", metadata }),
    })) as Block;
    held.asking = asking.id;
    expect(await turns.answer("root", asking.id, "a1", { allow: true, ...given })).toHaveProperty("state");
  };
  const close = () => {
    end();
    return done;
  };
  return { says, answers, close, told };
}

it("[D63] [AC319] it is so at once, during the turn, and not for what an earlier turn has left", async () => {
  const { says, close, told } = await saying("edits", "plan");
  const seen: unknown[] = [];
  for (const mode of ["plan", "edits", "ask", "full", "edits", "plan", "ask"] as const)
    seen.push(await says(mode));
  expect(seen).toEqual(["edits", "edits", "ask", "ask", "ask", "plan", "plan"]);
  // If it goes further than allowed, it is told to go back.
  expect(told).toEqual(["ask", "ask", "plan"]);
  await close();
});

const MODE = { id: "1", label: "Accept edits", scope: "conversation", native: { type: "setMode" } };
const RULE = { id: "2", label: "Allow `ls`", scope: "conversation", native: { type: "addRules" } };
it.each([
  ["a plan", { kind: "plan" }, {}, "edits"],
  ["a plan, asking before edits", { kind: "plan", suggestions: [{ ...MODE, id: "ask" }] }, "ask", "plan"],
  ["a call, with the mode", { kind: "permission", suggestions: [MODE] }, "1", "edits"],
  ["a call, with a rule", { kind: "permission", suggestions: [RULE] }, "2", "plan"],
  ["a call", { kind: "permission" }, {}, "plan"],
  ["a plan, which is refused", { kind: "plan" }, { allow: false }, "plan"],
])("[AC319] once the owner has allowed %s, an agent may edit or not", async (_, ask, chosen, left) => {
  const { says, answers, close, told } = await saying("plan", "plan");
  await says("plan");
  await answers(ask, typeof chosen === "string" ? { answer: { suggestion: chosen } } : chosen);
  expect(await says("edits")).toBe(left);
  expect(told).toEqual(left === "edits" ? [] : ["plan"]);
  await close();
});

it("[D63] an agent that reports full access does not give it to the conversation", async () => {
  for (const isOffered of [false, true]) {
    const { turn, starts } = await harness(isOffered, "full");
    await turn("plan");
    await turn();
    expect(starts.map(({ request }) => request.mode)).toEqual(["plan", "plan"]);
  }
});
