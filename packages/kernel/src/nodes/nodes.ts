/**
 * One node among those that share a store: sends hints about its commits, applies other nodes' commits, renews its
 * lease, and closes what dead nodes have left.
 *
 * It learns of other nodes' commits in two ways. A hint comes within milliseconds and may be lost. And everything that
 * is open here is polled once a second, so without any hint, nobody here is further behind than that. Both only say
 * that there is something to read; the content comes from the store.
 *
 * Hints are sent on a separate timer: no commit waits for one, and a busy conversation causes at most fifty hints a
 * second.
 */

import type { Change } from "../model/change.ts";
import type { Conversation } from "../model/conversation.ts";
import type { RemoteCursor } from "../model/cursor.ts";
import { type ConversationId, conversationOf } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import type { Broadcast, BroadcastMessage } from "../ports/broadcast.ts";
import { type Env, randomName } from "../ports/env.ts";
import { AGENT_PREFIX, type NodeList, type NodeRegister } from "../ports/store.ts";
import type { Cursors } from "../write/cursors.ts";
import type { Kernel } from "../write/kernel.ts";
import { type Closed, closeLeftBy, closeOrphans } from "./orphans.ts";

interface NodesOptions {
  readonly kernel: Kernel;
  readonly broadcast: Broadcast;
  /** Under which name what dead nodes left is closed. */
  readonly agent: string;
  /** Told what was closed. */
  readonly onClosed?: (closed: Closed, node: string) => void;
}

export class Nodes {
  /** Another one with each start: a node that comes back is a new one. */
  readonly id: string;
  /** Told that a node is not there any more, however it went: what it watched over is for others to look at. */
  onLeft: (() => void) | undefined;
  readonly #options: NodesOptions;
  readonly #kernel: Kernel;
  readonly #env: Env;
  readonly #register: NodeRegister;
  readonly #ends: (() => void)[] = [];
  readonly #cancels = new Map<string, () => void>();
  /** What is to be hinted at. */
  readonly #hints = new Map<ConversationId, number>();
  #hintedAt = -limits.hintMs;
  /** What was heard from others: it is not hinted at again. */
  readonly #heard = new Map<ConversationId, number>();
  /** Where the newest conversations stood when they were last looked at. */
  #seen: ReadonlyMap<ConversationId, number> | undefined;
  #turn = 0;
  /** The other nodes that were alive when this was last asked. */
  #others: readonly string[] = [];
  #looking: Promise<void> | undefined;
  /** When the last beat was taken, and since when none is missing. */
  #beatAt = Number.NEGATIVE_INFINITY;
  #steadySince = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: NodesOptions) {
    const { kernel } = options;
    const register = kernel.store.nodes;
    if (register === undefined) throw new Error("the store has no register of nodes");
    this.#options = options;
    this.#kernel = kernel;
    this.#env = kernel.env;
    this.#register = register;
    this.id = `n-${randomName(kernel.env, 10)}`;
    kernel.node = this.id;
  }

  /** Before this nothing may be begun here. What no living node runs is closed. */
  async start(): Promise<Closed> {
    const { alive, dead } = await this.#beat();
    this.#beatAt = this.#env.monotonic();
    this.#steadySince = this.#beatAt;
    const { agent } = this.#options;
    this.#others = alive.filter((id) => id !== this.id);
    const isAlone = this.#others.length === 0 && dead.length === 0;
    const closeWhatIsLeft = isAlone ? closeOrphans : closeLeftBy;
    // Whether the others whose leases have ended are dead it cannot know yet: see #mayJudge.
    const closed = await closeWhatIsLeft(this.#kernel, agent, () => this.#registered());
    this.#ends.push(this.#kernel.listen((change) => this.#onCommit(change)));
    this.#ends.push(this.#options.broadcast.listen((message) => this.#onMessage(message)));
    this.#every("beat", limits.leaseMs / 3, () => this.beat());
    this.#every("look", limits.lookMs, () => this.look());
    return closed;
  }

  /** Cursors are shown at all nodes, as far as hints get there: nothing makes up for one that is lost but the next. */
  shareCursors(cursors: Cursors): void {
    const { broadcast } = this.#options;
    cursors.onSet = (at) => broadcast.send({ type: "cursor", at });
    this.#ends.push(
      broadcast.listen((message) => {
        if (message.type === "cursor")
          this.#showCursor(cursors, message.at).catch((error) => this.#kernel.onFault(error));
      }),
    );
  }

  /** Only where somebody may see it. Its offsets may mean a text that is not the one here. */
  async #showCursor(cursors: Cursors, at: RemoteCursor): Promise<void> {
    const { block } = at.cursor;
    if (!this.#kernel.open().has(at.conversation) || conversationOf(block) !== at.conversation) return;
    const log = at.version === 0 ? { ops: [] } : await this.#kernel.log(block, { version: at.version });
    if (!isProblem(log) && !("compacted" in log && log.compacted)) cursors.setRemote(at, log.ops);
  }

  /** Leaves: what this node ran must have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sendHints();
    for (const cancel of this.#cancels.values()) cancel();
    for (const end of this.#ends.splice(0)) end();
    await this.#looking;
    await this.#register.remove(this.id).catch(() => undefined); // then its lease ends
  }

  /** Says that this node is alive, and closes what dead ones left. */
  async beat(): Promise<void> {
    const { alive, dead } = await this.#beat();
    if (!this.#mayJudge()) return;
    const others = alive.filter((id) => id !== this.id);
    const hasLeft = this.#others.some((id) => !others.includes(id));
    this.#others = others;
    if (hasLeft) this.onLeft?.();
    for (const node of dead) {
      const closed = await closeLeftBy(this.#kernel, this.#options.agent, () => this.#alive());
      await this.#register.remove(node);
      this.#options.onClosed?.(closed, node);
    }
  }

  /**
   * Whether a lease that has ended says that its node is dead. While the store was away nobody could renew any: whoever gets
   * there first finds all others ended. So it is only said after a time without gaps in which they could have.
   */
  #mayJudge(): boolean {
    const now = this.#env.monotonic();
    if (now - this.#beatAt > limits.beatGapMs) this.#steadySince = now;
    this.#beatAt = now;
    return now - this.#steadySince >= limits.leaseMs;
  }

  /** Looks what others have committed, hint or none. One look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #registered(): Promise<ReadonlySet<string>> {
    const { alive, dead } = await this.#beat();
    return new Set([...alive, ...dead]);
  }

  async #alive(): Promise<ReadonlySet<string>> {
    const { alive } = await this.#beat();
    return new Set(alive);
  }

  /** The nodes of the register, without the agents that are in it. */
  async #beat(): Promise<NodeList> {
    const { alive, dead } = await this.#register.beat(this.id, limits.leaseMs);
    const isNode = (name: string) => !name.startsWith(AGENT_PREFIX);
    return { alive: alive.filter(isNode), dead: dead.filter(isNode) };
  }

  // -- out

  #onCommit({ conversation, record: { seq } }: Change): void {
    if (seq <= (this.#heard.get(conversation) ?? 0)) return;
    if (this.#hints.size >= limits.hintedConversations) return; // they look for themselves
    this.#hints.set(conversation, seq);
    if (this.#cancels.has("hint")) return;
    const waitMs = Math.max(0, this.#hintedAt + limits.hintMs - this.#env.monotonic());
    this.#after("hint", waitMs, () => this.#sendHints());
  }

  #sendHints(): void {
    if (this.#hints.size === 0) return;
    this.#hintedAt = this.#env.monotonic();
    const hints = [...this.#hints].map(([conversation, seq]) => ({ conversation, seq }));
    this.#hints.clear();
    this.#options.broadcast.send({ type: "hints", hints });
  }

  // -- in

  #onMessage(message: BroadcastMessage): void {
    if (message.type !== "hints" || this.#isClosed) return;
    const open = this.#kernel.open();
    for (const { conversation, seq } of message.hints) {
      if (open.has(conversation))
        this.#catchUp(conversation, seq).catch((error) => this.#kernel.onFault(error));
      else this.#after("list", limits.watchMs, () => void this.look().catch(() => undefined));
    }
  }

  async #catchUp(conversation: ConversationId, seq: number): Promise<void> {
    if (this.#heard.size >= limits.hintedConversations) this.#heard.clear();
    this.#heard.set(conversation, Math.max(seq, this.#heard.get(conversation) ?? 0));
    await this.#kernel.catchUp(conversation, seq);
  }

  async #lookOnce(): Promise<void> {
    const open = this.#kernel.open();
    const stand = await this.#standing([...open.keys()]);
    const news = [...stand].filter(([id, seq]) => seq > (open.get(id) ?? 0));
    await Promise.all(news.map(([id, seq]) => this.#catchUp(id, seq)));
    await this.#kernel.deletions.look();
    const records = await this.#kernel.conversations({ limit: limits.lookedAtConversations });
    if (isProblem(records) || this.#isClosed) return;
    this.#tellNew(records);
  }

  /** Where open conversations stand. Where that takes a question for each, they come in turn. */
  async #standing(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, number>> {
    const { store } = this.#kernel;
    if (store.seqs) return ids.length === 0 ? new Map() : store.seqs(ids);
    const from = ids.length === 0 ? 0 : this.#turn % ids.length;
    const some = [...ids.slice(from), ...ids.slice(0, from)].slice(0, limits.lookedAtSingly);
    this.#turn = from + some.length;
    const found = await Promise.all(some.map((id) => store.conversation(id)));
    return new Map(found.flatMap((record) => (record ? [[record.id, record.seq] as const] : [])));
  }

  /** For lists of conversations: those that are not open here and have changed since the last look. */
  #tellNew(records: readonly Conversation[]): void {
    const before = this.#seen;
    this.#seen = new Map(records.map(({ id, seq }) => [id, seq]));
    if (before === undefined) return;
    for (const record of records) if (before.get(record.id) !== record.seq) this.#emitRecord(record);
  }

  #emitRecord(record: Conversation): void {
    this.#heard.set(record.id, Math.max(record.seq, this.#heard.get(record.id) ?? 0));
    this.#kernel.emitRecord(record);
  }

  // -- timers

  /** Again and again, each time after it is done. A store that does not answer is asked again. */
  #every(name: string, ms: number, run: () => Promise<void>): void {
    const again = () => {
      if (!this.#isClosed) this.#after(name, ms, () => void run().then(again, again));
    };
    again();
  }

  #after(name: string, ms: number, run: () => void): void {
    if (this.#cancels.has(name)) return;
    const cancel = this.#env.after(ms, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }
}
