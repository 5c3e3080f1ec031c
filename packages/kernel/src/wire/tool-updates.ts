/**
 * Tool updates: the life of a tool call, for clients. Exactly one `start`, then `streaming` with pure increments of the
 * input or of the output, `running` once when it runs, then exactly one `end` with the whole value, even if changes
 * were missed, repeated or arrived as a snapshot after a reconnect.
 *
 * - A waiting call (for the owner's approval, for a result that its agent owes) says what it waits for.
 * - A result that is attached to an ended call is sent once more, marked `late`.
 * - If a call ended only because its agent's lease expired and the agent continues it, its updates continue, marked
 *   `late`.
 * - A command that is run again is a call by itself, without a call's block.
 */

import { askOf, waitsFor } from "../model/ask.ts";
import type { Block } from "../model/block.ts";
import type { BlockId } from "../model/ids.ts";
import { isEnded, type Stage } from "../model/kind.ts";
import { limits } from "../model/limits.ts";

export interface ToolUpdate {
  /** The provider's id of the call. Where that has come before in the conversation, with a number behind it. */
  readonly id: string;
  readonly block: BlockId;
  readonly name: string;
  /** The input so far, as JSON text. */
  readonly parameters: string;
  readonly stage: Stage;
  /** What was added to `parameters` since the last update. */
  readonly parametersChunk?: string;
  /** What has to happen before it goes on. */
  readonly waiting?: "approval" | "answer" | "result";
  /** The output: so far while it runs, whole at the end. */
  readonly result?: string;
  /** What was added to the output since the last update. */
  readonly resultChunk?: string;
  /** The output is not, or not all, in `result`: how long it is, and the block that `block.read` gives it from. */
  readonly resultCut?: { readonly block: BlockId; readonly chars: number };
  /** Told after the end: a result that was attached later, or a call that its agent went on with. */
  readonly late?: true;
  readonly shortResult?: string;
  readonly success?: boolean;
  readonly error?: string;
  readonly images?: readonly {
    readonly data?: string;
    readonly blob?: string;
    readonly mediaType?: string;
  }[];
  readonly compactParams?: string;
}

/** The block of a call's result. Its text is absent where the copy does not hold it. */
export interface ToolResult {
  readonly block: Block;
  readonly text: string | undefined;
}

interface Seen {
  readonly id: string;
  parameters: string;
  /** The output that was told. */
  output: string;
  waiting: ToolUpdate["waiting"];
  hasRun: boolean;
  hasEnded: boolean;
  hasResult: boolean;
  /** Its end has been told, and it has gone on since. */
  isLate: boolean;
}

export class ToolUpdates {
  readonly #seen = new Map<BlockId, Seen>();
  /** How often each provider's id has come in a conversation. */
  readonly #ids = new Map<string, number>();

  /** What is new of a call, or of a command that was run again. */
  update(
    block: Block,
    text: string | undefined,
    resultOf: (call: BlockId) => ToolResult | undefined,
  ): ToolUpdate[] {
    const isRerun = isCommandAgain(block);
    if (block.kind !== "tool_call" && !isRerun) return [];
    const result = isRerun ? { block, text } : resultOf(block.id);
    const updates: ToolUpdate[] = [];
    const seen = this.#seen.get(block.id) ?? this.#start(block, updates);
    if (seen.hasEnded && isEnded(block.status)) return late(block, seen, result);
    seen.isLate ||= seen.hasEnded;
    seen.hasEnded = false;
    const parameters = isRerun ? commandOf(block) : (text ?? inputOf(block) ?? seen.parameters);
    if (parameters !== seen.parameters && !isEnded(block.status))
      updates.push(streamed(block, seen, parameters));
    seen.parameters = parameters;
    updates.push(...waited(block, seen), ...ran(block, seen, isRerun));
    if (isEnded(block.status)) updates.push(ended(block, seen, result));
    else updates.push(...grown(block, seen, result));
    return updates;
  }

  /** Forgets what is gone. */
  forget(block: BlockId): void {
    this.#seen.delete(block);
  }

  #start(block: Block, updates: ToolUpdate[]): Seen {
    const seen: Seen = {
      id: this.#idOf(block),
      parameters: "",
      output: "",
      waiting: undefined,
      hasRun: false,
      hasEnded: false,
      hasResult: false,
      isLate: false,
    };
    this.#seen.set(block.id, seen);
    updates.push(describe(block, seen, "start"));
    return seen;
  }

  #idOf({ id, conversation, metadata }: Block): string {
    const { toolUseId } = metadata;
    if (typeof toolUseId !== "string" || toolUseId === "") return id;
    const key = `${conversation} ${toolUseId}`;
    const times = (this.#ids.get(key) ?? 0) + 1;
    this.#ids.set(key, times);
    return times === 1 ? toolUseId : `${toolUseId}#${times}`;
  }
}

/** A command that somebody has run again. */
export function isCommandAgain({ kind, metadata }: Block): boolean {
  return kind === "command" && metadata.notice === "rerun";
}

function streamed(block: Block, seen: Seen, parameters: string): ToolUpdate {
  const update = { ...describe(block, seen, "streaming"), parameters };
  // Where somebody has edited the input, there is no increment: the whole says it.
  return parameters.startsWith(seen.parameters)
    ? { ...update, parametersChunk: parameters.slice(seen.parameters.length) }
    : update;
}

function waited(block: Block, seen: Seen): ToolUpdate[] {
  const waiting = isEnded(block.status) ? undefined : waitingOf(block);
  if (waiting === seen.waiting) return [];
  seen.waiting = waiting;
  if (waiting === undefined) return [];
  // One that asks has not started, whatever was thought before.
  seen.hasRun = waiting === "result";
  return [describe(block, seen, waiting === "result" ? "running" : "streaming")];
}

function waitingOf({ metadata }: Block): ToolUpdate["waiting"] {
  const ask = askOf(metadata);
  if (ask?.state === "asked") return waitsFor(ask);
  return metadata.waiting === "result" ? "result" : undefined;
}

function ran(block: Block, seen: Seen, isRerun: boolean): ToolUpdate[] {
  const isRunning = (isRerun && !isEnded(block.status)) || block.metadata.stage === "running";
  if (seen.hasRun || !isRunning || seen.waiting === "approval" || seen.waiting === "answer") return [];
  seen.hasRun = true;
  return [describe(block, seen, "running")];
}

/** Output while it runs. */
function grown(block: Block, seen: Seen, result: ToolResult | undefined): ToolUpdate[] {
  const text = result?.text;
  if (!result || text === undefined || text === seen.output) return [];
  const chunk = text.startsWith(seen.output) ? { resultChunk: text.slice(seen.output.length) } : {};
  seen.output = text;
  const isShort = text.length <= limits.liveResultChars;
  const output = isShort ? { result: text } : { resultCut: cutOf(result) };
  return [{ ...describe(block, seen, "streaming"), ...output, ...chunk }];
}

function ended(block: Block, seen: Seen, result: ToolResult | undefined): ToolUpdate {
  seen.hasEnded = true;
  seen.hasResult = result !== undefined;
  seen.output = "";
  return { ...describe(block, seen, "end"), ...outcome(block), ...outputOf(result) };
}

function late(block: Block, seen: Seen, result: ToolResult | undefined): ToolUpdate[] {
  if (seen.hasResult || !result || !isEnded(result.block.status)) return [];
  seen.hasResult = true;
  return [{ ...describe(block, seen, "end"), ...outcome(block), ...outputOf(result), late: true }];
}

function outputOf(result: ToolResult | undefined): Partial<ToolUpdate> {
  if (!result) return {};
  return result.text === undefined ? { resultCut: cutOf(result) } : { result: result.text };
}

function cutOf({ block: { id, chars } }: ToolResult): { readonly block: BlockId; readonly chars: number } {
  return { block: id, chars };
}

function inputOf({ metadata: { input } }: Block): string | undefined {
  return input === undefined || input === null ? undefined : JSON.stringify(input);
}

function commandOf({ metadata: { command, cwd } }: Block): string {
  return JSON.stringify({ command, cwd });
}

function describe(block: Block, seen: Seen, stage: Stage): ToolUpdate {
  const { toolName, compactParams } = block.metadata;
  const { id, parameters, waiting, isLate } = seen;
  return {
    id,
    block: block.id,
    name: toolName ?? (block.kind === "command" ? "bash" : ""),
    parameters,
    stage,
    ...(waiting === undefined ? {} : { waiting }),
    ...(compactParams === undefined ? {} : { compactParams }),
    ...(isLate ? { late: true } : {}),
  };
}

function outcome(block: Block): Partial<ToolUpdate> {
  const { metadata } = block;
  const success = block.status === "done" && metadata.success !== false;
  return {
    success,
    ...(metadata.shortResult === undefined ? {} : { shortResult: metadata.shortResult }),
    ...(success ? {} : { error: metadata.error ?? metadata.reason ?? "failed" }),
    ...(metadata.images === undefined ? {} : { images: metadata.images }),
  };
}
