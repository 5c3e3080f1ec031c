/**
 * Ingest: writes an adapter's block events through the one write path, in order and in batches.
 *
 * - Streamed pieces go directly to the kernel's appender. Pieces of a block that is not written yet wait for its start, and a
 *   block's other events wait for its pieces: the events of one block are written in order.
 * - An event that the kernel refuses is never dropped: it becomes an `unknown` block that shows it.
 * - With `keep`, each block stores its key, and existing blocks are recognized: importing again adds nothing, and completes
 *   blocks that were still open.
 * - With `from`, blocks get the times of their events instead of the time of writing.
 * - `finish` closes open blocks as interrupted; `drain` leaves them open. Calls whose results come separately stay open: their
 *   results end them, or the end of their agent's lease.
 */

import type { Block } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockEvent, BlockKey } from "../model/event.ts";
import type { BlockId } from "../model/ids.ts";
import { isEnded } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { cleanText, splitTail } from "../text/sanitize.ts";
import type { Kernel } from "../write/kernel.ts";
import { EventWriter, type Item, type Known } from "./event-writer.ts";
import { countUnlessImported, keyIn } from "./imported.ts";
import type { IngestOptions } from "./place.ts";

/** Internal: the conversation has blocks that this ingest does not know. */
const GROWN = problem("conflict", "others have added blocks");

/** A block that pieces were streamed into directly: how many, and how many of those are durable. */
interface StreamedTo {
  readonly id: BlockId;
  pieces: number;
  durable: number;
}

/** The part of the kernel that an ingest uses. */
export type IngestKernel = Pick<
  Kernel,
  "env" | "store" | "conversation" | "turns" | "allBlocks" | "catchUp" | "stream" | "drain" | "write"
>;

export class Ingest {
  readonly #kernel: IngestKernel;
  readonly #options: IngestOptions;
  readonly #known = new Map<BlockKey, Known>();
  readonly #turns = new Map<string, Turn>();
  /** Blocks that pieces were streamed into directly, until they end. */
  readonly #streams = new Map<BlockKey, StreamedTo>();
  /** The number of pending items per block. */
  readonly #waiting = new Map<BlockKey, number>();
  /** Half a surrogate pair at the end of a block's last piece. */
  readonly #halves = new Map<BlockKey, string>();
  #pending: Item[] = [];
  #pump: Promise<void> | undefined;
  #head: BlockId | null | undefined;
  #turn: string | undefined;
  /** The adapter's id for the turn that the caller has opened. */
  #alias: string | undefined;
  #titled = false;
  #usageAt: number | undefined;
  #usageDue: string | undefined;
  /** Until usage that is due is written. */
  #cancelUsage: (() => void) | undefined;
  #at: number | undefined;
  #failure: Problem | undefined;
  /** The caller's turn has not begun: turns that start now are others. */
  #isEarly: boolean;
  #blocks: number | undefined; // with `keep`: the conversation's number of blocks, as known here
  #heldSince: number | undefined; // since when the store has refused pending items
  /** Events that the kernel refused and that became `unknown` blocks. */
  refused = 0;

  constructor(kernel: IngestKernel, options: IngestOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#head = options.parent;
    this.#turn = options.turn;
    this.#at = options.from;
    this.#isEarly = options.begins === "later";
  }

  /** The next turn that starts is the caller's. */
  claim(): void {
    this.#isEarly = false;
  }

  /** Continues the open blocks of another ingest of the same stream, which has stopped writing. */
  takeOver(other: Ingest): void {
    for (const [key, known] of other.#known) if (isOpen(known)) this.#known.set(key, known);
  }

  /** Whether this stream has open blocks that it will end. */
  get hasOpen(): boolean {
    return [...this.#known.values()].some(isOpen);
  }

  /** Reads the conversation's existing state. Call it once, before the first push. */
  async open(): Promise<Problem | undefined> {
    const { conversation, keep } = this.#options;
    const record = await this.#kernel.conversation(conversation);
    if (isProblem(record)) return record;
    this.#titled = record.title !== "";
    const turns = await this.#kernel.turns(conversation);
    if (isProblem(turns)) return turns;
    for (const turn of turns) this.#turns.set(turn.id, turn);
    if (!keep) return undefined;
    const blocks = await this.#kernel.allBlocks(conversation);
    if (isProblem(blocks)) return blocks;
    for (const block of blocks) this.#recognise(block);
    this.#blocks = blocks.length;
    return undefined;
  }

  /** Accepts events. Resolves at once while little is pending, later otherwise: the caller's backpressure. */
  push(events: readonly BlockEvent[]): Promise<Problem | undefined> {
    for (const event of events) this.#accept(event);
    const pump = this.#pending.length > limits.pendingEvents ? this.#pump : undefined;
    return pump === undefined ? Promise.resolve(this.#failure) : pump.then(() => this.#failure);
  }

  /** Waits until everything is durable. Open blocks stay open, for a stream that continues. */
  drain(): Promise<Problem | undefined> {
    if (this.#halves.size > 0) for (const key of [...this.#halves.keys()]) this.#giveHalf(key);
    return this.#pump === undefined ? this.#drainAll() : this.#drainBehind();
  }

  async #drainBehind(): Promise<Problem | undefined> {
    while (this.#pump) await this.#pump;
    return this.#drainAll();
  }

  /** Waits until everything is durable, and closes open blocks. */
  async finish(): Promise<Problem | undefined> {
    await this.drain();
    for (const [key, known] of this.#known)
      if (isOpen(known)) this.#enqueue({ type: "block-end", key, status: "error", reason: "interrupted" });
    while (this.#pump) await this.#pump;
    this.#schedule(undefined);
    return this.#failure;
  }

  /** Continues at the conversation's current head, because someone else has written to it. */
  follow(): void {
    this.#head = undefined;
  }

  /** Calls whose results do not come in this stream. */
  get owed(): readonly BlockId[] {
    return [...this.#known.values()].filter(({ isOwed }) => isOwed).map(({ id }) => id);
  }

  /** The id of a key's block, once it is written. */
  idOf(key: BlockKey): BlockId | undefined {
    return this.#known.get(key)?.id;
  }

  #recognise(block: Block): void {
    const key = keyIn(block);
    if (key === undefined) return;
    const old = isEnded(block.status);
    this.#known.set(key, {
      id: block.id,
      written: old ? undefined : "",
      startedAt: undefined,
      old,
      resumed: !old,
    });
    if (!block.side) this.#head = block.id;
  }

  #accept(event: BlockEvent): void {
    if (event.type === "turn-start" && this.#options.turn !== undefined && !this.#isEarly)
      this.#alias ??= event.turn;
    if (event.type === "block-append") return this.#append(event.key, event.text);
    if (event.type === "block-meta" || event.type === "block-end") this.#giveHalf(event.key);
    this.#enqueue(event);
  }

  /** Streams a piece directly, or queues it after the block's pending items. Half a surrogate pair waits for its other half. */
  #append(key: BlockKey, text: string): void {
    const half = this.#halves.size === 0 ? undefined : this.#halves.get(key);
    const { ready, held } = splitTail(half === undefined ? text : half + text);
    if (held !== "") this.#halves.set(key, held);
    else if (half !== undefined) this.#halves.delete(key);
    if (ready === "" || (!this.#waiting.has(key) && this.#stream(key, ready))) return;
    this.#enqueue({ type: "flush", key, text: ready });
  }

  /** Releases half a surrogate pair: its other half will not come. */
  #giveHalf(key: BlockKey): void {
    const half = this.#halves.get(key);
    this.#halves.delete(key);
    if (half !== undefined) this.#enqueue({ type: "flush", key, text: half });
  }

  /** Streams a piece through the kernel's appender, if possible. Pieces with past times cannot take that path. */
  #stream(key: BlockKey, text: string): boolean {
    const known = this.#known.get(key);
    if (!known || known.old || known.resumed || known.written === undefined || this.#at !== undefined)
      return false;
    const clean = cleanText(text);
    const refused = this.#kernel.stream(known.id, this.#options.agent, clean);
    if (refused?.problem === "busy") return false;
    if (refused) this.refused++;
    else known.written += clean;
    const stream = this.#streams.get(key);
    if (stream === undefined) this.#streams.set(key, { id: known.id, pieces: 1, durable: 0 });
    else stream.pieces++;
    return true;
  }

  /** Waits until directly streamed pieces are durable, for a bounded time. Nearly always there is one stream. */
  #drainAll(): Promise<Problem | undefined> {
    const drains: Promise<Problem | undefined>[] = [];
    for (const stream of this.#streams.values())
      if (stream.durable < stream.pieces) drains.push(this.#drainStream(stream));
    const [only] = drains;
    if (only !== undefined && drains.length === 1) return only;
    return Promise.all(drains).then(() => this.#failure);
  }

  #drainStream(stream: StreamedTo): Promise<Problem | undefined> {
    const { pieces } = stream;
    return this.#kernel.drain(stream.id, this.#options.agent).then((outcome) => {
      if (isProblem(outcome)) return this.#drainAgain(stream, pieces, outcome);
      stream.durable = pieces; // not those that came meanwhile
      return this.#failure;
    });
  }

  async #drainAgain(stream: StreamedTo, pieces: number, refused: Problem): Promise<Problem | undefined> {
    const { env } = this.#kernel;
    const since = env.monotonic();
    let outcome: number | Problem | undefined = refused;
    while (mayPass(outcome) && env.monotonic() - since <= limits.holdMs)
      outcome = await this.#kernel.drain(stream.id, this.#options.agent);
    if (mayPass(outcome)) this.#failure ??= outcome;
    else if (isProblem(outcome)) this.refused++;
    stream.durable = pieces;
    return this.#failure;
  }

  #enqueue(item: Item): void {
    if ("key" in item) this.#waiting.set(item.key, (this.#waiting.get(item.key) ?? 0) + 1);
    this.#pending.push(item);
    this.#pump ??= this.#run();
  }

  /** Counts items as no longer pending. */
  #left(items: readonly Item[]): void {
    for (const item of items) {
      if (!("key" in item)) continue;
      const left = (this.#waiting.get(item.key) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(item.key);
      else this.#waiting.set(item.key, left);
    }
  }

  /** Streams pending pieces directly once their block is written, so that a stream returns to the direct path. */
  #release(): void {
    const blocked = new Set<BlockKey>();
    const gone: Item[] = [];
    this.#pending = this.#pending.filter((item) => {
      if (!("key" in item)) return true;
      if (item.type === "flush" && !blocked.has(item.key) && this.#stream(item.key, item.text)) {
        gone.push(item);
        return false;
      }
      blocked.add(item.key);
      return true;
    });
    this.#left(gone);
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // events accepted in the same tick share a batch
    while (this.#pending.length > 0 && !this.#failure) {
      const items = this.#pending.slice(0, limits.eventsPerWrite);
      const answer = await this.#write(items);
      if (isProblem(answer)) {
        if (answer === GROWN) this.#failure = await this.#lookAtOthers();
        else await this.#hold(answer);
        continue;
      }
      this.#heldSince = undefined;
      this.#left(this.#pending.splice(0, items.length));
      this.#release();
    }
    this.#pump = undefined;
  }

  /** Usage is written now and then by what comes later. Where nothing comes, a timer does it. */
  #schedule(due: string | undefined): void {
    this.#usageDue = due;
    if (due === undefined) {
      this.#cancelUsage?.();
      this.#cancelUsage = undefined;
    }
    if (due === undefined || this.#cancelUsage !== undefined) return;
    this.#cancelUsage = this.#kernel.env.after(limits.turnUsageMs, () => {
      this.#cancelUsage = undefined;
      this.#enqueue({ type: "usage-due" });
    });
  }

  async #lookAtOthers(): Promise<Problem | undefined> {
    const own = new Set([...this.#known.values()].map(({ id }) => id));
    const blocks = await countUnlessImported(this.#kernel, this.#options.conversation, own);
    if (!isProblem(blocks)) this.#blocks = blocks;
    return isProblem(blocks) ? blocks : undefined;
  }

  /** Retries what the store cannot take now, for a bounded time. */
  async #hold(refused: Problem): Promise<void> {
    const { env } = this.#kernel;
    this.#heldSince ??= env.monotonic();
    const isLong = env.monotonic() - this.#heldSince > limits.holdMs;
    if (isLong || !mayPass(refused)) this.#failure = refused;
    else await new Promise<void>((resume) => env.after(limits.ingestRetryMs, resume));
  }

  /** The blocks of these items that pieces were streamed into. */
  #streamsIn(items: readonly Item[]): BlockId[] {
    if (this.#streams.size === 0) return [];
    const keys = new Set(items.flatMap((item) => ("key" in item ? [item.key] : [])));
    return [...keys].flatMap((key) => this.#streams.get(key)?.id ?? []);
  }

  /** Writes one batch with one plan. A plan may run again, so its new state is adopted only after the commit. */
  async #write(items: readonly Item[]): Promise<Problem | null> {
    const { conversation, agent } = this.#options;
    let writer: EventWriter | undefined;
    let blocks: number | undefined;
    const answer = await this.#kernel.write(conversation, {
      agent,
      patient: true, // a stream has no keys, and must be written exactly once
      behind: this.#streamsIn(items),
      plan: (draft) => {
        if (this.#blocks !== undefined && draft.record.blocks !== this.#blocks) return GROWN;
        writer = new EventWriter(draft, this.#options, this.#known, this.#turns, {
          head: this.#head === undefined ? draft.record.head : this.#head,
          turn: this.#turn,
          alias: this.#alias,
          titled: this.#titled,
          usageAt: this.#usageAt,
          usageDue: this.#usageDue,
          at: this.#at,
        });
        for (const item of items) writer.apply(item);
        blocks = draft.record.blocks;
        return null;
      },
    });
    if (isProblem(answer) || !writer) return isProblem(answer) ? answer : null;
    if (this.#blocks !== undefined) this.#blocks = blocks;
    for (const [key, known] of writer.known) {
      this.#known.set(key, known);
      if (known.written === undefined) this.#streams.delete(key);
    }
    for (const [id, turn] of writer.turns) this.#turns.set(id, turn);
    this.#head = writer.place.head;
    this.#turn = writer.place.turn;
    this.#titled = writer.place.titled;
    this.#usageAt = writer.place.usageAt;
    this.#schedule(writer.place.usageDue);
    this.#at = writer.place.at;
    this.refused += writer.refused;
    return null;
  }
}

/** Calls whose results come separately are not this stream's to end. */
function isOpen({ written, old, isOwed }: Known): boolean {
  return written !== undefined && !old && !isOwed;
}

/** Whether the store may take it later. */
function mayPass(outcome: number | Problem | undefined): outcome is Problem {
  return isProblem(outcome) && (outcome.problem === "storage" || outcome.problem === "busy");
}
