/**
 * The tools of a turn's life: start, stop, list, answer. They stand in the same table as the kernel's.
 */

import {
  type Call,
  isProblem,
  type Problem,
  problem,
  type Tool,
  tool,
  turnSchema,
  turnView,
} from "@blockyard/kernel";
import { z } from "zod";
import { ALLOWANCES } from "../access/allowance.ts";
import { folderFor, isInside } from "../processes/folder.ts";
import { agentTools } from "./agent-tools.ts";
import { answerTool } from "./answer-tool.ts";
import { attachmentsField } from "./attachments.ts";
import { WHENS } from "./message.ts";
import { MODES } from "./mode.ts";
import type { TurnRequest } from "./run.ts";
import type { Turns } from "./turns.ts";

const folderField = z.string().min(1).max(4_096);
const conversation = z.string().min(1).max(80).describe("Conversation id");

const started = z.object({
  turn: z.string(),
  queued: z.boolean(),
  block_id: z.string(),
  conversation: z.string(),
  cwd: z.string(),
});

/** `root`: the folder that the server serves. */
export function turnTools(turns: Turns, root: string): readonly Tool<never, unknown>[] {
  const start = tool({
    name: "turn.start",
    description:
      "Ask an agent to go on in a conversation: it gets the prompt, works in the conversation's folder, and its blocks appear " +
      "in the conversation. While a turn runs, the message waits its turn.",
    access: "owner",
    carriesText: true,
    // What it allows is not asked for again.
    sensitive: (input) => allowsAnything(input),
    input: z.strictObject({
      conversation: conversation
        .optional()
        .describe("Conversation id. Without it a new one is made, with the turn or not at all"),
      title: z.string().max(300).optional().describe("Of a new conversation"),
      provider: z.enum(turns.providers as [string, ...string[]]),
      prompt: z.string().min(1).max(1_000_000),
      model: z.string().min(1).max(200).optional(),
      parent_id: z
        .string()
        .max(200)
        .optional()
        .describe("Go on from this block instead of the conversation's head"),
      fresh: z
        .boolean()
        .optional()
        .describe(
          "Start anew: the agent is told nothing of the conversation but what is included. Default: it knows all of it",
        ),
      allow: z
        .array(z.enum(ALLOWANCES))
        .max(ALLOWANCES.length)
        .optional()
        .describe("What the built-in tools of anthropic and openai may do in this turn without asking"),
      attachments: attachmentsField.optional(),
      when: z
        .enum(WHENS)
        .optional()
        .describe(
          "While a turn runs: now cuts off what the agent does, next reaches it at its next step, later (the default) waits for the end of the turn",
        ),
      mode: z
        .enum(MODES)
        .optional()
        .describe(
          "plan first, ask before changes, edits without asking, or full access; the agent's own by default",
        ),
      cwd: folderField
        .optional()
        .describe("Work in this folder, a whole path, and from now on in this conversation"),
      default_cwd: folderField
        .optional()
        .describe(
          "Where the conversation has no folder yet: work in this one, if it is inside the served folder",
        ),
    }),
    output: started,
    run: (call: Call, input) => begin(turns, root, call, input),
  });

  const stop = tool({
    name: "turn.stop",
    description:
      "Stop the turn that runs in a conversation. Messages that wait behind it are not sent: they are held until turn.release " +
      "sends them, or dropped with queued. With turn, only that one: stopped if it runs, dropped if it waits.",
    access: "owner",
    input: z.strictObject({
      conversation,
      queued: z.boolean().default(false),
      turn: z.string().max(100).optional().describe("As turn.start answered"),
    }),
    output: z.object({ stopped: z.number(), dropped: z.number(), held: z.number() }),
    async run(call: Call, input) {
      return turns.stop(call.caller.agent, input.conversation, input.queued, input.turn);
    },
  });

  const release = tool({
    name: "turn.release",
    description:
      "Send messages that are held in a conversation, because the turn before them was stopped or the server was restarted: " +
      "at once, or when what runs has ended. With turn, only that one.",
    access: "owner",
    input: z.strictObject({
      conversation,
      turn: z.string().max(100).optional().describe("As turn.start answered"),
    }),
    output: z.object({ sent: z.number() }),
    async run(call: Call, input) {
      return turns.release(call.caller.agent, input.conversation, input.turn);
    },
  });

  const list = tool({
    name: "turn.list",
    description: "The turns of a conversation with their usage, cost and end.",
    access: "read",
    input: z.strictObject({ conversation }),
    output: z.object({ turns: z.array(turnSchema) }),
    async run(call: Call, input) {
      const known = await call.kernel.conversation(input.conversation);
      if (isProblem(known)) return known;
      const turns = await call.kernel.turns(input.conversation);
      return isProblem(turns) ? turns : { turns: turns.map(turnView) };
    },
  });

  return [start, stop, release, list, answerTool(turns), ...agentTools(turns)] as unknown as readonly Tool<
    never,
    unknown
  >[];
}

function allowsAnything(input: unknown): boolean {
  const { allow, mode } = (input ?? {}) as { readonly allow?: unknown; readonly mode?: unknown };
  return (Array.isArray(allow) && allow.length > 0) || mode === "edits" || mode === "full";
}

type Asked = Pick<TurnRequest, "provider" | "prompt"> & {
  readonly [K in "model" | "fresh" | "allow" | "attachments" | "cwd" | "when" | "mode"]?:
    | TurnRequest[K]
    | undefined;
};

interface StartInput extends Asked {
  readonly conversation?: string | undefined;
  readonly title?: string | undefined;
  readonly parent_id?: string | undefined;
  readonly default_cwd?: string | undefined;
}

/** A conversation of its own is made when it is known that the turn can start. */
async function begin(turns: Turns, root: string, { caller, kernel }: Call, input: StartInput) {
  const { parent_id: parent, conversation: known, title, default_cwd: callers, ...request } = input;
  const record = known === undefined ? undefined : await kernel.conversation(known);
  if (isProblem(record)) return record;
  const own = record?.metadata["cwd"] as string | undefined;
  const wish = { chosen: input.cwd, own, callers, whose: "conversation" as const };
  const cwd = turnFolder(root, turns.folderOf(input.provider), folderFor(root, wish), input.provider);
  if (isProblem(cwd)) return cwd;
  const asked = { ...given(request), ...(parent ? { parent } : {}), cwd };
  const refused = known === undefined ? await turns.check({ ...asked, conversation: "" }) : undefined;
  if (refused) return refused;
  const conversation = known ?? (await kernel.createConversation(caller.agent, title ?? ""));
  if (isProblem(conversation)) return conversation;
  const made = await turns.start(caller.agent, { ...asked, conversation });
  if (isProblem(made)) return made;
  return { turn: made.turn, queued: made.queued, block_id: made.block, conversation, cwd };
}

/** `only`: what cannot work in every folder works in the served one, of which it sees all. */
function turnFolder(
  root: string,
  only: string | undefined,
  found: string | Problem,
  provider: string,
): string | Problem {
  if (only === undefined || isProblem(found)) return found;
  const served = folderFor(only, { whose: "conversation" });
  if (isProblem(served) || isInside(served, found)) return served;
  const fix = `start a server there (blockyard ${found}), or ask claude or codex`;
  return problem("unavailable", `${provider} works in ${root} only, which this server serves: ${fix}`, {
    root,
  });
}

/** Without the keys whose value is undefined. */
function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never;
}
