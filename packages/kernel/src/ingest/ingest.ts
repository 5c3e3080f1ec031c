/**
 * Ingest: writes an adapter's block events through the one write door, in order, in batches.
 *
 * - Appends gather by the flush rule; everything else of one batch of events travels in one commit with them, so a
 *   block's final text and its end arrive together.
 * - An event that the kernel refuses is never dropped: it becomes an `unknown` block that shows it.
 * - With `keep`, each block remembers its key, and what was ingested before is recognised: importing again adds nothing,
 *   and a block that was still open is brought up to date.
 * - With `from`, what is written carries the times of its events, not the time of writing.
 * - What an adapter leaves open, `finish` closes as interrupted, and `settle` leaves open. Calls whose results are owed stay
 *   open: their results end them, or the end of their agent's lease.
 */

import { assert } from "../model/assert.ts";
import { type Block, type BlockId, isEnded } from "../model/block.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockEvent, BlockKey } from "../model/event.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { Appender } from "../write/append.ts";
import type { Kernel } from "../write/kernel.ts";
import { EventWriter, type IngestOptions, type Item, type Known } from "./event-writer.ts";
import { countUnlessImported, keyIn } from "./imported.ts";

/** Not an answer to anybody: there are other blocks than were known. */
const GROWN = problem("conflict", "others have added blocks");
const EVENTS_PER_WRITE = 400;
const MAX_PENDING = 4_000;
const RETRY_MS = 500;

export class Ingest {
  readonly #kernel: Kernel;
  readonly #options: IngestOptions;
  readonly #known = new Map<BlockKey, Known>();
  readonly #turns = new Map<string, Turn>();
  readonly #appender: Appender;
  #pending: Item[] = [];
  #pump: Promise<void> | undefined;
  #head: BlockId | null | undefined;
  #turn: string | undefined;
  /** The adapter's name for the turn that the caller has opened. */
  #alias: string | undefined;
  #titled = false;
  #at: number | undefined;
  #failure: Problem | undefined;
  #blocks: number | undefined; // with `keep`: how many the conversation has, as far as is known here
  #heldSince: number | undefined; // since when the store has refused what waits
  /** Events that the kernel refused and that became `unknown` blocks. */
  refused = 0;

  constructor(kernel: Kernel, options: IngestOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#head = options.parent;
    this.#turn = options.turn;
    this.#at = options.from;
    this.#appender = new Appender(kernel.env, (piece) => {
      this.#enqueue({ type: "flush", key: piece.block, text: piece.text });
      piece.settle(0); // from here on it is in the queue of events, whose order is kept
    });
  }

  /** Reads what the conversation already has, for `keep`. Call it once, before the first push. */
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

  /** Takes events in. Resolves at once while little waits, later when much does: the caller's backpressure. */
  async push(events: readonly BlockEvent[]): Promise<Problem | undefined> {
    for (const event of events) this.#accept(event);
    if (this.#pending.length > MAX_PENDING) await this.#pump;
    return this.#failure;
  }

  /** Everything is written and durable; what is open stays open, for an import that goes on. */
  async settle(): Promise<Problem | undefined> {
    await this.#appender.drainAll();
    while (this.#pump) await this.#pump;
    return this.#failure;
  }

  /** Everything is written and durable; what was left open is closed. */
  async finish(): Promise<Problem | undefined> {
    await this.settle();
    for (const [key, known] of this.#known) {
      if (known.written !== undefined && !known.old && !known.isOwed) {
        this.#enqueue({ type: "block-end", key, status: "error", reason: "interrupted" });
      }
    }
    while (this.#pump) await this.#pump;
    return this.#failure;
  }

  /** Calls that wait for results which do not come in this stream. */
  get owed(): readonly BlockId[] {
    return [...this.#known.values()].filter(({ isOwed }) => isOwed).map(({ id }) => id);
  }

  /** The id that an event's key was given, once it is written. */
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
    if (event.type === "block-append") {
      const refused = this.#appender.append(event.key, this.#options.agent, event.text);
      assert(!refused, "the buffer of an ingest does not refuse");
      return;
    }
    if (event.type === "block-meta" || event.type === "block-end")
      this.#appender.push(event.key, this.#options.agent);
    this.#enqueue(event);
  }

  #enqueue(item: Item): void {
    this.#pending.push(item);
    this.#pump ??= this.#run();
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // what is accepted in the same turn belongs to the same batch
    while (this.#pending.length > 0 && !this.#failure) {
      const items = this.#pending.slice(0, EVENTS_PER_WRITE);
      const answer = await this.#write(items);
      if (isProblem(answer)) {
        if (answer === GROWN) this.#failure = await this.#lookAtOthers();
        else await this.#hold(answer);
        continue;
      }
      this.#heldSince = undefined;
      this.#pending.splice(0, items.length);
    }
    this.#pump = undefined;
  }

  async #lookAtOthers(): Promise<Problem | undefined> {
    const own = new Set([...this.#known.values()].map(({ id }) => id));
    const blocks = await countUnlessImported(this.#kernel, this.#options.conversation, own);
    if (!isProblem(blocks)) this.#blocks = blocks;
    return isProblem(blocks) ? blocks : undefined;
  }

  /** What the store cannot take now is tried again, for as long as that makes sense. */
  async #hold(refused: Problem): Promise<void> {
    const { env } = this.#kernel;
    this.#heldSince ??= env.monotonic();
    const isLong = env.monotonic() - this.#heldSince > limits.holdMs;
    if (isLong || (refused.problem !== "storage" && refused.problem !== "busy")) this.#failure = refused;
    else await new Promise<void>((resume) => env.after(RETRY_MS, resume));
  }

  /** One batch, one plan. A plan may run again, so what it learns is taken over only when it is committed. */
  async #write(items: readonly Item[]): Promise<Problem | null> {
    const { conversation, agent } = this.#options;
    let writer: EventWriter | undefined;
    let blocks: number | undefined;
    const answer = await this.#kernel.write(conversation, {
      agent,
      patient: true, // what a stream says must be there once, and it has no key
      plan: (draft) => {
        if (this.#blocks !== undefined && draft.record.blocks !== this.#blocks) return GROWN;
        writer = new EventWriter(draft, this.#options, this.#known, this.#turns, {
          head: this.#head === undefined ? draft.record.head : this.#head,
          turn: this.#turn,
          alias: this.#alias,
          titled: this.#titled,
          at: this.#at,
        });
        for (const item of items) writer.apply(item);
        blocks = draft.record.blocks;
        return null;
      },
    });
    if (isProblem(answer) || !writer) return isProblem(answer) ? answer : null;
    if (this.#blocks !== undefined) this.#blocks = blocks;
    for (const [key, known] of writer.known) this.#known.set(key, known);
    for (const [id, turn] of writer.turns) this.#turns.set(id, turn);
    this.#head = writer.place.head;
    this.#turn = writer.place.turn;
    this.#alias = writer.place.alias;
    this.#titled = writer.place.titled;
    this.#at = writer.place.at;
    this.refused += writer.refused;
    return null;
  }
}
