/**
 * One block's text in memory: the value, the merge document once there is one, the undo model once it is needed.
 *
 * It runs ahead of the store: a draft changes it before the commit. Readers see `committed`. If a commit fails, the
 * object is invalidated and dropped; the next reader loads it again.
 */

import { assert } from "../model/assert.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import { type Op, splicesOf } from "../model/op.ts";
import type { Problem } from "../model/problem.ts";
import type { BlockLog, Compacted } from "../ports/store.ts";
import { MergeDocument, type Merged } from "./merge.ts";
import { Text } from "./text.ts";
import { UndoModel } from "./undo.ts";

export class BlockText {
  /** The text that a log adds up to. */
  static load(id: BlockId, log: BlockLog): BlockText {
    const loaded = new BlockText(id);
    const { compacted } = log;
    if (compacted) {
      loaded.#value = Text.of(compacted.text);
      loaded.#version = compacted.version;
      for (const [agent, anchor] of Object.entries(compacted.anchors)) loaded.#anchors.set(agent, anchor);
      if (compacted.state) loaded.#merge = MergeDocument.fromUpdates([compacted.state]);
    }
    loaded.#replay(log.ops);
    loaded.commit();
    return loaded;
  }

  readonly id: BlockId;
  #value: Text = Text.empty;
  #version = 0;
  #committed: { readonly text: Text; readonly version: number } = { text: Text.empty, version: 0 };
  #merge: MergeDocument | undefined;
  #undo: UndoModel | undefined;
  readonly #anchors = new Map<AgentId, string>();

  constructor(id: BlockId) {
    this.id = id;
  }

  /** With everything that is drafted. */
  get value(): Text {
    return this.#value;
  }

  get version(): number {
    return this.#version;
  }

  get committed(): { readonly text: Text; readonly version: number } {
    return this.#committed;
  }

  get merge(): MergeDocument | undefined {
    return this.#merge;
  }

  get undo(): UndoModel | undefined {
    return this.#undo;
  }

  /** Builds the undo model from the block's log, which must reach to the present version. */
  buildUndo(log: BlockLog): UndoModel {
    const undo = new UndoModel(log.compacted?.text ?? "", log.compacted && streamEnds(log.compacted));
    for (const op of log.ops) undo.apply(op);
    assert(undo.toString() === this.#value.toString(), `undo model of ${this.id} has another text`);
    this.#undo = undo;
    return undo;
  }

  /** The next op, planned by ourselves: the merge document has it already. */
  drafted(op: Op): void {
    this.#follow(op);
    this.#undo?.apply(op);
  }

  /** From now on a CRDT document. */
  promote(): MergeDocument {
    assert(this.#merge === undefined, "promoted once");
    this.#merge = MergeDocument.fromText(this.#value.toString());
    return this.#merge;
  }

  /**
   * Where the append stream of `agent` goes on: behind the last character that it wrote. Undefined if that character was
   * deleted and the undo model is not here: only the model knows whether an undo has put it back, and where.
   */
  anchorOf(agent: AgentId, writer: AgentId): number | undefined {
    assert(this.#merge !== undefined, "anchors belong to promoted blocks");
    // The writer's own text is the base; whoever appends for the first time starts at the end.
    const stream = agent === writer && !this.#anchors.has(agent) ? "" : agent;
    const anchor = this.#anchors.get(stream);
    if (anchor === undefined) return this.#value.length;
    if (!this.#merge.isGone(anchor)) return this.#merge.resolve(anchor);
    if (this.#undo === undefined) return undefined;
    return this.#undo.streamEnd(stream) ?? this.#merge.resolve(anchor);
  }

  /** A replica's update: what it comes to. After a problem this object is invalidated. */
  mergeUpdate(update: Uint8Array): Merged | Problem {
    assert(this.#merge !== undefined, "only a promoted block merges");
    return this.#merge.merge(update, this.#value);
  }

  /** The anchors to keep when history is compacted: one whose character was deleted moves to where its stream goes on. */
  get anchors(): { readonly [agent: string]: string } {
    return Object.fromEntries(
      [...this.#anchors].map(([agent, anchor]) => [agent, this.#lasting(agent, anchor)]),
    );
  }

  /** What was drafted is durable. */
  commit(): void {
    this.#committed = { text: this.#value, version: this.#version };
  }

  #lasting(agent: AgentId, anchor: string): string {
    if (!this.#merge?.isGone(anchor)) return anchor;
    const end = this.#undo?.streamEnd(agent);
    return end === undefined ? anchor : this.#merge.anchor(end);
  }

  #replay(ops: readonly Op[]): void {
    const pieces: string[] = [];
    for (const op of ops) {
      const { body } = op;
      if (body.type === "append" && this.#merge === undefined) {
        pieces.push(body.text);
        this.#version = op.version;
        continue;
      }
      if (pieces.length > 0) this.#value = this.#value.append(pieces.splice(0).join(""));
      if (body.type === "promote") this.promote();
      if (body.type === "splice") this.#merge?.load(body.update);
      this.#follow(op);
    }
    if (pieces.length > 0) this.#value = this.#value.append(pieces.join(""));
  }

  #follow(op: Op): void {
    assert(
      op.versionFrom === this.#version + 1,
      `text of ${this.id} at ${this.#version} gets version ${op.versionFrom}`,
    );
    const splices = splicesOf(op);
    if (splices.length > 0) this.#value = this.#value.apply(splices);
    if (op.body.type === "splice" && op.body.anchor !== undefined)
      this.#anchors.set(op.agent, op.body.anchor);
    if (op.body.type === "promote" && this.#merge)
      this.#anchors.set("", this.#merge.anchor(this.#value.length));
    this.#version = op.version;
  }
}

/** Where the append streams go on in the text of a compaction. */
function streamEnds({ state, anchors }: Compacted): Record<AgentId, number> {
  if (state === undefined) return {};
  const merge = MergeDocument.fromUpdates([state]);
  return Object.fromEntries(Object.entries(anchors).map(([agent, anchor]) => [agent, merge.resolve(anchor)]));
}
