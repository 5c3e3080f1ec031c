/**
 * Tool updates: the life of a tool call as a client wants to hear of it. Exactly one `start`, then `streaming` with pure
 * increments of the input, then `running`, then exactly one `end` with the whole value; whatever was missed, doubled or
 * came as a snapshot after a reconnect.
 */

import { type Block, type BlockId, isEnded, type Stage } from "../block.ts";
import type { JsonObject } from "../json.ts";

export interface ToolUpdate {
  readonly id: string;
  readonly block: BlockId;
  readonly name: string;
  /** The input so far, as JSON text. */
  readonly parameters: string;
  readonly stage: Stage;
  /** What was added to `parameters` since the last update. */
  readonly parametersChunk?: string;
  readonly result?: string;
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

interface Seen {
  parameters: string;
  stage: Stage;
}

export class ToolUpdates {
  readonly #seen = new Map<BlockId, Seen>();

  /** What is new of a call. `resultOf` gives the text of its result, once there is one. */
  update(
    block: Block,
    parameters: string | undefined,
    resultOf: (call: BlockId) => string | undefined,
  ): ToolUpdate[] {
    if (block.kind !== "tool_call") return [];
    const updates: ToolUpdate[] = [];
    const seen = this.#seen.get(block.id) ?? this.#start(block, updates);
    if (seen.stage === "end") return updates;
    const text = parameters ?? seen.parameters;
    if (text !== seen.parameters && !isEnded(block.status)) updates.push(this.#streamed(block, seen, text));
    seen.parameters = text;
    const stage = (block.metadata["stage"] ?? "start") as Stage;
    if (stage === "running" && seen.stage !== "running") {
      seen.stage = "running";
      updates.push(describe(block, text, "running"));
    }
    if (isEnded(block.status)) {
      seen.stage = "end";
      updates.push({ ...describe(block, text, "end"), ...outcome(block, resultOf(block.id)) });
    }
    return updates;
  }

  /** Forgets what is gone. */
  forget(block: BlockId): void {
    this.#seen.delete(block);
  }

  #start(block: Block, updates: ToolUpdate[]): Seen {
    const seen: Seen = { parameters: "", stage: "start" };
    this.#seen.set(block.id, seen);
    updates.push(describe(block, "", "start"));
    return seen;
  }

  #streamed(block: Block, seen: Seen, text: string): ToolUpdate {
    seen.stage = "streaming";
    const update = describe(block, text, "streaming");
    // Where somebody has edited the input, there is no increment: the whole says it.
    return text.startsWith(seen.parameters)
      ? { ...update, parametersChunk: text.slice(seen.parameters.length) }
      : update;
  }
}

function describe(block: Block, parameters: string, stage: Stage): ToolUpdate {
  const { toolUseId, toolName, compactParams } = block.metadata as { [key: string]: string | undefined };
  const compact = compactParams === undefined ? {} : { compactParams };
  return { id: toolUseId ?? block.id, block: block.id, name: toolName ?? "", parameters, stage, ...compact };
}

function outcome(block: Block, result: string | undefined): Partial<ToolUpdate> {
  const metadata = block.metadata as JsonObject & {
    shortResult?: string;
    error?: string;
    images?: ToolUpdate["images"];
  };
  const success = block.status === "done" && metadata["success"] !== false;
  return {
    success,
    ...(result === undefined ? {} : { result }),
    ...(metadata.shortResult === undefined ? {} : { shortResult: metadata.shortResult }),
    ...(success ? {} : { error: metadata.error ?? String(metadata["reason"] ?? "failed") }),
    ...(metadata.images === undefined ? {} : { images: metadata.images }),
  };
}
