/** turn.end: how an agent's own turn ended, with its usage. Once; its open blocks end with it. */

import { z } from "zod";
import type { Turn } from "../model/conversation.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { endLeased, lastResults, openBlocksOf } from "../nodes/leased.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Draft } from "../write/draft.ts";
import { type Call, conversationField, tool, writer } from "./tool.ts";
import { turnSchema, turnView } from "./view.ts";

const tokens = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);
const name = z.string().min(1).max(200);

const input = z.strictObject({
  conversation: conversationField,
  turn: name.describe("As returned by turn.begin"),
  status: z.enum(["done", "error"]).optional().describe("Default: done, or error if error is set"),
  stop_reason: name.optional().describe("The provider's own: end_turn, max_tokens, …"),
  error: z.string().min(1).max(10_000).optional().describe("What went wrong"),
  model: name.optional(),
  usage: z
    .strictObject({
      input: tokens,
      cache_read: tokens,
      cache_write: tokens,
      output: tokens,
      reasoning: tokens,
    })
    .optional()
    .describe("Tokens of the whole turn"),
  cost_usd: z.number().min(0).max(1e9).optional(),
});

type Input = z.infer<typeof input>;

export const turnEnd = tool({
  name: "turn.end",
  description:
    "End a turn that you began with turn.begin: status, stop reason, tokens, cost. Its open blocks end " +
    "with it: as done if it is done, otherwise as an error with its reason. A tool call that is open ends as its result did, and as an error if it has none.",
  input,
  output: z.object({ turn: turnSchema, ended_blocks: z.number().int() }),
  access: "write",
  async run(call, given) {
    const { conversation, turn: id } = given;
    const blocks = await openBlocksOf(call.kernel, conversation, (turn) => turn === id);
    if (isProblem(blocks)) return blocks;
    const results = blocks.length === 0 ? undefined : await lastResults(call.kernel, conversation);
    if (isProblem(results)) return results;
    return call.kernel.write(conversation, {
      ...writer(call),
      plan: (draft) => {
        const turn = mayEnd(call, draft, given);
        if (isProblem(turn)) return turn;
        const { status, reason, ...rest } = endOf(given);
        const ended_blocks = endLeased(draft, turn, blocks, {
          status,
          reason,
          with: rest,
          ...(results ? { results } : {}),
        });
        return { turn: turnView(draft.turn(id) as Turn), ended_blocks };
      },
    });
  },
});

function mayEnd({ caller }: Call, draft: Draft, { conversation, turn: id }: Input): Turn | Problem {
  const turn = draft.turn(id);
  if (turn === undefined)
    return problem("not_found", `conversation ${conversation} has no turn ${id}`, { turn: id });
  if (turn.leased !== true)
    return problem("invalid", `turn ${id} is run by the server; turn.stop ends it`, { turn: id });
  if (turn.agent !== caller.agent && caller.role !== "owner")
    return problem("forbidden", `turn ${id} belongs to ${turn.agent}`, { turn: id, agent: turn.agent });
  if (turn.status === "running" || turn.lapsed === true) return turn;
  return problem("closed", `turn ${id} has already ended${turn.reason ? `: ${turn.reason}` : ""}`, {
    turn: id,
    status: turn.status,
  });
}

function endOf(given: Input): Pick<Turn, "status" | "reason"> & Partial<Turn> & { status: "done" | "error" } {
  const { stop_reason, error, model, usage, cost_usd } = given;
  const status = given.status ?? (error === undefined ? "done" : "error");
  return {
    status,
    ...(status === "error" ? { reason: "failed" } : {}),
    ...(stop_reason === undefined ? {} : { stopReason: cleanText(stop_reason) }),
    ...(error === undefined ? {} : { error: cleanText(error) }),
    ...(model === undefined ? {} : { model: cleanText(model) }),
    ...(cost_usd === undefined ? {} : { costUsd: cost_usd }),
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
  };
}

function usageOf({ input: read, cache_read, cache_write, output, reasoning }: NonNullable<Input["usage"]>) {
  return { input: read, cacheRead: cache_read, cacheWrite: cache_write, output, reasoning };
}
