/**
 * What the tools of turns and agents take and answer. Schemas only, and nothing of Node: programs that call them see these types.
 */

import {
  ASK_KINDS,
  blockIdField,
  contract,
  conversationField,
  snapshotSchema,
  turnSchema,
} from "@blockyard/kernel";
import { z } from "zod";
import { ALLOWANCES } from "../access/allowance.ts";
import { ATTACHED_FILE_CHARS, INCLUDED_BLOCKS, MAX_ATTACHMENTS } from "./limits.ts";
import { MODES, SANDBOXES } from "./mode.ts";
import { ruleList, ruleRemove, ruleSet } from "./rules/contract.ts";

/** When a message reaches an agent that works: cutting off what it does, at its next step, or after its turn. */
const WHENS = ["now", "next", "later"] as const;
export type When = (typeof WHENS)[number];

const folder = z.string().min(1).max(4_096);
const fileName = z.string().min(1).max(300).describe("File name");
const turn = z.string().max(100).optional().describe("As returned by turn.start");

const attachments = z
  .array(
    z.discriminatedUnion("type", [
      z.strictObject({
        type: z.literal("text"),
        name: fileName,
        text: z.string().min(1).max(ATTACHED_FILE_CHARS),
      }),
      z.strictObject({
        type: z.literal("image"),
        name: fileName,
        blob: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe("As returned by POST /v1/blobs"),
      }),
    ]),
  )
  .max(MAX_ATTACHMENTS)
  .describe("Files and pictures to send with the prompt");

export type Attachment = z.infer<typeof attachments>[number];

export const turnStart = contract({
  name: "turn.start",
  input: z.strictObject({
    conversation: conversationField
      .optional()
      .describe("Conversation id. Without it, a new conversation is created together with the turn"),
    title: z.string().max(300).optional().describe("Title of a new conversation"),
    provider: z.string().describe("As agent.list names it"),
    prompt: z.string().min(1).max(1_000_000),
    model: z.string().min(1).max(200).optional(),
    effort: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .describe("How hard the model thinks, as listed by agent.offers"),
    sandbox: z
      .enum(SANDBOXES)
      .optional()
      .describe(
        "How the agent confines its commands, if agent.list offers a choice. Default: set by the mode",
      ),
    parent_id: z
      .string()
      .max(200)
      .nullable()
      .optional()
      .describe(
        "Continue from this block instead of the conversation's head; null: start over, without a parent block",
      ),
    include: z
      .array(blockIdField)
      .max(INCLUDED_BLOCKS)
      .optional()
      .describe("Blocks from elsewhere, such as files, to include in the context from now on"),
    fresh: z
      .boolean()
      .optional()
      .describe(
        "Start fresh: share nothing of the conversation with the agent except included blocks. Default: share all of it",
      ),
    allow: z
      .array(z.enum(ALLOWANCES))
      .max(ALLOWANCES.length)
      .optional()
      .describe("What the built-in tools of anthropic and openai may do in this turn without approval"),
    attachments: attachments.optional(),
    when: z
      .enum(WHENS)
      .optional()
      .describe(
        "While a turn runs: now interrupts the agent, next delivers the message at its next step, later (the default) waits until the turn ends",
      ),
    mode: z
      .enum(MODES)
      .optional()
      .describe(
        "plan first, ask before changes, edit without asking, or full access. Default: the agent's own setting",
      ),
    goes_on: z
      .boolean()
      .optional()
      .describe("If it stops at the account's usage limit, continue by itself when the limit is reset"),
    cwd: folder.optional().describe("Work in this folder (absolute path), from now on in this conversation"),
    default_cwd: folder
      .optional()
      .describe("If the conversation has no folder yet: work in this one, if it is inside the served folder"),
  }),
  output: z.object({
    turn: z.string(),
    queued: z.boolean(),
    block_id: z.string(),
    conversation: z.string(),
    cwd: z.string(),
  }),
});

export const turnStop = contract({
  name: "turn.stop",
  input: z.strictObject({ conversation: conversationField, queued: z.boolean().default(false), turn }),
  output: z.object({ stopped: z.number(), dropped: z.number(), held: z.number() }),
});

export const turnRelease = contract({
  name: "turn.release",
  input: z.strictObject({ conversation: conversationField, turn }),
  output: z.object({ sent: z.number() }),
});

export const turnLater = contract({
  name: "turn.later",
  input: z.strictObject({
    conversation: conversationField,
    at: z.number().int().positive().optional(),
    cancel: z.boolean().default(false),
  }),
  output: z.object({ at: z.number().nullable() }),
});

export const turnMove = contract({
  name: "turn.move",
  input: z.strictObject({
    conversation: conversationField,
    turn: z.string().min(1).max(100).describe("As returned by turn.start"),
    by: z.enum(["up", "down"]),
  }),
  output: z.object({ order: z.array(z.string()).describe("The queued turns, next one first") }),
});

export const turnList = contract({
  name: "turn.list",
  input: z.strictObject({ conversation: conversationField }),
  output: z.object({ turns: z.array(turnSchema) }),
});

const label = z.string().max(1_000);
const words = z.string().max(10_000);

const answerField = z
  .strictObject({
    questions: z
      .record(
        z.string().max(200),
        z.strictObject({
          chosen: z.array(label).max(100),
          text: words.optional(),
          notes: words.optional(),
          skipped: z.literal(true).optional(),
        }),
      )
      .optional()
      .describe("By question id: chosen labels, free text, notes, or skipped"),
    text: words.optional().describe("A reply instead of answers to the questions"),
    content: z.record(z.string().max(200), z.unknown()).optional().describe("The fields of a form"),
    suggestion: z.string().max(200).optional().describe("The id of the chosen suggestion"),
  })
  .describe("The answer, besides allow");

export const turnAnswer = contract({
  name: "turn.answer",
  input: z.strictObject({
    block_id: z.string().max(200).describe("The block that asks"),
    ask_id: z.string().max(200).optional().describe("The id of its `ask`"),
    approval_id: z.string().max(200).optional().describe("The same, under its earlier name"),
    allow: z.boolean().describe("False: deny, decline, or keep planning"),
    message: z.string().max(10_000).optional().describe("The reason for a denial, for the agent"),
    answer: answerField.optional(),
    plan_version: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("For a plan: the version of its block that you read. Later edits by others are not approved"),
    answers: z
      .record(z.string().max(1_000), z.string().max(10_000))
      .optional()
      .describe("If the agent asks questions: the answer to each, by question"),
  }),
  output: z.object({ state: z.enum(["allowed", "denied", "answered"]) }),
});

const abilities = z.object({
  resumes: z.boolean(),
  staysAlive: z.boolean(),
  asks: z.array(z.enum(ASK_KINDS)).readonly(),
  rules: z.boolean(),
  modes: z.array(z.enum(MODES)).readonly(),
  sandboxes: z.array(z.enum(SANDBOXES)).readonly(),
  steering: z.enum(["step", "turn"]),
  midTurn: z.array(z.enum(["mode", "model", "effort"])).readonly(),
  stopsTasks: z.boolean(),
  commands: z.boolean(),
  models: z.boolean(),
  usage: z.boolean(),
  efforts: z.boolean(),
  limits: z.boolean(),
  servers: z.boolean(),
});

const login = z.object({
  state: z.enum(["in", "out", "unknown"]),
  account: z.string().optional(),
  how: z.string().optional(),
});

export const agentList = contract({
  name: "agent.list",
  input: z.strictObject({
    login: z
      .boolean()
      .optional()
      .describe("Also ask each agent whether it is logged in; this may take seconds"),
  }),
  output: z.object({
    agents: z.array(
      z.object({ provider: z.string(), abilities, problem: z.string().optional(), login: login.optional() }),
    ),
  }),
});

const described = z.object({ name: z.string(), description: z.string() });

/** What an agent does not tell is absent. */
export const agentOffers = contract({
  name: "agent.offers",
  input: z.strictObject({
    conversation: conversationField.optional().describe("Conversation id. Without it: before there is one"),
    provider: z.string().min(1).max(80).optional().describe("Default: the agent that ran the last turn"),
    only: z.enum(["tasks"]).optional().describe("Only the running agent's background tasks; starts no agent"),
  }),
  output: z.object({
    mode: z.enum(MODES).optional(),
    model: z.string().optional(),
    effort: z.string().optional(),
    commands: z.array(described.extend({ hint: z.string().optional() })).optional(),
    models: z
      .array(
        z.object({
          id: z.string().describe("A value for model in turn.start"),
          name: z.string(),
          description: z.string().optional(),
          efforts: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    usage: z
      .object({
        usedTokens: z.number(),
        windowTokens: z.number(),
        parts: z.array(z.object({ name: z.string(), tokens: z.number() })).optional(),
      })
      .optional(),
    tasks: z.array(z.object({ id: z.string(), description: z.string() })).optional(),
    agents: z.array(described).optional().describe("Sub-agents that it can start"),
    limits: z
      .array(
        z.object({
          name: z.string(),
          usedPercent: z.number(),
          resetsAt: z.number().optional().describe("Milliseconds since 1970"),
        }),
      )
      .optional(),
    servers: z
      .array(z.object({ name: z.string(), status: z.string(), error: z.string().optional() }))
      .optional(),
  }),
});

export const agentChange = contract({
  name: "agent.change",
  input: z.strictObject({
    conversation: conversationField,
    mode: z.enum(MODES).optional(),
    model: z.string().min(1).max(200).optional(),
    effort: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .describe("How hard its model thinks, as listed by agent.offers"),
    stop_task: z.string().min(1).max(200).optional().describe("A task, as listed by agent.offers"),
  }),
  output: z.object({ changed: z.array(z.string()) }),
});

const picture = z.object({ media_type: z.string(), data: z.string().describe("Base64") });

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), image: picture }),
  z.object({
    type: z.literal("thinking"),
    text: z.string(),
    signature: z.string().optional(),
    opaque: z.string().optional(),
    item_id: z.string().optional(),
  }),
  z.object({
    type: z.literal("tool_call"),
    tool_use_id: z.string(),
    tool_name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    text: z.string(),
    images: z.array(picture),
    is_error: z.boolean(),
  }),
]);

export type PictureView = z.infer<typeof picture>;
export type PartView = z.infer<typeof part>;

export const conversationContext = contract({
  name: "conversation.context",
  input: z.strictObject({
    conversation: conversationField,
    head: blockIdField.optional().describe("The last block. Default: the conversation's head"),
    reasoner: z
      .enum(["anthropic", "openai"])
      .optional()
      .describe("Include the signed reasoning for this provider. Default: none"),
    blocks: z.boolean().default(true).describe("Return the blocks, with their text"),
    messages: z.boolean().default(true).describe("Return the messages"),
  }),
  output: z.object({
    head: z.string().nullable(),
    system: z.string().describe("The text of the conversation's system blocks"),
    blocks: z
      .array(
        snapshotSchema.extend({ included: z.boolean().describe("Included from elsewhere; placed first") }),
      )
      .optional(),
    messages: z
      .array(z.object({ role: z.enum(["user", "assistant"]), content: z.array(part) }))
      .optional()
      .describe("Alternating, the user first; each tool_call has its tool_result in the next message"),
    unsendable: z.string().optional().describe("Why a provider would reject the messages"),
  }),
});

/** What a program can ask of turns and agents. */
export const turnContracts = [
  turnStart,
  turnStop,
  turnRelease,
  turnLater,
  turnMove,
  turnList,
  turnAnswer,
  agentList,
  agentOffers,
  agentChange,
  conversationContext,
  ruleList,
  ruleSet,
  ruleRemove,
] as const;
