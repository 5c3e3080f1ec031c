/** What was chosen for a turn, at its start or while it was running, once its server is gone. */
import { type Call, isProblem, type JsonObject, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { must } from "../testing/session-harness.ts";
import { agentTools } from "./agent-tools.ts";
import { Answering } from "./answering.ts";
import { openTurn } from "./open-turn.ts";
import type { TurnRequest } from "./run.ts";
import type { Turns } from "./turns.ts";

it("[D62] an answer after a restart continues with the model, the effort and the sandbox of the turn", async () => {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = must(await kernel.createConversation("ann", ""));
  const asked: TurnRequest[] = [];
  const answering = new Answering({
    ...{ kernel, rules: undefined, liveIn: () => undefined },
    start: async (_by, request) => void asked.push(request),
  });
  const run = { setModel: async () => undefined, setEffort: async () => undefined };
  let live: object | undefined;
  const turns = { liveIn: () => live, driverIn: () => undefined } as unknown as Turns;
  const change = agentTools(turns, "/").find(({ name }) => name === "agent.change");
  const caller = { agent: "ann" };
  /** A turn of Opus that asks, in which something is chosen before its server goes away. */
  const answer = async (turn: string, asks: Partial<TurnRequest>, chosen: object | undefined) => {
    const call = must(
      await kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => {
          const ask = { id: turn, kind: "permission", state: "expired", input: { command: "ls" } };
          const metadata = { turn, toolUseId: turn, toolName: "Bash", ask: ask as JsonObject };
          const made = draft.create({
            ...{ kind: "tool_call", role: "model", status: "error", text: "" },
            metadata,
          } as const);
          if (isProblem(made)) return made;
          const request = { conversation, provider: "claude", prompt: "Go", ...asks };
          const opened = openTurn(draft, { id: turn, request }, undefined, undefined, new Map());
          if (isProblem(opened)) return opened;
          // As the agent reports it.
          const begun = draft.turn(turn);
          if (begun) draft.setTurn({ ...begun, model: "claude-opus-5-5" });
          return made.id;
        },
      }),
    );
    live = { run, start: { id: turn }, mode: { chosen: () => undefined } };
    for (const each of chosen === undefined ? [] : [chosen])
      must(
        (await change?.run({ kernel, caller } as unknown as Call, { conversation, ...each } as never)) ?? {},
      );
    live = undefined;
    await kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => {
        const now = draft.turn(turn);
        if (now) draft.setTurn({ ...now, status: "error", reason: "interrupted" });
        return null;
      },
    });
    must(await answering.answer("ann", call, turn, { allow: true }));
    return asked.at(-1);
  };
  expect(await answer("t1", {}, { model: "sonnet", effort: "high" })).toMatchObject({
    ...{ model: "sonnet", effort: "high" },
  });
  // It was for that turn.
  const next = await answer("t2", {}, undefined);
  expect(next).toMatchObject({ model: "claude-opus-5-5" });
  expect(next).not.toHaveProperty("effort");
  const chosen = { model: "opus[1m]", effort: "high", sandbox: "read-only" } as const;
  expect(await answer("t3", chosen, undefined)).toMatchObject(chosen);
  expect(await answer("t4", chosen, { effort: "low" })).toMatchObject({ ...chosen, effort: "low" });
  // Without bounds only by a choice of now.
  expect(await answer("t5", { sandbox: "danger-full-access" }, undefined)).not.toHaveProperty("sandbox");
});
