/**
 * `llm_*` events for simple clients: a conversation's turns as messages made of content blocks, as they happen. The client's side,
 * which rebuilds the messages, is llm-messages.ts.
 *
 * There is one `messageId` per turn; `contentBlockIndex` counts through all of the provider's messages in it and never
 * restarts; `totalContentBlocks` is exact. Deltas are pure increments; if someone edits a block, its whole new content is sent
 * (`llm_content_block_replace`). Every event has a `version`.
 *
 * Tools: a call that waits for approval has not started; a call whose input was cut off never starts. `complete` is sent when
 * the outcome is known, even after the message has stopped, and once more if a result is attached later.
 *
 * A block that ended with its agent's lease (a lapsed block) may continue after the end of its message; its appends and its new
 * end are sent then.
 */

import { askOf, waitsFor } from "../model/ask.ts";
import { type Block, isLapsed } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockId } from "../model/ids.ts";
import { isEnded, RESULT_KINDS } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import type { Op } from "../model/op.ts";
import { splicesOf } from "../model/op.ts";
import { Text } from "../text/text.ts";
import {
  type Content,
  delta,
  headOf,
  type Message,
  newContent,
  progress,
  run,
  startOf,
  stopOf,
  TYPES,
} from "./llm-content.ts";
import type { LlmEvent } from "./llm-event.ts";

interface Result {
  readonly call: BlockId;
  text: Text;
}

/** Whether a block is a content block of a turn's message. */
export function isContent({ kind, role, side, metadata }: Block): boolean {
  return !side && role === "model" && TYPES[kind] !== undefined && metadata.turn !== undefined;
}

/** Turns commits into events. One per client, fed in order. */
export class LlmEvents {
  readonly #messages = new Map<string, Message>();
  readonly #known = new Map<BlockId, Content>();
  readonly #results = new Map<BlockId, Result>();
  /** The block counts of stopped messages: their turns may get another end. */
  readonly #stopped = new Map<string, number>();

  /** Starts a turn's message. `isKnown`: the client already has the start. */
  begin(turn: Turn, isKnown = false): LlmEvent[] {
    if (this.#messages.has(turn.id)) return [];
    const message: Message = { id: turn.id, blocks: 0, model: turn.model, toolIds: new Map() };
    this.#messages.set(turn.id, message);
    const head = headOf(message, turn.startedAt);
    if (isKnown)
      return turn.model === undefined ? [] : [{ ...head, type: "llm_message_update", model: turn.model }];
    const model = turn.model === undefined ? {} : { model: turn.model };
    return [{ ...head, type: "llm_message_start", provider: turn.provider, ...model }];
  }

  /** A complete block, with a call's result as far as it is known. */
  whole(block: Block, text: string, result?: { readonly block: Block; readonly text: string }): LlmEvent[] {
    const events = this.#started(block, text);
    if (result) this.#resultStarted(result.block, result.text);
    events.push(...this.#followed(block));
    const known = this.#known.get(block.id);
    if (known && !known.isComplete && known.hasRun && result && result.text !== "")
      events.push({
        ...headOf(known.message, result.block.updatedAt),
        ...progress(known),
        delta: result.text,
      });
    return events;
  }

  /** The events of a commit. `blocks` are the changed blocks after it. */
  commit(ops: readonly Op[], blocks: readonly Block[]): LlmEvent[] {
    const after = new Map(blocks.map((block) => [block.id, block]));
    const events: LlmEvent[] = [];
    // Events about a block's state come after those about its text, and its result's, in the same commit.
    const touched = new Set<BlockId>();
    const follow = () => {
      for (const id of touched) {
        const block = after.get(id);
        if (block) events.push(...this.#followed(block));
      }
      touched.clear();
    };
    for (const op of ops) {
      if (op.body.type === "turn") {
        if (op.body.turn.status !== "running") follow();
        events.push(...this.turn(op.body.turn));
        continue;
      }
      const block = op.block === null ? undefined : after.get(op.block);
      if (!block) continue;
      if (op.body.type === "create" && !block.side) {
        follow();
        events.push(...this.#started(block, op.body.text));
      } else events.push(...this.#wrote(block, op, after));
      touched.add(block.id);
    }
    follow();
    return events;
  }

  /** The events of a turn's current state: start, update, end. */
  turn(turn: Turn): LlmEvent[] {
    const total = this.#stopped.get(turn.id);
    if (total !== undefined && turn.status !== "running") return [stopOf(turn, total)];
    const events = this.begin(turn);
    const message = this.#messages.get(turn.id);
    if (!message) return events;
    const head = headOf(message, turn.endedAt ?? turn.startedAt);
    if (turn.model !== undefined && turn.model !== message.model) {
      message.model = turn.model;
      events.push({ ...head, type: "llm_message_update", model: turn.model });
    }
    if (turn.status === "running") return events;
    // A cancelled turn is not an error.
    if (turn.status === "error" && turn.reason !== "cancelled")
      events.push({ ...head, type: "llm_error", error: turn.error ?? turn.reason ?? "failed" });
    events.push(stopOf(turn, message.blocks));
    this.#forget(message);
    return events;
  }

  /** Drops a stopped message, except for its calls and lapsed blocks, which may still change. */
  #forget(message: Message): void {
    this.#messages.delete(message.id);
    this.#stopped.set(message.id, message.blocks);
    if (this.#stopped.size > limits.heardOfCalls)
      this.#stopped.delete(this.#stopped.keys().next().value as string);
    for (const [id, known] of this.#known) {
      if (known.message !== message) continue;
      const mayGoOn = known.hasLapsed && known.text.length <= limits.liveResultChars;
      if (mayGoOn) continue;
      known.isLetGo = true;
      known.text = EMPTY;
      if (known.type !== "tool_use") this.#known.delete(id);
    }
    for (const [id, { result }] of this.#known) {
      if (this.#known.size <= limits.heardOfCalls) return;
      this.#known.delete(id);
      if (result !== undefined) this.#results.delete(result);
    }
  }

  #started(block: Block, text: string): LlmEvent[] {
    const message = this.#messages.get(block.metadata.turn ?? "");
    const type = TYPES[block.kind];
    if (!message || !type || !isContent(block) || this.#known.has(block.id)) return [];
    const known = newContent(message, type, block, text);
    this.#known.set(block.id, known);
    const head = headOf(message, block.createdAt);
    return text === "" ? [startOf(known, head)] : [startOf(known, head), delta(known, head, text)];
  }

  /** Registers a block as the first result of a known call. Returns whether it is one. */
  #resultStarted(block: Block, text: string): boolean {
    const call = block.parent === null ? undefined : this.#known.get(block.parent);
    if (!call || block.parent === null || call.result !== undefined || !RESULT_KINDS.includes(block.kind))
      return false;
    call.result = block.id;
    this.#results.set(block.id, { call: block.parent, text: Text.of(text) });
    return true;
  }

  #wrote(block: Block, op: Op, after: ReadonlyMap<BlockId, Block>): LlmEvent[] {
    if (op.body.type === "create") {
      if (!this.#resultStarted(block, op.body.text)) return [];
      return op.body.text === "" ? [] : this.#grown(block, { delta: op.body.text }, op.at, after);
    }
    const splices = splicesOf(op);
    if (splices.length === 0) return [];
    const result = this.#results.get(block.id);
    const known = result ? undefined : this.#known.get(block.id);
    const held = result ?? known;
    if (!held || known?.isLetGo) return [];
    const before = held.text.length;
    held.text = held.text.apply(splices);
    const [only] = splices;
    const isAdded = splices.length === 1 && only?.at === before && only.del === "";
    if (result)
      return this.#grown(
        block,
        isAdded ? { delta: only.ins } : { result: result.text.toString() },
        op.at,
        after,
      );
    if (!known) return [];
    const head = headOf(known.message, op.at);
    if (isAdded && (!known.isStopped || known.hasLapsed)) return [delta(known, head, only.ins)];
    const content = known.text.toString();
    return [{ ...head, type: "llm_content_block_replace", contentBlockIndex: known.index, content }];
  }

  /** Output of a running call. If the call ends in the same commit, `complete` contains it instead. */
  #grown(
    { parent }: Block,
    said: { readonly delta: string } | { readonly result: string },
    at: number,
    after: ReadonlyMap<BlockId, Block>,
  ): LlmEvent[] {
    const known = parent === null ? undefined : this.#known.get(parent);
    const call = parent === null ? undefined : after.get(parent);
    if (!known || known.isComplete || (call && isEnded(call.status))) return [];
    const head = headOf(known.message, at);
    const events = call ? this.#followed(call) : [];
    if (!known.hasRun) events.push(...run(known, head)); // what has output has started
    return [...events, { ...head, ...progress(known), ...said }];
  }

  /** The events of a block's current state, each sent once. */
  #followed(block: Block): LlmEvent[] {
    const known = this.#known.get(block.id);
    if (!known) return this.#resultFollowed(block);
    const head = headOf(known.message, block.updatedAt);
    const events: LlmEvent[] = [];
    const hasEnded = isEnded(block.status);
    const goesOn = known.hasLapsed && !isLapsed(block);
    if (goesOn && !hasEnded) known.isComplete = false;
    const { stage, input } = block.metadata;
    const isWhole = known.type === "tool_use" && (input !== undefined || stage === "running");
    if (!known.isStopped && (hasEnded || isWhole)) {
      known.isStopped = true;
      events.push({ ...head, type: "llm_content_block_stop", contentBlockIndex: known.index });
    }
    known.hasLapsed ||= isLapsed(block);
    if (known.type !== "tool_use") return events;
    const { toolName, toolId } = known;
    const toolInput = input ?? null;
    known.input = toolInput;
    const asked = askOf(block.metadata);
    if (asked?.state === "asked" && known.asked !== asked.id) {
      known.asked = asked.id;
      // It has not started after all: it does once it is approved.
      known.hasRun = false;
      const title = asked.title === undefined ? {} : { title: asked.title };
      const waiting = { waiting: waitsFor(asked), toolName, toolId, toolInput, ...title } as const;
      events.push({ ...head, type: "llm_tool_execution_waiting", ...waiting });
    }
    if (!known.hasRun && hasStarted(block, known.result !== undefined)) events.push(...run(known, head));
    if (hasEnded && (!known.isComplete || goesOn)) events.push(this.#completed(known, block));
    if (goesOn && hasEnded) known.hasLapsed = false;
    return events;
  }

  /** A result that is complete only after its call has ended. */
  #resultFollowed(block: Block): LlmEvent[] {
    const result = this.#results.get(block.id);
    const known = result && this.#known.get(result.call);
    if (!result || !known?.isComplete || known.hasResultTold || !isEnded(block.status)) return [];
    known.hasResultTold = true;
    const { toolName, toolId, message } = known;
    const success = block.status === "done" && block.metadata.isError !== true;
    const text = result.text.toString();
    this.#results.delete(block.id);
    return [
      {
        ...headOf(message, block.updatedAt),
        type: "llm_tool_execution_complete",
        toolName,
        toolId,
        success,
        result: text,
        ...(success ? {} : { error: block.metadata.reason ?? "failed" }),
      },
    ];
  }

  #completed(known: Content, block: Block): LlmEvent {
    const { metadata, status, updatedAt } = block;
    known.isComplete = true;
    const { toolName, toolId, message } = known;
    const success = status === "done" && metadata.success !== false;
    const result = this.#results.get(known.result ?? "")?.text.toString();
    if (result !== undefined && !isLapsed(block)) {
      known.hasResultTold = true;
      this.#results.delete(known.result ?? "");
    }
    return {
      ...headOf(message, updatedAt),
      type: "llm_tool_execution_complete",
      toolName,
      toolId,
      success,
      ...(result === undefined ? {} : { result }),
      ...(success ? {} : { error: metadata.error ?? metadata.reason ?? "failed" }),
    };
  }
}

const EMPTY = Text.of("");

/** Whether a call has run, according to its block. One that was cut off, denied or stopped before has not. */
function hasStarted({ metadata, status }: Block, hasResult: boolean): boolean {
  const { stage, reason, input, success } = metadata;
  const state = askOf(metadata)?.state;
  if (state === "asked" || state === "denied" || state === "expired") return false;
  if (stage === "running" || hasResult) return true;
  if (!isEnded(status) || reason === "truncated" || reason === "denied") return false;
  // It ended without a known start: it ran if it has an outcome.
  return success === true || (input !== undefined && reason === "failed");
}
