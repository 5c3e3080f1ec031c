/**
 * The blocks that a client has open as CRDT documents: sends their state, then every update, and accepts the client's updates.
 * The kernel does the merging.
 *
 * No update is lost between a block's state and the first update; repeated updates change nothing.
 */

import type { Change } from "../../model/change.ts";
import { type AgentId, type BlockId, conversationOf } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { limits } from "../../model/limits.ts";
import { isProblem, type Problem, problem } from "../../model/problem.ts";
import { type CallerRole, mayNot } from "../../tools/access.ts";
import { mayEdit } from "../../tools/rights.ts";
import type { Kernel } from "../../write/kernel.ts";
import type { Write } from "../../write/write.ts";
import { type ClientFrame, fromBase64, type ServerFrame, toBase64 } from "../frame.ts";

interface SyncOptions {
  readonly kernel: Kernel;
  readonly agent: AgentId;
  readonly role: CallerRole;
  readonly send: (frame: ServerFrame) => void;
  /** Runs expensive work when it is this caller's turn. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T | Problem>;
  /** Why this caller may not store anything now. */
  readonly mayStore: () => Problem | undefined;
}

export class SyncedBlocks {
  readonly #options: SyncOptions;
  readonly #open = new Set<BlockId>();
  readonly #unfollows = new Map<BlockId, () => void>();

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  has(block: BlockId): boolean {
    return this.#open.has(block);
  }

  async open({ block, vector }: ClientFrame & { type: "sync" }): Promise<void> {
    const { kernel, agent, inTurn, send, mayStore } = this.#options;
    const refused = this.#mayWrite() ?? this.#mayOpen(block) ?? (await this.#mayEdit(block));
    const bytes = vector === undefined ? undefined : fromBase64(vector);
    if (refused) return send({ type: "state", block, problem: refused });
    if (vector !== undefined && !bytes) {
      return send({ type: "state", block, problem: problem("invalid", "the vector is not base64") });
    }
    this.#open.add(block); // first, so that no update is lost; a repeated one changes nothing
    await this.#follow(block);
    // The first client to open a block promotes it, which is a write.
    const state = await inTurn(async () => mayStore() ?? kernel.mergeState(block, agent, bytes));
    if (isProblem(state)) {
      this.close(block);
      return send({ type: "state", block, problem: state });
    }
    send({ type: "state", block, version: state.version, update: toBase64(state.update) });
  }

  /** Writes a client's update. */
  async update({ block, key, update }: ClientFrame & { type: "update" }): Promise<Json | Problem> {
    const { kernel, agent, inTurn, mayStore } = this.#options;
    const bytes = fromBase64(update);
    const refused = this.#mayWrite() ?? (bytes ? undefined : problem("invalid", "the update is not base64"));
    if (refused || !bytes) return refused ?? null;
    const write: Write<Json> = {
      agent,
      key,
      plan: (draft) => {
        const target = draft.block(block);
        const refused = isProblem(target) ? target : mayEdit(this.#options, target);
        if (refused) return refused;
        const after = draft.merge(block, bytes);
        return isProblem(after) ? after : { block_id: block, version: after.version };
      },
    };
    // Checked again, because it may have waited.
    return inTurn(async () => mayStore() ?? kernel.writeBlock(block, write));
  }

  onCommit({ ops }: Change): void {
    if (this.#open.size === 0) return;
    for (const { block, version, body } of ops) {
      if (block === null || body.type !== "splice" || !this.#open.has(block)) continue;
      this.#options.send({ type: "update", block, version, update: toBase64(body.update) });
    }
  }

  close(block: BlockId): void {
    this.#open.delete(block);
    this.#unfollows.get(block)?.();
    this.#unfollows.delete(block);
  }

  closeAll(): void {
    for (const block of [...this.#open]) this.close(block);
  }

  /** An editor needs other nodes' commits even if no one here follows the conversation. */
  async #follow(block: BlockId): Promise<void> {
    const { kernel } = this.#options;
    if (!kernel.isShared || this.#unfollows.has(block)) return;
    const stop = await kernel.follow(conversationOf(block));
    if (isProblem(stop)) return; // reading the state fails too, and reports it
    if (this.#open.has(block) && !this.#unfollows.has(block)) this.#unfollows.set(block, stop);
    else stop();
  }

  #mayOpen(block: BlockId): Problem | undefined {
    const most = limits.syncedBlocks;
    if (this.#open.has(block) || this.#open.size < most) return undefined;
    return problem("busy", `a connection has at most ${most} blocks open to edit; close some`, {
      max_blocks: most,
    });
  }

  #mayWrite(): Problem | undefined {
    return mayNot(this.#options.role, "edit");
  }

  async #mayEdit(id: BlockId): Promise<Problem | undefined> {
    const block = await this.#options.kernel.block(id);
    return isProblem(block) ? block : mayEdit(this.#options, block);
  }
}
