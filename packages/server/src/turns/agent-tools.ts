/**
 * The tools about agents: which there are, and what each can do here. The page and the command show what it says, so that nobody is
 * offered what an agent cannot do.
 */

import { ASK_KINDS, type Tool, tool } from "@blockyard/kernel";
import { z } from "zod";
import { MODES } from "./mode.ts";
import type { Turns } from "./turns.ts";

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
  return [list] as unknown as readonly Tool<never, unknown>[];
}
