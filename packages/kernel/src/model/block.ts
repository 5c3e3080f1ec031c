/**
 * The block: the smallest addressable content. Its identity, kinds, roles, status, stages, and what metadata each kind
 * may carry. Values only: nothing here changes a block (see op.ts for how one changes).
 *
 * Identity: `conversation/agent/seq`, where seq is the conversation's sequence number of the op that created the block.
 * So an id is unique without any counter, sorts by age inside a conversation, and is short enough to be repeated by a
 * model.
 */

import { z } from "zod";
import { approvalSchema, askSchema } from "./ask.ts";
import { cleanJson, type Json, type JsonObject } from "./json.ts";
import { limits } from "./limits.ts";
import { type Problem, problem } from "./problem.ts";

export type ConversationId = string;
export type AgentId = string;
export type BlockId = string;

export const KINDS = [
  "text",
  "thinking",
  "tool_call",
  "tool_result",
  "code",
  "command",
  "file_change",
  "todo",
  "image",
  "file",
  "error",
  "unknown",
] as const;
export type Kind = (typeof KINDS)[number];

export const ROLES = ["user", "model", "system", "tool"] as const;
export type Role = (typeof ROLES)[number];

export const STATUSES = ["pending", "running", "done", "error"] as const;
export type Status = (typeof STATUSES)[number];

export const STAGES = ["start", "streaming", "running", "end"] as const;
export type Stage = (typeof STAGES)[number];

/** Why a block ended as it did; beside `status`, which says only that it ended. */
export const REASONS = ["failed", "cancelled", "interrupted", "denied", "retracted", "truncated"] as const;
export type Reason = (typeof REASONS)[number];

/** Kinds that are the result of a tool call. Their parent is the call. */
export const RESULT_KINDS: readonly Kind[] = ["tool_result", "code", "command", "file_change", "todo"];

/** Whether a block that hangs off a tool call is its result: shown with the call, on the page and in exports. */
export function isResult({
  kind,
  metadata,
}: {
  readonly kind: Kind;
  readonly metadata: Readonly<Record<string, unknown>>;
}): boolean {
  if (RESULT_KINDS.includes(kind)) return true;
  return (kind === "image" || kind === "error") && metadata["toolUseId"] !== undefined;
}

/**
 * A block without its text. `version` counts the block's ops, `seq` is the conversation's number of the last of them.
 * `chars` and `newlines` describe the text, so that outlines need not load it.
 */
export interface Block {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  readonly kind: Kind;
  readonly role: Role;
  readonly status: Status;
  readonly parent: BlockId | null;
  /**
   * Whether it hangs off its parent (a tool's result, a sub-agent's work, a notice) instead of continuing the
   * conversation. The path to a head goes over blocks that are not on the side.
   */
  readonly side: boolean;
  readonly version: number;
  readonly seq: number;
  /** Sequence number of the op that created it: the order of blocks in a conversation. */
  readonly born: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly chars: number;
  /** Newlines in the text. */
  readonly newlines: number;
  readonly pruned: boolean;
  /** Whether the text is a CRDT document from now on (see text/). */
  readonly promoted: boolean;
  readonly metadata: JsonObject;
}

/** A block with its text: what exports, snapshots and tests speak of. */
export interface WholeBlock extends Block {
  readonly text: string;
}

export function blockId(conversation: ConversationId, agent: AgentId, seq: number): BlockId {
  return `${conversation}/${agent}/${seq}`;
}

const BLOCK_ID = /^([a-z0-9-]{1,40})\/([a-z0-9][a-z0-9._@-]{0,63})\/(\d{1,15})$/;

export interface BlockIdParts {
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  readonly seq: number;
}

/** Reads an id that something printed; undefined if it is none. */
export function parseBlockId(id: string): BlockIdParts | undefined {
  const match = BLOCK_ID.exec(id);
  if (!match) return undefined;
  return { conversation: match[1] as string, agent: match[2] as string, seq: Number(match[3]) };
}

/** The conversation that a block's id names; of what is no block's id, anything. */
export function conversationOf(id: BlockId): ConversationId {
  return id.slice(0, id.indexOf("/"));
}

export function isConversationId(id: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(id);
}

export function isAgentId(id: string): boolean {
  return /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(id);
}

export function isEnded(status: Status): boolean {
  return status === "done" || status === "error";
}

/** Ended because its agent was away for too long: the agent may go on with it. */
export function isLapsed({ status, metadata }: Block): boolean {
  return isEnded(status) && metadata["lapsed"] === true;
}

/** pending → running → done | error; a step may be skipped, none may be taken back. */
export function canFollow(from: Status, to: Status): boolean {
  if (isEnded(from)) return false;
  return from === "pending" ? to !== "pending" : to !== "pending" && to !== "running";
}

/** start → streaming* → running* → end. Streaming may come back after running (output increments). */
export function stageCanFollow(from: Stage, to: Stage): boolean {
  if (from === "end" || to === "start") return false;
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Metadata, per kind. Keys are strict: a misspelt one is a problem that lists the valid ones.

const json: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined);
const count = z.number().int().nonnegative();

/** What any block may carry. */
const anyKind = {
  /** The provider's message id that groups blocks of one answer, and the block's place in it. */
  messageId: z.string().optional(),
  index: count.optional(),
  /** The turn that produced it. */
  turn: z.string().optional(),
  /** The node that it waits for or runs on, where several share a store and it is part of no turn that says so. */
  node: z.string().optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  reason: z.enum(REASONS).optional(),
  /** It was ended because its agent was away for too long; the agent may go on with it. */
  lapsed: z.literal(true).optional(),
  startedAt: z.number().optional(),
  durationMs: z.number().nonnegative().optional(),
  /** A short label for notices: compaction, retry, permission_denied, hook, … */
  notice: z.string().optional(),
  /** How often the same was said in a row, where that was more than once. */
  times: count.optional(),
  /** Who speaks, where one conversation has several: a sub-agent's type or description. */
  label: z.string().optional(),
  /** The text was cut at a limit; how many characters were left out. */
  truncatedChars: count.optional(),
  /** What its agent asks here before it goes on. */
  ask: askSchema.optional(),
  /** What was included from elsewhere: the id of the source block. */
  includes: z.string().optional(),
  /** Anything else that an adapter keeps. Never shown unasked. */
  extra: z.record(z.string(), json).optional(),
};

const citation = z.strictObject({
  url: z.string(),
  title: z.string().optional(),
  snippet: z.string().optional(),
  /** The characters of the text that it stands behind; absent where it is said of the whole. */
  start: count.optional(),
  end: count.optional(),
});

const image = z.strictObject({
  data: z.string().optional(),
  blob: z.string().optional(),
  mediaType: z.string().optional(),
});

/** A tool's result, of whatever kind. */
const resultFields = {
  toolUseId: z.string().optional(),
  toolName: z.string().optional(),
  isError: z.boolean().optional(),
  /** The provider's structured payload, without what the text and the other fields already hold. */
  result: json.optional(),
  images: z.array(image).optional(),
  citations: z.array(citation).optional(),
};

export const CHANGE_KINDS = ["add", "modify", "delete"] as const;

/** What an agent with sessions of its own was told of the conversation in front of a prompt. */
export interface ToldMark {
  readonly [key: string]: Json;
  /** How many blocks, and how many more there was no room for. */
  readonly blocks: number;
  readonly leftOut: number;
  /** The session began here on purpose: nothing before belongs to it. */
  readonly fresh: boolean;
  /** The included blocks that it knows from here on, each at its version. */
  readonly included: { readonly [id: BlockId]: number };
}

const told: z.ZodType<ToldMark> = z.strictObject({
  blocks: count,
  leftOut: count,
  fresh: z.boolean(),
  included: z.record(z.string(), count),
});

/** Why a message that waits is not sent by itself. */
export type HoldReason = "stopped" | "restarted";

/** How a message that waits for its turn is to be asked. */
export interface QueuedMark {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly parent?: string | undefined;
  readonly fresh?: boolean | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly attachments?:
    | readonly { readonly type: "text" | "image"; readonly name: string; readonly blob: string }[]
    | undefined;
  readonly held?: HoldReason | undefined;
}

const queued = z.strictObject({
  provider: z.string(),
  model: z.string().optional(),
  parent: z.string().optional(),
  fresh: z.boolean().optional(),
  allow: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  attachments: z
    .array(z.strictObject({ type: z.enum(["text", "image"]), name: z.string(), blob: z.string() }))
    .optional(),
  held: z.enum(["stopped", "restarted"]).optional(),
});

export const metadataSchemas = {
  text: z.strictObject({
    ...anyKind,
    citations: z.array(citation).optional(),
    told: told.optional(),
    queued: queued.optional(),
  }),
  thinking: z.strictObject({
    ...anyKind,
    signature: z.string().optional(),
    redacted: z.boolean().optional(),
    /** Provider data that must go back unchanged, such as redacted or encrypted reasoning. */
    opaque: z.string().optional(),
    estimatedTokens: count.optional(),
  }),
  tool_call: z.strictObject({
    ...anyKind,
    toolUseId: z.string(),
    toolName: z.string(),
    stage: z.enum(STAGES).optional(),
    input: json.optional(),
    compactParams: z.string().optional(),
    shortResult: z.string().optional(),
    success: z.boolean().optional(),
    error: z.string().optional(),
    images: z.array(image).optional(),
    displayName: z.string().optional(),
    server: z.string().optional(),
    /** Of earlier versions, in place of `ask`. */
    approval: approvalSchema.optional(),
    /** Whoever asked the model owes the result: the call ends with it. */
    waiting: z.enum(["result"]).optional(),
    /** The call runs at the provider, not here (server tools). */
    remote: z.boolean().optional(),
    /** Output increments of a running call; the whole result is a block of its own. */
    progress: z.string().optional(),
  }),
  tool_result: z.strictObject({ ...anyKind, ...resultFields, toolUseId: z.string(), toolName: z.string() }),
  code: z.strictObject({
    ...anyKind,
    ...resultFields,
    filename: z.string().optional(),
    language: z.string().optional(),
    startLine: count.optional(),
    totalLines: count.optional(),
  }),
  command: z.strictObject({
    ...anyKind,
    ...resultFields,
    command: z.string(),
    /** The command as the provider printed it, where that differs (a shell wrapper taken off). */
    rawCommand: z.string().optional(),
    description: z.string().optional(),
    stderr: z.string().optional(),
    exitCode: z.number().int().nullable().optional(),
    interrupted: z.boolean().optional(),
    background: z.boolean().optional(),
    cwd: z.string().optional(),
    /** Whether it was confined, in words; only of commands that the server runs itself. */
    sandbox: z.string().optional(),
  }),
  file_change: z.strictObject({
    ...anyKind,
    ...resultFields,
    changes: z.array(
      z.strictObject({
        path: z.string(),
        kind: z.enum(CHANGE_KINDS),
        diff: z.string().optional(),
        movedTo: z.string().optional(),
        /** The diff is what was asked for; nobody has compared it with the file. */
        unverified: z.boolean().optional(),
      }),
    ),
  }),
  todo: z.strictObject({
    ...anyKind,
    ...resultFields,
    items: z.array(
      z.strictObject({
        content: z.string(),
        status: z.enum(["pending", "in_progress", "completed"]),
        activeForm: z.string().optional(),
        id: z.string().optional(),
      }),
    ),
  }),
  image: z.strictObject({
    ...anyKind,
    toolUseId: z.string().optional(),
    toolName: z.string().optional(),
    mediaType: z.string().optional(),
    blob: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
    width: count.optional(),
    height: count.optional(),
  }),
  file: z.strictObject({
    ...anyKind,
    path: z.string().max(limits.pathChars),
    language: z.string().optional(),
    persistedVersion: count.optional(),
    baseHash: z.string().optional(),
    conflict: json.optional(),
    /** It is gone from the disk. */
    missing: z.boolean().optional(),
    eol: z.enum(["lf", "crlf"]).optional(),
    encoding: z.string().optional(),
  }),
  error: z.strictObject({
    ...anyKind,
    toolUseId: z.string().optional(),
    toolName: z.string().optional(),
    code: z.string().optional(),
    details: json.optional(),
    retryable: z.boolean().optional(),
  }),
  unknown: z.strictObject({ ...anyKind, type: z.string().optional() }),
} as const satisfies Record<Kind, z.ZodType>;

export type Metadata<K extends Kind> = z.infer<(typeof metadataSchemas)[K]>;

/** Metadata of one kind as it may be stored: cleaned, validated and bounded; or the problem. */
export function checkMetadata(kind: Kind, value: unknown): JsonObject | Problem {
  const clean = cleanJson(value ?? {}, limits.jsonDepth);
  if (clean === undefined || clean === null || typeof clean !== "object" || Array.isArray(clean)) {
    return problem("invalid", `metadata must be a JSON object nested at most ${limits.jsonDepth} deep`, {
      max_depth: limits.jsonDepth,
    });
  }
  const schema: z.ZodObject = metadataSchemas[kind];
  const parsed = schema.safeParse(clean);
  if (!parsed.success) {
    return problem("invalid", `metadata of a ${kind} block: ${describeIssues(parsed.error.issues)}`, {
      valid_keys: Object.keys(schema.shape),
    });
  }
  return withinSize(clean as JsonObject);
}

/** `patch` over `metadata`: null deletes a key, everything else replaces it whole. */
export function patchMetadata(metadata: JsonObject, patch: JsonObject): JsonObject {
  const next: Record<string, Json> = { ...metadata };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null && key !== "exitCode") delete next[key];
    else next[key] = value;
  }
  return next;
}

export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join(".")}: ` : ""}${issue.message}`)
    .join("; ");
}

function withinSize(metadata: JsonObject): JsonObject | Problem {
  const chars = JSON.stringify(metadata).length;
  if (chars <= limits.metadataChars) return metadata;
  return problem(
    "too_large",
    `metadata of ${chars} characters is over the limit of ${limits.metadataChars}`,
    {
      chars,
      max_chars: limits.metadataChars,
    },
  );
}

/** A result names its call, of which there may be a second with the same name. A result below another's call is not its own. */
export function answersCall(result: JsonObject, call: JsonObject): boolean {
  const given = result["toolUseId"];
  const own = String(call["toolUseId"]);
  return given === undefined || own === given || own.startsWith(`${given}#`);
}
