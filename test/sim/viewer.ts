/**
 * Somebody who listens to one kernel: hears only what is committed, in order, without a gap, nothing twice. A run that
 * another node's appends were merged into may begin with what is known already; its rest must be new.
 */
import type { BlockId, Change } from "@blockyard/kernel";
import type { Ledger } from "./ledger.ts";
import { follow } from "./replica.ts";

export class Viewer {
  /** The sequence number up to which everything was heard. */
  seq: number;
  readonly #ledger: Ledger;
  readonly #blocks = new Map<BlockId, { text: string; version: number }>();

  /** Begins with what the ledger held at `seq`. */
  constructor(ledger: Ledger, seq: number) {
    this.#ledger = ledger;
    this.seq = seq;
    for (const op of ledger.ops.slice(0, seq)) if (op.block !== null) this.#take(op.block, op);
  }

  onCommit({ record, ops, blocks, renewed }: Change): void {
    let last = this.seq;
    for (const { id, version } of blocks) {
      if (renewed?.includes(id))
        this.#blocks.set(id, { text: this.#ledger.entry(id).texts[version] ?? "", version });
    }
    for (const op of ops) {
      if (op.seq <= last) throw new Error(`op ${op.seq} was told after ${last}`);
      last = op.seq;
      const real = this.#ledger.ops[op.seq - 1];
      if (real === undefined) throw new Error(`op ${op.seq} was told, but is not committed`);
      if (real.block !== op.block || real.version !== op.version || real.agent !== op.agent) {
        throw new Error(
          `op ${op.seq} was told as ${op.block} ${op.version}; it is ${real.block} ${real.version}`,
        );
      }
      if (op.block !== null) this.#take(op.block, op);
    }
    if (last !== record.seq && renewed === undefined)
      throw new Error(`told of a record at ${record.seq} with ops up to ${last}`);
    this.#checkComplete(record.seq);
    for (const block of blocks) {
      const version = this.#blocks.get(block.id)?.version;
      if (block.version !== version)
        throw new Error(`told of ${block.id} at ${block.version}, heard ${version}`);
    }
    this.seq = record.seq;
  }

  /** Everything between what was known and `seq` was heard of. */
  #checkComplete(seq: number): void {
    for (const op of this.#ledger.ops.slice(this.seq, seq)) {
      if (op.block === null) continue;
      const version = this.#blocks.get(op.block)?.version ?? 0;
      if (version < op.version) throw new Error(`${op.block} ${op.version} was never told; heard ${version}`);
    }
  }

  #take(id: BlockId, op: Change["ops"][number]): void {
    const known = this.#blocks.get(id) ?? { text: "", version: 0 };
    if (op.version <= known.version) throw new Error(`${id} ${op.version} was told twice`);
    this.#blocks.set(id, { text: follow(known.text, known.version, op), version: op.version });
  }
}
