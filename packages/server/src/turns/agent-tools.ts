/**
 * The tools about agents: which there are, and what each can do here. The page and the command show what it says, so that nobody is
 * offered what an agent cannot do.
 */

import {
  ASK_KINDS,
  type Call,
  isProblem,
  type JsonObject,
  type Problem,
  problem,
  type Tool,
  tool,
} from "@blockyard/kernel";
import { z } from "zod";
import { MODES, type Mode } from "./mode.ts";
import type { Turns } from "./turns.ts";

const conversation = z.string().min(1).max(80).describe("Conversation id");

const abilities = z.object({
  resumes: z.boolean(),
  staysAlive: z.boolean(),
  asks: z.array(z.enum(ASK_KINDS)).readonly(),
  rules: z.boolean(),
  modes: z.array(z.enum(MODES)).readonly(),
  steering: z.enum(["step", "turn"]),
  midTurn: z.array(z.enum(["mode", "model"])).readonly(),
  stopsTasks: z.boolean(),
  commands: z.boolean(),
  models: z.boolean(),
  usage: z.boolean(),
});

export function agentTools(turns: Turns): readonly Tool<never, unknown>[] {
  const list = tool({
    name: "agent.list",
    description:
      "The agents that turns can be asked of, and what each can do here: what it asks, its modes, whether a message reaches it while " +
      "it works, what it tells of itself. problem: why it cannot run here, and what to do.",
    access: "read",
    input: z.strictObject({}),
    output: z.object({
      agents: z.array(z.object({ provider: z.string(), abilities, problem: z.string().optional() })),
    }),
    async run() {
      const agents = turns.list().map(({ provider, abilities, problem }) => ({
        ...{ provider, abilities },
        ...(problem === undefined ? {} : { problem }),
      }));
      return { agents };
    },
  });
  const offers = tool({
    name: "agent.offers",
    description:
      "What the agent of a conversation tells of itself while it runs: mode, model, slash commands, models, how much of its context " +
      "is used, and what it runs in the background.",
    access: "owner",
    input: z.strictObject({ conversation }),
    output: z.looseObject({}),
    async run(call: Call, input) {
      const record = await call.kernel.conversation(input.conversation);
      if (isProblem(record)) return record;
      const offered = await turns.offers(
        input.conversation,
        record.provider ?? "",
        String(record.metadata["cwd"] ?? ""),
      );
      return isProblem(offered) ? offered : (JSON.parse(JSON.stringify(offered)) as JsonObject);
    },
  });

  const change = tool({
    name: "agent.change",
    description:
      "Change how the agent that works in a conversation goes on: its mode, its model, or end something that it runs in the background.",
    access: "owner",
    // What edits without asking is not asked for again.
    sensitive: () => true,
    input: z.strictObject({
      conversation,
      mode: z.enum(MODES).optional(),
      model: z.string().min(1).max(200).optional(),
      stop_task: z.string().min(1).max(200).optional().describe("A task, as agent.offers names it"),
    }),
    output: z.object({ changed: z.array(z.string()) }),
    run: (_call: Call, input) => changed(turns, input),
  });

  return [list, offers, change] as unknown as readonly Tool<never, unknown>[];
}

interface Change {
  readonly conversation: string;
  readonly mode?: Mode | undefined;
  readonly model?: string | undefined;
  readonly stop_task?: string | undefined;
}

async function changed(turns: Turns, { conversation, mode, model, stop_task: task }: Change) {
  const run = turns.runIn(conversation);
  if (!run) return problem("gone", "no agent works in this conversation");
  const allowed = turns.modesIn(conversation);
  if (mode !== undefined && !allowed.includes(mode))
    return problem("invalid", `this agent has no mode ${mode} here`, { modes: [...allowed] });
  const unable = problem("unavailable", "this agent cannot change that while it works");
  const done: string[] = [];
  const each: [string, (() => Promise<Problem | undefined>) | undefined][] = [
    ["mode", mode && run.setMode ? () => run.setMode?.(mode) ?? Promise.resolve(unable) : undefined],
    ["model", model && run.setModel ? () => run.setModel?.(model) ?? Promise.resolve(unable) : undefined],
    ["stop_task", task && run.stopTask ? () => run.stopTask?.(task) ?? Promise.resolve(unable) : undefined],
  ];
  const asked = { mode, model, stop_task: task };
  for (const [name, change] of each) {
    if (asked[name as keyof typeof asked] === undefined) continue;
    const refused = change === undefined ? unable : await change();
    if (refused) return refused;
    done.push(name);
  }
  return { changed: done };
}
