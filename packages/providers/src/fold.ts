/**
 * Folds block events into final blocks, in memory: what tests, goldens and the `blocks` command look at.
 *
 * Not the kernel: nothing is stored, versioned or shared here. It keeps the adapters' contract in sight: every start
 * has exactly one end, nothing follows an end, a parent stands before its children. What breaks it is listed in
 * `faults`, in words, and otherwise left out.
 */

import {
  type BlockEvent,
  cleanJson,
  type Json,
  type JsonObject,
  type Kind,
  limits,
  patchMetadata,
  type Reason,
  type Role,
  type Stage,
  type Status,
  type TurnStatus,
  type Usage,
} from "@blockyard/kernel";
import { isObject } from "./framing/json.ts";

export interface FoldedBlock {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: Kind;
  readonly role: Role;
  readonly status: Status;
  readonly text: string;
  readonly metadata: JsonObject;
}

export interface FoldedTurn {
  readonly turn: string;
  readonly provider: string;
  readonly status: TurnStatus;
  readonly model?: string;
  readonly sessionId?: string;
  readonly reason?: Reason;
  readonly stopReason?: string;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly uncounted?: true;
  readonly durationMs?: number;
  readonly models?: readonly string[];
  readonly error?: string;
  readonly native?: JsonObject;
}

interface FoldedMessage {
  readonly messageId: string;
  readonly parent?: string;
  readonly turn?: string;
  readonly model?: string;
  readonly usage: Usage;
}

type Session = Omit<Extract<BlockEvent, { type: "session" }>, "type">;

export interface Folded {
  readonly sessions: readonly Session[];
  /** In the order of their starts. */
  readonly blocks: readonly FoldedBlock[];
  readonly turns: readonly FoldedTurn[];
  readonly messages: readonly FoldedMessage[];
  readonly unknown: Readonly<Record<string, number>>;
  /** Of every tool call: its stages in order, equal neighbours as one. */
  readonly stages: ReadonlyMap<string, readonly Stage[]>;
  /** Of every ask, by its name: where it stands. */
  readonly asks: ReadonlyMap<string, string>;
  readonly faults: readonly string[];
}

interface Draft {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: Kind;
  readonly role: Role;
  status: Status;
  text: string;
  metadata: JsonObject;
}

type Of<T extends BlockEvent["type"]> = Extract<BlockEvent, { type: T }>;

export class Fold {
  readonly #blocks = new Map<string, Draft>();
  readonly #turns = new Map<string, FoldedTurn>();
  readonly #messages = new Map<string, FoldedMessage>();
  readonly #stages = new Map<string, Stage[]>();
  readonly #asks = new Map<string, string>();
  readonly #sessions: Session[] = [];
  readonly #faults: string[] = [];

  push(events: readonly BlockEvent[]): void {
    for (const event of events) this.#apply(event);
  }

  /** What has been folded so far. Blocks and turns that are still open say so by their status. */
  result(): Folded {
    const blocks = [...this.#blocks.values()].map((draft) => ({ ...draft }));
    return {
      sessions: [...this.#sessions],
      blocks,
      turns: [...this.#turns.values()],
      messages: [...this.#messages.values()],
      unknown: countUnknown(blocks),
      stages: this.#stages,
      asks: this.#asks,
      faults: [...this.#faults, ...blocks.filter(isLeftOpen).map((block) => `never ended: ${block.id}`)],
    };
  }

  #apply(event: BlockEvent): void {
    if ("metadata" in event) this.#noteAsk(event.metadata);
    switch (event.type) {
      case "session":
        return this.#session(event);
      case "turn-start":
        return this.#startTurn(event);
      case "turn-end":
        return this.#endTurn(event);
      case "message-usage":
        return this.#countMessage(event);
      case "block-start":
        return this.#start(event);
      case "block-append":
        return this.#append(event);
      case "block-meta":
        return this.#meta(event);
      case "block-end":
        return this.#end(event);
    }
  }

  #noteAsk(metadata: JsonObject | undefined): void {
    const ask = askIn(metadata);
    if (ask !== undefined) this.#asks.set(ask.id, ask.state);
  }

  #session({ type: _, ...session }: Of<"session">): void {
    this.#sessions.push(session);
  }

  #startTurn({ type: _, at: _at, ...turn }: Of<"turn-start">): void {
    if (this.#turns.has(turn.turn)) return this.#fault(`turn started twice: ${turn.turn}`);
    this.#turns.set(turn.turn, { ...turn, status: "running" });
  }

  #endTurn({ type: _, at: _at, ...end }: Of<"turn-end">): void {
    const turn = this.#turns.get(end.turn);
    if (turn === undefined) return this.#fault(`turn ended without a start: ${end.turn}`);
    if (turn.status !== "running") return this.#fault(`turn ended twice: ${end.turn}`);
    this.#turns.set(end.turn, { ...turn, ...end });
  }

  #countMessage({ type: _, native: _native, ...message }: Of<"message-usage">): void {
    this.#messages.set(`${message.parent ?? ""} ${message.messageId}`, message);
  }

  #start(event: Of<"block-start">): void {
    if (this.#blocks.has(event.key)) return this.#fault(`started twice: ${event.key}`);
    const parent = event.parent ?? null;
    if (parent !== null && !this.#blocks.has(parent))
      this.#fault(`parent ${parent} of ${event.key} does not exist`);
    this.#blocks.set(event.key, {
      id: event.key,
      parent,
      kind: event.kind,
      role: event.role,
      status: event.kind === "tool_call" ? "pending" : "running",
      text: event.text ?? "",
      metadata: clean(event.metadata),
    });
    if (event.kind === "tool_call") this.#stages.set(event.key, ["start"]);
  }

  #append(event: Of<"block-append">): void {
    const block = this.#open(event.key, "appended to");
    if (block === undefined) return;
    block.text += event.text;
    block.status = "running";
    this.#stage(event.key, "streaming");
  }

  #meta(event: Of<"block-meta">): void {
    const block = this.#open(event.key, "changed");
    if (block === undefined) return;
    block.metadata = patchMetadata(block.metadata, clean(event.metadata));
    if (event.metadata.stage !== "running") return;
    block.status = "running";
    this.#stage(event.key, "running");
  }

  #end(event: Of<"block-end">): void {
    const block = this.#open(event.key, "ended");
    if (block === undefined) return;
    block.status = event.status;
    if (event.text !== undefined) block.text = event.text;
    if (event.metadata !== undefined) block.metadata = patchMetadata(block.metadata, clean(event.metadata));
    if (event.reason !== undefined) block.metadata = { ...block.metadata, reason: event.reason };
    if (block.kind !== "tool_call") return;
    block.metadata = { ...block.metadata, stage: "end" };
    this.#stage(event.key, "end");
  }

  #open(key: string, what: string): Draft | undefined {
    const block = this.#blocks.get(key);
    if (block !== undefined && isOpen(block)) return block;
    this.#fault(`${what} ${block === undefined ? "before its start" : "after its end"}: ${key}`);
    return undefined;
  }

  #stage(key: string, stage: Stage): void {
    const stages = this.#stages.get(key);
    if (stages !== undefined && stages.at(-1) !== stage) stages.push(stage);
  }

  #fault(fault: string): void {
    this.#faults.push(fault);
  }
}

export function fold(events: readonly BlockEvent[]): Folded {
  const folding = new Fold();
  folding.push(events);
  return folding.result();
}

function isOpen(block: { readonly status: Status }): boolean {
  return block.status === "pending" || block.status === "running";
}

/** A call whose result is owed is open on purpose. */
function isLeftOpen(block: FoldedBlock): boolean {
  return isOpen(block) && block.metadata.waiting !== "result";
}

function clean(metadata: JsonObject): JsonObject {
  return (cleanJson(metadata as Json, limits.jsonDepth) as JsonObject | undefined) ?? {};
}

function countUnknown(blocks: readonly FoldedBlock[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const block of blocks) {
    if (block.kind !== "unknown") continue;
    const type = typeof block.metadata.type === "string" ? block.metadata.type : "(no type)";
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The ask in a block's metadata, if there is one: its name and where it stands. */
function askIn(metadata: JsonObject | undefined): { id: string; state: string } | undefined {
  const ask = metadata?.ask ?? metadata?.approval;
  if (!isObject(ask) || typeof ask.id !== "string" || typeof ask.state !== "string") return undefined;
  return { id: ask.id, state: ask.state };
}
