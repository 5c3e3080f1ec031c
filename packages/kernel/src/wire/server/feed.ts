/**
 * The feed of one subscription: subscribe first, then read, then deliver, so that nothing is lost or repeated.
 *
 * It receives commits from the moment it exists, and holds them back while it reads the catch-up. What it reads has versions, so
 * commits that are already included are skipped. A feed determines the order for one subscriber; the connection determines
 * when frames are sent.
 */

import type { Block } from "../../model/block.ts";
import type { Change, Snapshot } from "../../model/change.ts";
import type { Conversation, Turn } from "../../model/conversation.ts";
import type { BlockId, ConversationId } from "../../model/ids.ts";
import { RESULT_KINDS } from "../../model/kind.ts";
import { limits } from "../../model/limits.ts";
import type { Op } from "../../model/op.ts";
import { isProblem, type Problem } from "../../model/problem.ts";
import { closedResult } from "../../presentation/closed-result.ts";
import type { Kernel } from "../../write/kernel.ts";

interface Since {
  readonly epoch: string;
  readonly seq: number;
}

interface Opening {
  readonly verdict: "ok" | "reset";
  readonly seq: number;
  readonly record: Conversation;
  readonly turns: readonly Turn[];
  /** reset: the window. ok: none; what was missed is in `change`. */
  readonly blocks: readonly Snapshot[];
  readonly more: boolean;
  /** Tool calls that have not ended and are older than the window. */
  readonly calls?: readonly Snapshot[];
  readonly reason?: string;
  readonly change?: Change;
}

interface FeedOptions {
  readonly conversation: ConversationId;
  /** Send initially closed results without their text, only with what they show while closed. */
  readonly isBrief: boolean;
}

export class Feed {
  readonly conversation: ConversationId;
  readonly #isBrief: boolean;
  readonly #kernel: Kernel;
  readonly #deliver: (change: Change) => void;
  /** Commits received while the catch-up is read; undefined afterwards. */
  #heldBack: Change[] | undefined = [];
  /** The block versions that the catch-up contained. */
  readonly #given = new Map<BlockId, number>();
  /** The highest seq among them. */
  #givenSeq = 0;
  #unfollow: (() => void) | undefined;
  #isClosed = false;

  constructor(kernel: Kernel, options: FeedOptions, deliver: (change: Change) => void) {
    this.#kernel = kernel;
    this.conversation = options.conversation;
    this.#isBrief = options.isBrief;
    this.#deliver = deliver;
  }

  /** Live changes are delivered as they are: one object for all subscriptions (see outbox.ts). */
  onCommit(change: Change): void {
    if (change.conversation !== this.conversation) return;
    if (this.#heldBack) this.#heldBack.push(change);
    else if (change.renewed) {
      this.#heldBack = [];
      void this.#renew(change, change.renewed);
    } else if (this.#given.size > 0) this.#deliverRest(change);
    else this.#deliver(change);
  }

  /** The catch-up may already contain another node's commits that are emitted later: skips those ops. */
  #deliverRest(change: Change): void {
    const ops = change.ops.filter((op) => !this.#isGiven(op));
    if (change.seq >= this.#givenSeq) this.#given.clear();
    this.#deliver({ ...change, ops });
  }

  async open(since: Since | undefined, windowBlocks: number): Promise<Opening | Problem> {
    if (this.#kernel.isShared) {
      const followed = await this.#kernel.follow(this.conversation);
      if (isProblem(followed)) return followed;
      this.#unfollow = followed;
      if (this.#isClosed) followed();
    }
    const record = await this.#kernel.conversation(this.conversation);
    if (isProblem(record)) return record;
    const turns = await this.#kernel.turns(this.conversation);
    if (isProblem(turns)) return turns;
    const why = this.#whyReset(since, record);
    if (since !== undefined && why === undefined) {
      const change = await this.#catchUp(since.seq, record, turns);
      if (isProblem(change)) return change;
      if (change) return { verdict: "ok", seq: since.seq, record, turns, blocks: [], more: false, change };
    }
    const window = await this.page(Number.MAX_SAFE_INTEGER, windowBlocks, true);
    if (isProblem(window)) return window;
    const reason = since === undefined ? undefined : (why ?? "too many changes");
    const { blocks, more } = window;
    const calls = more ? await this.#openCalls(blocks[0]?.block.born ?? 0) : [];
    if (isProblem(calls)) return calls;
    return {
      ...{ verdict: "reset", seq: record.seq, record, turns, blocks, more },
      ...(calls.length > 0 ? { calls } : {}),
      ...(reason ? { reason } : {}),
    };
  }

  /** Subscribers that follow tool calls need their ends, even if they started before the window. */
  async #openCalls(before: number): Promise<readonly Snapshot[] | Problem> {
    const { conversation } = this;
    const found: Snapshot[] = [];
    for (const status of ["pending", "running"] as const) {
      const query = { conversation, status, kinds: ["tool_call"], before, order: "last" } as const;
      const open = await this.#kernel.blocks({ ...query, limit: limits.openCalls });
      if (isProblem(open)) return open;
      found.push(...open.map((block) => this.#outline(block)));
    }
    return found;
  }

  /** The subscription has ended. */
  close(): void {
    this.#isClosed = true;
    this.#unfollow?.();
  }

  /** The opening has been sent: delivers what was held back, then everything live. */
  live(from: number): void {
    const heldBack = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const change of heldBack) {
      if (change.seq <= from) continue;
      this.onCommit({ ...change, ops: change.ops.filter((op) => op.seq > from && !this.#isGiven(op)) });
    }
    const heard = heldBack.at(-1)?.seq ?? 0;
    if (Math.max(from, heard) >= this.#givenSeq) this.#given.clear();
  }

  /** The ops of some blocks are gone: reads these blocks again. Other changes wait meanwhile. */
  async #renew({ renewed: _, ...change }: Change, renewed: readonly BlockId[]): Promise<void> {
    const old = change.blocks.filter(({ id }) => renewed.includes(id));
    // If their texts cannot be read now, the client requests them until they arrive.
    const read = await this.#snapshots(old, limits.windowTextChars).catch(() => undefined);
    const whole = !read || isProblem(read) ? old.map((block) => this.#outline(block)) : read;
    this.#deliver({ ...change, whole });
    this.live(change.seq);
  }

  /** Blocks created before `before`, oldest first. With `texts`, includes texts from the newest back, up to a total size. */
  async page(
    before: number,
    limit: number,
    texts: boolean,
  ): Promise<{ readonly blocks: readonly Snapshot[]; readonly more: boolean } | Problem> {
    const { conversation } = this;
    const found = await this.#kernel.blocks({ conversation, before, order: "last", limit: limit + 1 });
    if (isProblem(found)) return found;
    const more = found.length > limit;
    const newest = found.slice(0, limit);
    const snapshots = await this.#snapshots(newest, texts ? limits.windowTextChars : 0);
    return isProblem(snapshots) ? snapshots : { blocks: snapshots.reverse(), more };
  }

  #whyReset(since: Since | undefined, record: Conversation): string | undefined {
    if (since === undefined) return undefined;
    if (since.epoch !== this.#kernel.store.epoch) return "the store is a different one";
    if (since.seq > record.seq) return "the cursor is ahead of the conversation";
    return undefined;
  }

  /** The change since `since`; undefined if it is too large. */
  async #catchUp(
    since: number,
    record: Conversation,
    turns: readonly Turn[],
  ): Promise<Change | undefined | Problem> {
    const { conversation } = this;
    const { seq } = record;
    if (since === seq) return { conversation, seq, record, ops: [], blocks: [], turns };
    const limit = limits.catchUpBlocks + 1;
    const query = { conversation, changedSince: since, order: "first", limit } as const;
    const changed = await this.#kernel.blocks(query);
    if (isProblem(changed)) return changed;
    if (changed.length > limits.catchUpBlocks) return undefined;
    const ops: Op[] = [];
    const anew: Block[] = [];
    for (const block of changed) {
      const missed = block.born > since ? undefined : await this.#missedOps(block, since, record.seq);
      if (missed === undefined) anew.push(block);
      else if (isProblem(missed)) return missed;
      else ops.push(...missed);
    }
    const whole = await this.#snapshots(anew, limits.windowTextChars);
    if (isProblem(whole)) return whole;
    ops.sort((a, b) => a.seq - b.seq);
    return { conversation, seq, record, ops, blocks: changed, turns, whole };
  }

  /** The ops of a block that the subscriber lacks; undefined if they cannot be separated from those it has. */
  async #missedOps(block: Block, since: number, until: number): Promise<readonly Op[] | undefined | Problem> {
    const log = await this.#kernel.log(block.id, { seq: since });
    if (isProblem(log)) return log;
    if (log.compacted) return undefined;
    const missed = log.ops.filter((op) => op.seqFrom <= until);
    if (missed.some((op) => op.seqFrom <= since || op.seq > until)) return undefined;
    this.#give(block, missed.at(-1)?.version ?? 0);
    return missed;
  }

  /** Blocks, with the texts of the first ones up to `chars`. */
  async #snapshots(blocks: readonly Block[], chars: number): Promise<Snapshot[] | Problem> {
    let room = chars;
    let toLookThrough = this.#isBrief ? limits.briefTotalChars : 0;
    const reading = blocks.map((block) => {
      const isBrief =
        block.chars <= Math.min(toLookThrough, limits.briefChars) && RESULT_KINDS.includes(block.kind);
      if (isBrief) toLookThrough -= block.chars;
      if (isBrief) return this.#briefly(block);
      const fits = block.chars <= room;
      if (fits) room -= block.chars;
      return fits ? this.#snapshot(block) : this.#outline(block);
    });
    const snapshots: Snapshot[] = [];
    for (const snapshot of await Promise.all(reading)) {
      if (isProblem(snapshot)) return snapshot;
      // A result that is shown in full uses some of the remaining room.
      const isLate = "isBrief" in snapshot && snapshot.text !== undefined;
      const fits = !isLate || snapshot.text.length <= room;
      if (isLate && fits) room -= snapshot.text.length;
      const { block, text, closed } = snapshot;
      snapshots.push({
        block,
        ...(text !== undefined && fits ? { text } : {}),
        ...(closed === undefined ? {} : { closed }),
      });
    }
    return snapshots;
  }

  /** A result with what it shows while closed, or with its text if it is shown in full. */
  async #briefly(block: Block): Promise<(Snapshot & { readonly isBrief: true }) | Problem> {
    const read = await this.#kernel.read(block.id);
    if (isProblem(read)) return read;
    const { side, parent } = read.block;
    const above = side && parent !== null ? await this.#kernel.block(parent) : undefined;
    const call = above === undefined || isProblem(above) || above.kind !== "tool_call" ? undefined : above;
    const { text } = read;
    const lines = { length: text.lineCount, slice: (from: number, to: number) => text.lines(from, to) };
    const closed = closedResult(read.block, call, lines);
    this.#give(read.block, read.block.version);
    return { block: read.block, isBrief: true, ...(closed ? { closed } : { text: text.toString() }) };
  }

  /** A block and its text, of one version. */
  async #snapshot(block: Block): Promise<Snapshot | Problem> {
    const read = await this.#kernel.read(block.id);
    if (isProblem(read)) return read;
    this.#give(read.block, read.block.version);
    return { block: read.block, text: read.text.toString() };
  }

  #outline(block: Block): Snapshot {
    this.#give(block, block.version);
    return { block };
  }

  #give({ id, seq }: Block, version: number): void {
    if (!this.#heldBack) return; // a page of older ones
    this.#given.set(id, version);
    this.#givenSeq = Math.max(this.#givenSeq, seq);
  }

  #isGiven(op: Op): boolean {
    return op.block !== null && op.version <= (this.#given.get(op.block) ?? 0);
  }
}
