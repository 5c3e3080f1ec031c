/**
 * Leases of agents: how long an agent's blocks and turns (leased.ts) stay open without a sign of it. Any call of the
 * agent and any open connection renews its lease. If several nodes share a store, the leases are in the store's
 * register, by the store's clock, so that an agent may move from node to node; otherwise they are in memory.
 *
 * Time in which no agent could be heard does not count: a process ends nothing in the first `limits.agentLeaseMs` of
 * its life. A lease is in the register before the call that renewed it does anything, and open blocks are read before
 * the leases: so every block read belongs to an agent that is in the answer, or is gone.
 */

import type { Block } from "../model/block.ts";
import type { Change } from "../model/change.ts";
import type { Turn } from "../model/conversation.ts";
import type { AgentId, ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import { AGENT_PREFIX, type NodeRegister } from "../ports/store.ts";
import type { Draft } from "../write/draft.ts";
import type { Kernel } from "../write/kernel.ts";
import { endLeased, isHeld } from "./leased.ts";
import { allOpen, type Closed, NONE_CLOSED, type Open, openIn } from "./orphans.ts";

interface LeasesOptions {
  readonly kernel: Kernel;
  /** Under which name what was left is closed. */
  readonly agent: AgentId;
  /** Told what was closed, and whose it was. */
  readonly onClosed?: (closed: Closed, agents: readonly AgentId[]) => void;
}

export class Leases {
  readonly #options: LeasesOptions;
  readonly #kernel: Kernel;
  readonly #register: NodeRegister | undefined;
  readonly #startedAt: number;
  /** When an agent was last heard of here; where there is a register, when that was last written there. */
  readonly #heard = new Map<AgentId, number>();
  /** Conversations in which something may be held. */
  readonly #looked = new Set<ConversationId>();
  readonly #stopListening: () => void;
  #cancel: (() => void) | undefined;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;
  /** Agents that have a connection open here. */
  present: () => Iterable<AgentId> = () => [];

  constructor(options: LeasesOptions) {
    const { kernel } = options;
    this.#options = options;
    this.#kernel = kernel;
    this.#register = kernel.store.nodes;
    this.#startedAt = kernel.env.monotonic();
    this.#stopListening = kernel.listen((change) => this.#onCommit(change));
  }

  /** Finds what is held, and looks at it from then on. */
  async start(): Promise<void> {
    await this.look();
    this.#again();
  }

  /** Looks through everything: whoever has watched over something may be gone. */
  async look(): Promise<void> {
    for (const [conversation, open] of await allOpen(this.#kernel))
      if (heldIn(open).length > 0) this.#looked.add(conversation);
  }

  /** There is a sign of an agent. Resolves when every node can know. */
  async hold(agent: AgentId): Promise<void> {
    const now = this.#kernel.env.monotonic();
    if (this.#register === undefined) return void this.#heard.set(agent, now);
    if (now - (this.#heard.get(agent) ?? Number.NEGATIVE_INFINITY) < limits.agentLeaseMs / 4) return;
    // A store that does not answer will not take what the agent is about to write either.
    const beat = await this.#register.beat(AGENT_PREFIX + agent, limits.agentLeaseMs).catch(() => undefined);
    if (beat !== undefined) this.#heard.set(agent, now);
  }

  /** Ends what is held by agents whose lease has run out. */
  async sweep(): Promise<Closed> {
    for (const agent of this.present()) await this.hold(agent);
    if (this.#kernel.env.monotonic() - this.#startedAt < limits.agentLeaseMs) return NONE_CLOSED;
    let sum = NONE_CLOSED;
    for (const conversation of [...this.#looked]) {
      const closed = await this.#sweepOne(conversation);
      sum = { blocks: sum.blocks + closed.blocks, turns: sum.turns + closed.turns };
    }
    return sum;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    this.#stopListening();
    await this.#sweeping;
  }

  async #sweepOne(conversation: ConversationId): Promise<Closed> {
    const open = await openIn(this.#kernel, conversation);
    const holders = heldIn(open);
    if (holders.length === 0) {
      this.#looked.delete(conversation);
      return NONE_CLOSED;
    }
    const living = await this.#living();
    const gone = new Set(holders.filter((agent) => !living.has(agent)));
    if (gone.size === 0) return NONE_CLOSED;
    const closed = await this.#kernel.write(conversation, {
      agent: this.#options.agent,
      plan: (draft) => closeHeldBy(draft, gone, open),
    });
    if (isProblem(closed)) return NONE_CLOSED;
    if (closed.blocks + closed.turns > 0) this.#options.onClosed?.(closed, [...gone]);
    return closed;
  }

  async #living(): Promise<ReadonlySet<AgentId>> {
    if (this.#register === undefined || this.#kernel.node === undefined) {
      const from = this.#kernel.env.monotonic() - limits.agentLeaseMs;
      return new Set([...this.#heard].filter(([, at]) => at > from).map(([agent]) => agent));
    }
    const { alive } = await this.#register.beat(this.#kernel.node, limits.leaseMs);
    const names = alive.filter((name) => name.startsWith(AGENT_PREFIX));
    return new Set(names.map((name) => name.slice(AGENT_PREFIX.length)));
  }

  #onCommit({ conversation, blocks, turns }: Change): void {
    if (this.#looked.has(conversation)) return;
    const isOpen = (block: Block) => block.status === "running" || block.status === "pending";
    if (blocks.some((block) => isOpen(block) && block.kind !== "file") || turns.some(isOpenTurn))
      this.#looked.add(conversation);
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#kernel.env.after(limits.agentLeaseMs / 10, () => {
      const again = () => this.#again();
      this.#sweeping = this.sweep().then(again, again); // a store that does not answer is asked again
    });
  }
}

/** Who holds something of what is open. */
function heldIn({ blocks, turns, all }: Open): readonly AgentId[] {
  const holders = new Set<AgentId>();
  for (const block of blocks) if (isHeld(block, all)) holders.add(block.agent);
  for (const turn of turns) if (isOpenTurn(turn)) holders.add(turn.agent);
  return [...holders];
}

function isOpenTurn({ leased, status }: Turn): boolean {
  return leased === true && status === "running";
}

/** As they are in the commit itself: what has ended meanwhile stays as it ended. */
function closeHeldBy(draft: Draft, gone: ReadonlySet<AgentId>, { blocks, turns, all }: Open): Closed {
  const lapse = { reason: "interrupted", lapsed: true } as const;
  const held = blocks.filter((block) => gone.has(block.agent) && isHeld(block, all));
  let ended = 0;
  for (const { id } of held) if (!isProblem(draft.status(id, "error", lapse))) ended++;
  const left = turns
    .flatMap(({ id }) => draft.turn(id) ?? [])
    .filter((turn) => isOpenTurn(turn) && gone.has(turn.agent));
  for (const turn of left) endLeased(draft, turn, [], { status: "error", ...lapse });
  return { blocks: ended, turns: left.length };
}
