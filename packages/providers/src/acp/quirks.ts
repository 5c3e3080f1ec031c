/**
 * What each ACP agent does in its own way, as far as recordings show it: one row per agent, recognised by the name that
 * it gives at `initialize`. An agent without a row is read as the protocol says.
 */

import type { JsonObject } from "@blockyard/kernel";
import { objectOf, textOf, wordsOf } from "../read.ts";

export interface Quirks {
  /** The short name that people know it by. */
  readonly name: string;
  /** Where a tool's own name is, beside `name`: in the first title, or in front of the call's id. */
  readonly toolName?: "title" | "id";
  /** While a call waits for its input, its `content` is the input's JSON so far. */
  readonly streamsInput?: true;
  /** Words of its own in front of what a title or a request is about. */
  readonly preface?: RegExp;
  /** `content` of a running call is its output so far; elsewhere it is a description until the call has ended. */
  readonly showsOutput?: true;
  /** A diff has the whole file on both sides, not the piece that was replaced. */
  readonly wholeFiles?: true;
  /** Text of the program itself among the model's: a failure, or a remark. */
  readonly failure?: RegExp;
  readonly remark?: RegExp;
  /** Text without a message id is the program's, not the model's. */
  readonly namesMessages?: true;
  /** What `usage` in the answer to a prompt counts. */
  readonly usage?: "turn" | "last-call" | "session" | "chunks" | "quota";
}

const PLAIN: Quirks = { name: "acp", usage: "turn" };

const TABLE: readonly (readonly [RegExp, Quirks])[] = [
  [/claude-agent-acp|claude-code-acp/i, { name: "claude", usage: "turn" }],
  // Another program by nearly the same name, whose messages have no ids.
  [/^codex-acp$/i, { name: "codex", usage: "turn" }],
  [/codex-acp/i, { name: "codex", usage: "turn", namesMessages: true }],
  [
    /^opencode$/i,
    { name: "opencode", toolName: "title", showsOutput: true, usage: "last-call", namesMessages: true },
  ],
  [
    /gemini/i,
    {
      name: "gemini",
      toolName: "id",
      wholeFiles: true,
      usage: "quota",
      remark: /^\[MODE_UPDATE\] /,
    },
  ],
  [/qwen/i, { name: "qwen", wholeFiles: true, usage: "chunks" }],
  [
    /copilot/i,
    { name: "copilot", showsOutput: true, usage: "session", failure: /^Error: /, remark: /^Info: / },
  ],
  [
    /kimi/i,
    {
      name: "kimi",
      toolName: "title",
      streamsInput: true,
      usage: "turn",
      preface: /^(Requesting approval to )?(Running: )?/,
    },
  ],
];

/** By `agentInfo` of the answer to `initialize`. */
export function quirksOf(agentInfo: JsonObject): Quirks {
  const name = `${textOf(agentInfo.name) ?? ""}`;
  const row = TABLE.find(([pattern]) => pattern.test(name));
  if (row !== undefined) return row[1];
  return { ...PLAIN, name: wordsOf(agentInfo.name) ?? PLAIN.name };
}

export const NO_QUIRKS = PLAIN;

/** A title, or the words of a request, without the agent's preface. */
export function unprefaced(text: string | undefined, { preface }: Quirks): string | undefined {
  return preface === undefined ? text : text?.replace(preface, "");
}

/** The name that a tool has in its own program; undefined where the agent does not say it. */
export function toolNameIn(update: JsonObject, quirks: Quirks, isFirst: boolean): string | undefined {
  const meta = objectOf(update._meta);
  const said = wordsOf(update.name) ?? wordsOf(objectOf(meta.claudeCode).toolName) ?? wordsOf(meta.toolName);
  if (said !== undefined) return said;
  if (quirks.toolName === "title" && isFirst) return wordsOf(update.title);
  if (quirks.toolName === "id") return /^([A-Za-z_]\w*?)__/.exec(textOf(update.toolCallId) ?? "")?.[1];
  return undefined;
}

/** Methods of agents' own that say nothing a reader needs; their lines are kept. */
export function isQuietMethod(method: string): boolean {
  return /^(_|qwen\/|craft\/|\$\/)/.test(method);
}
