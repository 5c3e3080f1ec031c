/**
 * A conversation's turns as `llm_*` events for one reader: from where it stopped, from a message of its choice, or from
 * the running turn; then everything live. Subscribe first, then read, then skip what the read has already sent.
 *
 * A cursor stands for everything sent before it. A reader that resumes gets the blocks that have changed since in full,
 * and the end of turns that have ended: a start of a known block replaces it (llm-messages.ts), so nothing is
 * duplicated.
 */

import {
  type Block,
  type BlockId,
  type Change,
  isContent,
  isProblem,
  type Kernel,
  type LlmEvent,
  LlmEvents,
  type Op,
  type Problem,
  problem,
  RESULT_KINDS,
  type Turn,
} from "@blockyard/kernel";
import { bounds } from "./limits.ts";

/** Where a reader begins: behind a cursor, with a message, or with what runs now. */
export interface LlmStart {
  readonly since?: string | undefined;
  readonly from?: string | undefined;
}

export interface LlmSink {
  /** Called in order, and never after the stop. */
  write(events: readonly LlmEvent[]): void;
  /** The reader's cursor means nothing here: what it has may be wrong. */
  reset(): void;
  /** What was there already has been told: a reader that is cut may resume here. */
  opened(cursor: string): void;
  /** Resolves when the reader has taken most of what was written. */
  ready(): Promise<void>;
  /** The reader is too far behind. */
  slow(): void;
}

/** As much of the kernel as a reader needs. */
export type LlmSource = Pick<Kernel, "conversation" | "follow" | "listen" | "turns" | "blocks" | "read"> & {
  readonly store: Pick<Kernel["store"], "epoch" | "conversationOps">;
};

export interface Following {
  stop(): void;
  /** What was there already has been told. */
  readonly opened: Promise<void>;
}

/** Tells the sink everything from the start on; a problem where there is nothing to begin with. */
export async function followLlm(
  kernel: LlmSource,
  conversation: string,
  start: LlmStart,
  sink: LlmSink,
): Promise<Following | Problem> {
  const unfollow = await kernel.follow(conversation);
  if (isProblem(unfollow)) return unfollow;
  const follower = new Follower(kernel, conversation);
  let held: Change[] | undefined = [];
  let isOver = false;
  const unlisten = kernel.listen((change) => {
    if (change.conversation !== conversation || isOver) return;
    if (change.record.deleted) return sink.slow(); // whoever comes back is told that it is gone
    if (!held) return sink.write(follower.commit(change));
    held.push(change);
    if (held.length > bounds.heldCommits) sink.slow();
  });
  const stop = () => {
    isOver = true;
    unlisten();
    unfollow();
  };
  const plan = await follower.plan(start);
  if (isProblem(plan)) {
    stop();
    return plan;
  }
  if (plan.isReset) sink.reset();
  const open = async () => {
    for await (const events of follower.open(plan)) {
      if (isOver) return;
      sink.write(events);
      await sink.ready();
    }
    if (!isOver) sink.opened(plan.cursor);
    for (const change of held ?? []) if (!isOver) sink.write(follower.commit(change));
    held = undefined;
  };
  return { stop, opened: open() };
}

/** What an opening tells. */
interface Plan {
  readonly cursor: string;
  readonly isReset: boolean;
  readonly turns: readonly Turn[];
  /** What the reader has; -1: nothing. */
  readonly since: number;
  /** Turns that have ended behind `since`. */
  readonly ended: ReadonlySet<string>;
}

/** A content block of a turn, and the first result of a call. */
interface Entry {
  readonly block: Block;
  result?: Block;
}

class Follower {
  readonly #kernel: LlmSource;
  readonly #conversation: string;
  readonly #events = new LlmEvents();
  /** Versions that the opening has told. */
  readonly #told = new Map<BlockId, number>();
  /** Turns whose end has been told, or was before the opening. */
  readonly #ended = new Set<string>();

  constructor(kernel: LlmSource, conversation: string) {
    this.#kernel = kernel;
    this.#conversation = conversation;
  }

  async plan({ since, from }: LlmStart): Promise<Plan | Problem> {
    const record = await this.#kernel.conversation(this.#conversation);
    if (isProblem(record)) return record;
    const turns = await this.#kernel.turns(this.#conversation);
    if (isProblem(turns)) return turns;
    for (const { id, status } of turns) if (status !== "running") this.#ended.add(id);
    const running = turns.filter(({ status }) => status === "running");
    const plan = { cursor: this.#cursor(record.seq), isReset: false, since: -1, ended: new Set<string>() };
    if (since !== undefined) {
      const seq = this.#seqOf(since);
      if (seq !== undefined && seq <= record.seq) return { ...plan, ...(await this.#resumed(turns, seq)) };
      // Of another store, or of one that was put back: what runs, and the last that ended.
      const last = turns.filter(({ status }) => status !== "running").at(-1);
      return {
        ...plan,
        isReset: true,
        turns: turns.filter((turn) => turn === last || running.includes(turn)),
      };
    }
    if (from === undefined) return { ...plan, turns: running };
    const at = turns.findIndex(({ id }) => id === from);
    if (at === -1) return noMessage(from, turns);
    return { ...plan, turns: turns.slice(at) };
  }

  /** What the plan says, a block at a time. */
  async *open({ turns, since, ended }: Plan): AsyncGenerator<readonly LlmEvent[]> {
    if (turns.length === 0) return;
    const entries = await this.#entries(new Set(turns.map(({ id }) => id)));
    for (const turn of turns) {
      const own = entries.get(turn.id) ?? [];
      const isKnown = own.some(({ block }) => block.born <= since);
      yield this.#events.begin(turn, isKnown);
      for (const { block, result } of own) {
        const events = await this.#whole(block.id, result?.id);
        const isNews = !isKnown || block.seq > since || (result !== undefined && result.seq > since);
        if (isNews) yield events;
      }
      const end = this.#events.turn(turn);
      if (!isKnown || ended.has(turn.id)) yield end;
    }
  }

  commit({ ops, blocks, record }: Change): readonly LlmEvent[] {
    const fresh = ops.filter((op) => this.#isFresh(op));
    const events = fresh.length === 0 ? [] : this.#events.commit(fresh, blocks);
    const last = events.at(-1);
    return last ? [...events.slice(0, -1), { ...last, cursor: this.#cursor(record.seq) }] : [];
  }

  #cursor(seq: number): string {
    return `${this.#kernel.store.epoch}.${seq}`;
  }

  #seqOf(cursor: string): number | undefined {
    const dot = cursor.lastIndexOf(".");
    const seq = cursor.slice(dot + 1);
    return cursor.slice(0, dot) === this.#kernel.store.epoch && /^\d{1,15}$/.test(seq)
      ? Number(seq)
      : undefined;
  }

  /** The turns of which a reader that stopped at `since` lacks something. */
  async #resumed(turns: readonly Turn[], since: number): Promise<Pick<Plan, "turns" | "since" | "ended">> {
    const changed = new Set<string>();
    const ended = new Set<string>();
    for (const { body } of await this.#kernel.store.conversationOps(this.#conversation, since)) {
      if (body.type !== "turn") continue;
      changed.add(body.turn.id);
      if (body.turn.status !== "running") ended.add(body.turn.id);
    }
    for (const turn of await this.#changedTurns(since)) changed.add(turn);
    return {
      turns: turns.filter(({ id, status }) => status === "running" || changed.has(id)),
      since,
      ended,
    };
  }

  async #changedTurns(since: number): Promise<readonly string[]> {
    const query = {
      conversation: this.#conversation,
      changedSince: since,
      order: "first",
      limit: 1e9,
    } as const;
    const blocks = await this.#kernel.blocks(query);
    if (isProblem(blocks)) return [];
    const found: string[] = [];
    for (const { metadata, parent, kind } of blocks) {
      const { turn } = metadata;
      if (typeof turn === "string") found.push(turn);
      // A result that was attached later names no turn: its call does.
      else if (parent !== null && RESULT_KINDS.includes(kind)) found.push(...(await this.#turnOf(parent)));
    }
    return found;
  }

  async #turnOf(call: BlockId): Promise<readonly string[]> {
    const read = await this.#kernel.read(call);
    return isProblem(read) ? [] : [read.block.metadata.turn ?? ""];
  }

  /** The content blocks of some turns, in order, without their texts. */
  async #entries(turns: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly Entry[]>> {
    const found = new Map<string, Entry[]>();
    const calls = new Map<BlockId, Entry>();
    let after = 0;
    for (;;) {
      const page = await this.#kernel.blocks({
        conversation: this.#conversation,
        after,
        order: "first",
        limit: bounds.blocksAtOnce,
      });
      if (isProblem(page)) return found;
      for (const block of page) {
        after = block.born;
        const call = block.parent === null ? undefined : calls.get(block.parent);
        if (call && !call.result && RESULT_KINDS.includes(block.kind)) call.result = block;
        const turn = block.metadata.turn ?? "";
        if (!turns.has(turn) || !isContent(block)) continue;
        const entry: Entry = { block };
        found.set(turn, [...(found.get(turn) ?? []), entry]);
        if (block.kind === "tool_call") calls.set(block.id, entry);
      }
      if (page.length < bounds.blocksAtOnce) return found;
    }
  }

  async #whole(id: BlockId, resultId: BlockId | undefined): Promise<LlmEvent[]> {
    // The result first: a call that has ended by then has all of it.
    const result = resultId === undefined ? undefined : await this.#kernel.read(resultId);
    const read = await this.#kernel.read(id);
    if (isProblem(read)) return [];
    this.#told.set(id, read.block.version);
    const text = read.text.toString();
    if (result === undefined || isProblem(result)) return this.#events.whole(read.block, text);
    this.#told.set(result.block.id, result.block.version);
    return this.#events.whole(read.block, text, { block: result.block, text: result.text.toString() });
  }

  #isFresh({ block, version, body }: Op): boolean {
    if (body.type === "turn") {
      const { id, status } = body.turn;
      if (this.#ended.has(id)) return false;
      if (status !== "running") this.#ended.add(id);
      return true;
    }
    const told = block === null ? undefined : this.#told.get(block);
    if (told === undefined || block === null) return true;
    if (version <= told) return false;
    this.#told.delete(block);
    return true;
  }
}

function noMessage(from: string, turns: readonly Turn[]): Problem {
  const last = turns.slice(-10).map(({ id }) => id);
  const there = last.length === 0 ? "there is none yet" : `the last are ${last.join(", ")}`;
  return problem("not_found", `no message ${from.slice(0, 80)} in this conversation: ${there}`, {
    messages: last,
  });
}
