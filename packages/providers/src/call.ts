/**
 * The block events of a tool call whose input and result come whole: a `tool_call`, under it its result.
 *
 * Not for inputs that stream (see the adapters that have them). Invariant: `startCall` and `endCall`, each called once,
 * give one start and one end of the call, and the result block is closed before its call is.
 */

import type { BlockEvent, BlockKey, Json, JsonObject, Kind, Reason } from "@blockyard/kernel";
import { given } from "./read.ts";

interface Call {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: Json;
  /** The input as the provider wrote it, where that was not JSON of ours. */
  readonly inputText?: string | undefined;
  readonly parent?: BlockKey | undefined;
  readonly compactParams?: string | undefined;
  readonly displayName?: string | undefined;
  readonly server?: string | undefined;
  /** Runs at the provider. */
  readonly remote?: boolean | undefined;
  readonly messageId?: string | undefined;
  readonly at?: number | undefined;
}

export interface Outcome {
  /** Absent where the provider shows no result. */
  readonly result?: { readonly kind: Kind; readonly text: string; readonly metadata: JsonObject };
  readonly failed: boolean;
  /** Why it failed; `failed` where nothing more is known. */
  readonly reason?: Reason | undefined;
  readonly shortResult?: string | undefined;
  readonly error?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly at?: number | undefined;
  /** The input, where it is known only now. */
  readonly input?: Json | undefined;
  readonly compactParams?: string | undefined;
}

export function startCall(call: Call): readonly BlockEvent[] {
  return [
    {
      type: "block-start",
      key: call.key,
      ...given({ parent: call.parent, at: call.at }),
      kind: "tool_call",
      role: "model",
      metadata: given({
        toolUseId: call.toolUseId,
        toolName: call.toolName,
        compactParams: call.compactParams,
        displayName: call.displayName,
        server: call.server,
        remote: call.remote,
        messageId: call.messageId,
      }),
      text: call.inputText ?? JSON.stringify(call.input),
    },
    { type: "block-meta", key: call.key, metadata: { stage: "running", input: call.input } },
  ];
}

/** The key of a call's result. */
export function resultKey(call: BlockKey): BlockKey {
  return `${call}/result`;
}

export function endCall(
  call: Pick<Call, "key" | "toolUseId" | "toolName">,
  outcome: Outcome,
  /** The result block has been opened before. */
  opened = false,
): readonly BlockEvent[] {
  const status = outcome.failed ? "error" : "done";
  const reason = outcome.failed ? (outcome.reason ?? "failed") : undefined;
  const events: BlockEvent[] = [];
  if (outcome.result !== undefined) {
    const key = resultKey(call.key);
    const { kind, text, metadata } = outcome.result;
    if (!opened) events.push(openResult(call, kind, metadata, text, outcome.at));
    events.push({
      type: "block-end",
      key,
      status,
      ...given({ reason, at: outcome.at }),
      ...(opened ? { text, metadata } : {}),
    });
  }
  events.push({
    type: "block-end",
    key: call.key,
    status,
    ...given({ reason, at: outcome.at }),
    ...(outcome.input === undefined ? {} : { text: JSON.stringify(outcome.input) }),
    metadata: given({
      success: !outcome.failed,
      input: outcome.input,
      compactParams: outcome.compactParams,
      shortResult: outcome.shortResult,
      error: outcome.error,
      durationMs: outcome.durationMs,
    }),
  });
  return events;
}

/** Opens the result block of a call while it still runs. */
export function openResult(
  call: Pick<Call, "key" | "toolUseId" | "toolName">,
  kind: Kind,
  metadata: JsonObject,
  text: string,
  at?: number,
): BlockEvent {
  return {
    type: "block-start",
    key: resultKey(call.key),
    parent: call.key,
    ...given({ at }),
    kind,
    role: "tool",
    metadata: { toolUseId: call.toolUseId, toolName: call.toolName, ...metadata },
    text,
  };
}

/** The call will have no result: the stream was cut, or its turn has ended. */
export function cutCall(key: BlockKey, reason: Reason = "interrupted"): BlockEvent {
  const metadata = { success: false, shortResult: reason };
  return { type: "block-end", key, status: "error", reason, metadata };
}

/** A block that comes whole. */
export function wholeBlock(
  block: Omit<Extract<BlockEvent, { type: "block-start" }>, "type">,
  end: { readonly status: "done" | "error"; readonly reason?: Reason } = { status: "done" },
): readonly BlockEvent[] {
  return [
    { type: "block-start", ...block },
    { type: "block-end", key: block.key, ...end, ...given({ at: block.at }) },
  ];
}
