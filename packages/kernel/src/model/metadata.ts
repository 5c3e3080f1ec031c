/**
 * The metadata of each block kind. Schemas are strict: an unknown key is a problem that lists the valid ones. Metadata is checked
 * when it is written (`checkMetadata`), so readers can rely on the types of the kind.
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

/** Metadata that any block may have. */
const anyKind = {
  /** The provider's message id, which groups the blocks of one answer, and the block's index in it. */
  messageId: z.string().optional(),
  index: count.optional(),
  /** The turn that produced it. */
  turn: z.string().optional(),
  /** The node that it runs on or waits for, if several share a store and no turn says so. */
  node: z.string().optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  reason: z.enum(REASONS).optional(),
  /** It ended because its agent's lease ended; the agent may continue it. */
  lapsed: z.literal(true).optional(),
  startedAt: z.number().optional(),
  durationMs: z.number().nonnegative().optional(),
  /** A short label for notices: compaction, retry, permission_denied, hook, … */
  notice: z.string().optional(),
  /** How often the same notice came in a row, if more than once. */
  times: count.optional(),
  /** The speaker, if a conversation has several: a sub-agent's type or description. */
  label: z.string().optional(),
  /** How many characters were cut off at a limit. */
  truncatedChars: count.optional(),
  /** What the agent needs from its owner before it continues. */
  ask: askSchema.optional(),
  /** For an included block: the id of its source. */
  includes: z.string().optional(),
  /** For a copy: the author, if it is not the agent that made the copy. */
  author: z.string().optional(),
  /** Anything else an adapter keeps. Shown only on request. */
  extra: z.record(z.string(), json).optional(),
};

const citation = z.strictObject({
  url: z.string(),
  title: z.string().optional(),
  snippet: z.string().optional(),
  /** The range of text that it supports; absent if it supports all of it. */
  start: count.optional(),
  end: count.optional(),
});

const image = z.strictObject({
  data: z.string().optional(),
  blob: z.string().optional(),
  mediaType: z.string().optional(),
  /** In pixels, for a stored picture, so that the page can reserve its space. */
  width: count.optional(),
  height: count.optional(),
});

/** Metadata of a tool's result, of any kind. */
const resultFields = {
  toolUseId: z.string().optional(),
  toolName: z.string().optional(),
  isError: z.boolean().optional(),
  /** The provider's structured payload, without what the text and other fields contain. */
  result: json.optional(),
  images: z.array(image).optional(),
  citations: z.array(citation).optional(),
};

const CHANGE_KINDS = ["add", "modify", "delete"] as const;

/** What the briefing in front of a prompt told an agent that has sessions of its own. */
export interface ToldMark {
  readonly [key: string]: Json;
  /** How many blocks it contained, and how many did not fit. */
  readonly blocks: number;
  readonly leftOut: number;
  /** The session was started fresh on purpose: it knows nothing from before. */
  readonly fresh: boolean;
  /** The included blocks that the session knows, each at its version. */
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

/** Why a queued message is not sent automatically. */
const HOLD_REASONS = ["stopped", "restarted"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** The turn options of a queued message. */
export type QueuedMark = Exact<z.infer<typeof queued>>;

const queued = z.strictObject({
  provider: z.string(),
  author: z.string().optional(),
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
  /** It was sent to the running agent, which has not read it yet. */
  sent: z.boolean().optional(),
  /** Its place in the queue, if it was moved; otherwise messages are ordered by age. */
  place: z.number().optional(),
});

/** Why a file block is not saved: the block and the disk changed in the same place. */
const conflict = z.strictObject({
  kind: z.enum(["overlap", "deleted", "unreadable"]),
  message: z.string(),
  /** Hash of the file on disk; null if there is none. */
  diskHash: z.string().nullable(),
  /** The lines that changed on both sides, in the block and on disk. */
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
    /** Written by earlier versions instead of `ask`. */
    approval: approvalSchema.optional(),
    /** The program that called the model has to send the result, which ends the call. */
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
    /** The command as the provider printed it, if that differs: with its shell wrapper. */
    rawCommand: z.string().optional(),
    description: z.string().optional(),
    stderr: z.string().optional(),
    exitCode: z.number().int().nullable().optional(),
    interrupted: z.boolean().optional(),
    background: z.boolean().optional(),
    cwd: z.string().optional(),
    /** How it was confined, as text; only for commands that the server runs itself. */
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
        /** The diff is what the agent asked for; it was not compared with the file. */
        unverified: z.boolean().optional(),
      }),
    ),
    /** Not reported by the agent: found by comparing the folder before and after the turn. */
    observed: z.literal(true).optional(),
    /** How many more files changed. */
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
    /** The file no longer exists on disk. */
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
 * The stored metadata of one kind. Keys of other kinds are optional and never set, so that `metadata.toolUseId` can be read
 * from a block of any kind.
 */
export type Metadata<K extends Kind> = K extends Kind
  ? Fields<K> & { readonly [Other in Exclude<Key, keyof Fields<K>>]?: never }
  : never;

/** The keys of all kinds, all optional. */
export type AnyMetadata = { readonly [Each in Key]?: Exclude<Metadata<Kind>[Each], undefined> };

/** The metadata of a block whose kind the caller knows. */
export function metadataOf<K extends Kind>(
  block: { readonly metadata: Metadata<Kind> },
  _kind: K,
): Metadata<K> {
  return block.metadata as Metadata<K>;
}

/** Cleans, validates and bounds metadata before it is stored. */
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

/** Applies `patch` to `metadata`: null deletes a key, any other value replaces it. */
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

/** Whether a result belongs to a call. Repeated ids of a provider get a suffix: `id#2`. */
export function answersCall({ toolUseId: given }: Named, { toolUseId: own = "" }: Named): boolean {
  return given === undefined || own === given || own.startsWith(`${given}#`);
}

type Named = Pick<AnyMetadata, "toolUseId">;
