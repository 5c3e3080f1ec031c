/**
 * What metadata each kind of block may carry. Keys are strict: a misspelt one is a problem that lists the valid ones. It is checked
 * where it is written (`checkMetadata`), so whoever reads a block has the types of its kind.
 */

import { z } from "zod";
import { approvalSchema, askSchema } from "./ask.ts";
import type { BlockId } from "./ids.ts";
import { cleanJson, type Exact, type Json, type JsonObject } from "./json.ts";
import { type Kind, REASONS, STAGES } from "./kind.ts";
import { limits } from "./limits.ts";
import { type Problem, problem } from "./problem.ts";

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
  /** Whose words a copy holds, where they are not of whoever made the copy. */
  author: z.string().optional(),
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
  /** In pixels, of one that is kept: its room is there before it comes. */
  width: count.optional(),
  height: count.optional(),
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

const CHANGE_KINDS = ["add", "modify", "delete"] as const;

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
  /** The session began as a copy of another one, up to the end of this turn. */
  readonly from?: { readonly session: string; readonly turn: string };
}

const told: z.ZodType<ToldMark> = z.strictObject({
  blocks: count,
  leftOut: count,
  fresh: z.boolean(),
  included: z.record(z.string(), count),
  from: z.strictObject({ session: z.string(), turn: z.string() }).exactOptional(),
});

/** Why a message that waits is not sent by itself. */
const HOLD_REASONS = ["stopped", "restarted"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** How a message that waits for its turn is to be asked. */
export type QueuedMark = Exact<z.infer<typeof queued>>;

const queued = z.strictObject({
  provider: z.string(),
  model: z.string().optional(),
  parent: z.string().nullable().optional(),
  fresh: z.boolean().optional(),
  allow: z.array(z.string()).optional(),
  mode: z.string().optional(),
  sandbox: z.string().optional(),
  effort: z.string().optional(),
  goesOn: z.boolean().optional(),
  cwd: z.string().optional(),
  attachments: z
    .array(z.strictObject({ type: z.enum(["text", "image"]), name: z.string(), blob: z.string() }))
    .optional(),
  held: z.enum(HOLD_REASONS).optional(),
  /** It went to the agent that works, which has not read it yet. */
  sent: z.boolean().optional(),
  /** Where it stands among those that wait, where somebody has moved it; else where it was written. */
  place: z.number().optional(),
});

/** Why a file's block is not saved: both sides have changed the same. */
const conflict = z.strictObject({
  kind: z.enum(["overlap", "deleted", "unreadable"]),
  message: z.string(),
  /** Of what the disk has; null where it has nothing. */
  diskHash: z.string().nullable(),
  /** Lines of the block, and of the disk's text, that both sides have changed. */
  regions: z
    .array(z.strictObject({ line: count, lines: count, diskLine: count, diskLines: count }))
    .optional(),
  at: z.number(),
});

export type FileConflict = Exact<z.infer<typeof conflict>>;

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
    /** Nobody said that it would be changed: the folder was compared before and after the turn. */
    observed: z.literal(true).optional(),
    /** How many more files had changed. */
    leftOut: count.optional(),
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
    conflict: conflict.optional(),
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

type Fields<K extends Kind> = Exact<z.infer<(typeof metadataSchemas)[K]>>;
type Key = { [K in Kind]: keyof Fields<K> }[Kind];

/**
 * The metadata of one kind, as it is stored. Keys of other kinds are known and never there: of a block of any kind,
 * `metadata.toolUseId` is a string or undefined.
 */
export type Metadata<K extends Kind> = K extends Kind
  ? Fields<K> & { readonly [Other in Exclude<Key, keyof Fields<K>>]?: never }
  : never;

/** Metadata of whatever kind: every key that some kind has. */
export type AnyMetadata = { readonly [Each in Key]?: Exclude<Metadata<Kind>[Each], undefined> };

/** The metadata of a block whose kind is known: it says so itself, or it was found by its kind. */
export function metadataOf<K extends Kind>(
  block: { readonly metadata: Metadata<Kind> },
  _kind: K,
): Metadata<K> {
  return block.metadata as Metadata<K>;
}

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

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join(".")}: ` : ""}${issue.message}`)
    .join("; ");
}

function withinSize(metadata: JsonObject): JsonObject | Problem {
  const chars = JSON.stringify(metadata).length;
  if (chars <= limits.metadataChars) return metadata;
  return problem("too_large", `metadata has ${chars} characters; the limit is ${limits.metadataChars}`, {
    chars,
    max_chars: limits.metadataChars,
  });
}

/** A result names its call, of which there may be a second with the same name. A result below another's call is not its own. */
export function answersCall({ toolUseId: given }: Named, { toolUseId: own = "" }: Named): boolean {
  return given === undefined || own === given || own.startsWith(`${given}#`);
}

type Named = Pick<AnyMetadata, "toolUseId">;
