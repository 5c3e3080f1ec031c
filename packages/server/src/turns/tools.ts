/** The tools for turns: start, stop, list, answer. They are in the same table as the kernel's tools. */

import {
  type AgentId,
  type BlockId,
  type Call,
  type ConversationId,
  defined,
  isFromPrompt,
  isProblem,
  type Kernel,
  type Problem,
  problem,
  titleFrom,
  titlePatch,
  tool,
  turnView,
} from "@blockyard/kernel";
import { z } from "zod";
import { folderFor, isInside } from "../processes/folder.ts";
import { agentTools } from "./agent-tools.ts";
import { answerTool } from "./answer-tool.ts";
import { turnLater, turnList, turnMove, turnRelease, turnStart, turnStop } from "./contract.ts";
import { type Freedom, isFree, modeIn } from "./mode.ts";
import type { TurnRequest } from "./run.ts";
import { chosenIn } from "./switched.ts";
import type { Turns } from "./turns.ts";

/** `root`: the folder that the server serves. */
export function turnTools(turns: Turns, root: string) {
  const start = tool({
    name: turnStart.name,
    description:
      "Send a prompt to an agent in a conversation. The agent works in the conversation's folder, and its blocks appear " +
      "in the conversation. While a turn runs, the message is queued.",
    access: "owner",
    carriesText: true,
    // Allowed actions are not confirmed again.
    sensitive: (input, kernel) => isDoneUnasked(turns, kernel, input),
    input: turnStart.input.extend({ provider: z.enum(turns.providers as [string, ...string[]]) }),
    output: turnStart.output,
    run: (call: Call, input) => begin(turns, root, call, input),
  });

  const stop = tool({
    ...turnStop,
    description:
      "Stop the turn that runs in a conversation. Queued messages are not sent: they are held until turn.release " +
      "sends them, or dropped with queued. With turn, only that one: stopped if it is running, dropped if it is queued.",
    access: "owner",
    async run(call: Call, input) {
      return turns.stop(call.caller.agent, input.conversation, input.queued, input.turn);
    },
  });

  const release = tool({
    ...turnRelease,
    description:
      "Send messages that are held in a conversation because the previous turn was stopped or the server restarted: " +
      "at once, or when the running turn ends. With turn, only that one.",
    access: "owner",
    async run(call: Call, input) {
      return turns.release(call.caller.agent, input.conversation, input.turn);
    },
  });

  const later = tool({
    ...turnLater,
    description:
      "Continue a turn that stopped at a usage limit automatically when the limit resets (at, in milliseconds since 1970: see " +
      "resets_at in the error block's details), or cancel that with cancel. With neither, only tells when it continues (null: it does " +
      "not). Survives restarts; any other message there cancels it.",
    access: "owner",
    run: (call: Call, input) => goOnLater(turns, call, input),
  });

  const move = tool({
    ...turnMove,
    description: "Move a queued message up or down in its conversation's queue.",
    access: "owner",
    async run(call: Call, input) {
      return turns.move(call.caller.agent, input.conversation, input.turn, input.by);
    },
  });

  const list = tool({
    ...turnList,
    description: "List the turns of a conversation with their usage, cost and end.",
    access: "read",
    async run(call: Call, input) {
      const known = await call.kernel.conversation(input.conversation);
      if (isProblem(known)) return known;
      const turns = await call.kernel.turns(input.conversation);
      return isProblem(turns) ? turns : { turns: turns.map(turnView) };
    },
  });

  return [start, stop, release, later, move, list, answerTool(turns), ...agentTools(turns, root)] as const;
}

async function goOnLater(
  turns: Turns,
  { kernel, caller }: Call,
  { conversation, at, cancel }: { conversation: string; at?: number | undefined; cancel: boolean },
): Promise<{ at: number | null } | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const known = await kernel.turns(conversation);
  if (isProblem(known)) return known;
  if (turns.later === undefined) return problem("unavailable", "this server cannot schedule turns");
  if (cancel) {
    turns.later.drop(conversation);
    return { at: null };
  }
  if (at === undefined)
    return { at: turns.later.list().find((row) => row.conversation === conversation)?.at ?? null };
  const last = known.at(-1);
  if (last === undefined) return problem("invalid", "no turn has stopped in this conversation");
  const { cwd } = record.metadata;
  const refused = turns.later.set({
    ...{ conversation, provider: last.provider, at, by: caller.agent },
    ...(cwd === undefined ? {} : { cwd }),
    ...chosenIn(record.metadata, last),
  });
  return refused ?? { at };
}

/** Whether an agent may act on a message without asking: as it says itself, or as its conversation and what runs there have it. */
async function isDoneUnasked(turns: Turns, kernel: Kernel, input: unknown): Promise<boolean> {
  const { conversation, ...asked } = (input ?? {}) as Partial<Freedom> & { readonly conversation?: unknown };
  if (typeof conversation !== "string") return isFree(asked);
  const live = turns.liveIn(conversation);
  // It may be read by what runs.
  if (live !== undefined && isFree(live.start.request)) return true;
  const record = await kernel.conversation(conversation);
  const mode = asked.mode ?? (isProblem(record) ? undefined : modeIn(record.metadata));
  return isFree({ ...asked, mode });
}

type Asked = Pick<TurnRequest, "provider" | "prompt"> & {
  readonly [K in
    | "model"
    | "effort"
    | "fresh"
    | "allow"
    | "attachments"
    | "cwd"
    | "when"
    | "mode"
    | "sandbox"]?: TurnRequest[K] | undefined;
};

interface StartInput extends Asked {
  readonly conversation?: string | undefined;
  readonly title?: string | undefined;
  readonly parent_id?: string | null | undefined;
  readonly include?: readonly string[] | undefined;
  readonly default_cwd?: string | undefined;
  readonly goes_on?: boolean | undefined;
}

/** A new conversation is created only when the turn can start. */
async function begin(turns: Turns, root: string, { caller, kernel }: Call, input: StartInput) {
  const {
    parent_id: parent,
    conversation: known,
    title,
    default_cwd: callers,
    goes_on: goesOn,
    include = [],
    ...request
  } = input;
  const record = known === undefined ? undefined : await kernel.conversation(known);
  if (isProblem(record)) return record;
  const own = record?.metadata.cwd;
  const wish = { chosen: input.cwd, own, callers, whose: "conversation" as const };
  const cwd = turnFolder(root, turns.drivers.folderOf(input.provider), folderFor(root, wish), input.provider);
  if (isProblem(cwd)) return cwd;
  const asked = {
    ...defined(request),
    ...(parent === undefined ? {} : { parent }),
    ...(goesOn ? { goesOn } : {}),
    cwd,
  };
  const refused = known === undefined ? await turns.check({ ...asked, conversation: "" }) : undefined;
  if (refused) return refused;
  const conversation = known ?? (await kernel.createConversation(caller.agent, title ?? ""));
  if (isProblem(conversation)) return conversation;
  const unknown = await includeAll(kernel, caller.agent, conversation, include);
  if (unknown) return unknown;
  const unnamed = await entitle(kernel, caller.agent, conversation, input.prompt);
  if (unnamed) return unnamed;
  const made = await turns.start(caller.agent, { ...asked, conversation });
  if (isProblem(made)) return made;
  return { turn: made.turn, queued: made.queued, block_id: made.block, conversation, cwd };
}

async function includeAll(
  kernel: Kernel,
  agent: AgentId,
  conversation: ConversationId,
  ids: readonly BlockId[],
): Promise<Problem | undefined> {
  for (const id of ids) {
    const block = await kernel.block(id);
    if (isProblem(block)) return block;
  }
  if (ids.length === 0) return undefined;
  const written = await kernel.write(conversation, {
    agent,
    plan: (draft) => {
      for (const id of ids) if (!draft.record.included.includes(id)) draft.conversation({ include: id });
      return null;
    },
  });
  return isProblem(written) ? written : undefined;
}

/** An untitled conversation gets its first prompt as a title, until its agent has a better one. */
async function entitle(
  kernel: Call["kernel"],
  agent: string,
  conversation: string,
  prompt: string,
): Promise<Problem | undefined> {
  const written = await kernel.write(conversation, {
    agent,
    plan: (draft) => {
      const { title, metadata, turns } = draft.record;
      if (turns > 0) return null;
      const isPrompts = title === "" || (metadata.titled === undefined && isFromPrompt(title, prompt));
      const patch = isPrompts ? titlePatch({ title: "", metadata }, titleFrom(prompt), "prompt") : undefined;
      if (patch) draft.conversation(patch);
      return null;
    },
  });
  return isProblem(written) ? written : undefined;
}

/** `only`: an agent that cannot work in every folder works in the served one, and sees all of it. */
function turnFolder(
  root: string,
  only: string | undefined,
  found: string | Problem,
  provider: string,
): string | Problem {
  if (only === undefined || isProblem(found)) return found;
  const served = folderFor(only, { whose: "conversation" });
  if (isProblem(served) || isInside(served, found)) return served;
  const fix = `start a server there (blockyard ${found}), or use claude or codex`;
  return problem("unavailable", `${provider} works only in ${root}, the folder this server serves: ${fix}`, {
    root,
  });
}
