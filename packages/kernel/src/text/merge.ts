/**
 * The merge document of a promoted block: the only file that knows the CRDT library (Yjs).
 *
 * - The base is built from the text at promotion, the same way everywhere, so promotion carries no data: pieces of at
 *   most `limits.pieceChars` units, written in turn by two reserved writers. Two, because the library joins adjacent
 *   pieces of one writer into one string, and its cost per append grows with that string.
 * - The kernel writes as one of the reserved writers. That is safe with many kernels too: the store orders commits, and
 *   a kernel that was too late drops its document. Replicas write under random ids above `REPLICA_MIN`; of two inserts
 *   at one place the lower id comes first, so an append stream stays in one piece.
 * - A document is changed before its op is committed. If the commit fails, the document must be dropped.
 */

import * as Y from "yjs";
import { assert } from "../model/assert.ts";
import { limits } from "../model/limits.ts";
import type { Splice } from "../model/op.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { Text } from "./text.ts";

/** Ids that replicas write under start here. */
export const REPLICA_MIN = 2 ** 31;
const WRITERS = [1, 2] as const;
const NOBODY = 3;

export class MergeDocument {
  /** The document whose base is `text`. */
  static fromText(text: string): MergeDocument {
    const document = new MergeDocument();
    document.#write(() => document.#insert(0, text));
    return document;
  }

  /** The document in a state that `state()` gave, or that updates add up to. */
  static fromUpdates(updates: readonly Uint8Array[]): MergeDocument {
    const document = new MergeDocument();
    for (const update of updates) Y.applyUpdate(document.#doc, update, "load");
    return document;
  }

  readonly #doc = new Y.Doc({ gc: true });
  readonly #text = this.#doc.getText("t");
  /** Which reserved writer writes now, and how much it has written in a row. */
  #writer = 0;
  #written = 0;

  constructor() {
    this.#doc.clientID = NOBODY;
  }

  get length(): number {
    return this.#text.length;
  }

  toString(): string {
    return this.#text.toString();
  }

  /** Makes the changes and gives the update that carries them. */
  splice(splices: readonly Splice[]): Uint8Array {
    return this.#write(() => {
      for (const { at, del, ins } of splices) {
        if (del !== "") this.#text.delete(at, del.length);
        if (ins !== "") this.#insert(at, ins);
      }
    });
  }

  /** Takes in an update of our own log: what it came to is known already. */
  load(update: Uint8Array): void {
    Y.applyUpdate(this.#doc, update, "load");
  }

  /**
   * Takes in a replica's update and says what it came to in `text`, the document's text. It may come to no splices and be
   * new all the same (typed and deleted again): what follows from that replica builds on it. After a problem the document
   * is invalidated: throw it away.
   */
  merge(update: Uint8Array, text: Text): Merged | Problem {
    const refused = this.#refuse(update);
    if (refused) return refused;
    const clocks = Y.encodeStateVector(this.#doc);
    let splices: readonly Splice[] | undefined = [];
    const observe = (event: Y.YTextEvent) => {
      splices = fromDelta(event.changes.delta as Delta, text);
    };
    this.#text.observe(observe);
    try {
      Y.applyUpdate(this.#doc, update, "replica");
    } catch {
      return problem("invalid", "the update is not a valid document update");
    } finally {
      this.#text.unobserve(observe);
    }
    if (this.#doc.store.pendingStructs !== null || this.#doc.store.pendingDs !== null) {
      return problem(
        "stale",
        "the update depends on changes that are missing here; sync the block, then resend it",
      );
    }
    if (splices === undefined || this.#doc.share.size !== 1)
      return problem("invalid", "the update contains more than text");
    const isNew = splices.length > 0 || !sameBytes(clocks, Y.encodeStateVector(this.#doc));
    return { splices, isNew };
  }

  /** A name for the place behind the character before `offset`; it stays with that character. */
  anchor(offset: number): string {
    const position = Y.createRelativePositionFromTypeIndex(this.#text, offset, -1);
    const id = position.item;
    return id ? `${id.client}:${id.clock}` : "";
  }

  /** Where an anchor lies now. An anchor of an empty text is its start. */
  resolve(anchor: string): number {
    const [client, clock] = anchor.split(":").map(Number);
    if (client === undefined || clock === undefined || Number.isNaN(client)) return 0;
    const position = new Y.RelativePosition(null, "t", Y.createID(client, clock), -1);
    const absolute = Y.createAbsolutePositionFromRelativePosition(position, this.#doc);
    return absolute === null ? this.length : absolute.index;
  }

  /** Whether the character that an anchor names was deleted. What an undo puts back is another character here. */
  isGone(anchor: string): boolean {
    const [client, clock] = anchor.split(":").map(Number);
    if (client === undefined || clock === undefined || Number.isNaN(client)) return false;
    if (Y.getState(this.#doc.store, client) <= clock) return true;
    return Y.getItem(this.#doc.store, Y.createID(client, clock)).deleted;
  }

  /** Everything, as one update: identities kept, deleted text gone. */
  state(): Uint8Array {
    return Y.encodeStateAsUpdate(this.#doc);
  }

  stateVector(): Uint8Array {
    return Y.encodeStateVector(this.#doc);
  }

  /** What a replica with this state vector misses. */
  since(vector: Uint8Array): Uint8Array | Problem {
    try {
      return Y.encodeStateAsUpdate(this.#doc, vector);
    } catch {
      return problem("invalid", "not a state vector");
    }
  }

  #refuse(update: Uint8Array): Problem | undefined {
    try {
      const { from, to } = Y.parseUpdateMeta(update);
      const known = Y.getState;
      for (const [client, clock] of to) {
        if (client < REPLICA_MIN && clock > known(this.#doc.store, client)) {
          return problem(
            "forbidden",
            `writer ${client} is reserved; replicas write under ids from ${REPLICA_MIN}`,
          );
        }
      }
      for (const [client, clock] of from) {
        if (clock > known(this.#doc.store, client)) {
          return problem("stale", "changes before this update are missing; sync the block again", {
            client,
            known: known(this.#doc.store, client),
            from: clock,
          });
        }
      }
      return undefined;
    } catch {
      return problem("invalid", "the update is not a valid document update");
    }
  }

  #write(change: () => void): Uint8Array {
    let update: Uint8Array | undefined;
    const keep = (bytes: Uint8Array) => {
      update = bytes;
    };
    this.#doc.on("update", keep);
    this.#doc.clientID = WRITERS[this.#writer] as number;
    try {
      this.#doc.transact(change, "kernel");
    } finally {
      this.#doc.clientID = NOBODY;
      this.#doc.off("update", keep);
    }
    return update ?? EMPTY_UPDATE;
  }

  #insert(at: number, text: string): void {
    let offset = at;
    let rest = text;
    while (rest !== "") {
      if (this.#written >= limits.pieceChars) this.#turn();
      const piece = firstPiece(rest, limits.pieceChars - this.#written);
      this.#text.insert(offset, piece);
      this.#written += piece.length;
      offset += piece.length;
      rest = rest.slice(piece.length);
    }
  }

  #turn(): void {
    this.#writer = 1 - this.#writer;
    this.#written = 0;
    this.#doc.clientID = WRITERS[this.#writer] as number;
  }
}

/** What an update came to. */
export interface Merged {
  readonly splices: readonly Splice[];
  /** Whether the document holds anything that it did not hold before. */
  readonly isNew: boolean;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** The update that changes nothing. */
export const EMPTY_UPDATE: Uint8Array = new Uint8Array([0, 0]);

type Delta = readonly { retain?: number; insert?: unknown; delete?: number; attributes?: unknown }[];

function fromDelta(delta: Delta, before: Text): Splice[] | undefined {
  const splices: Splice[] = [];
  let at = 0; // in the text as changed so far
  let old = 0; // in the text before
  for (const part of delta) {
    if (part.attributes !== undefined) return undefined;
    if (part.retain !== undefined) {
      at += part.retain;
      old += part.retain;
    } else if (part.delete !== undefined) {
      splices.push({ at, del: before.slice(old, old + part.delete), ins: "" });
      old += part.delete;
    } else {
      if (typeof part.insert !== "string") return undefined;
      splices.push({ at, del: "", ins: part.insert });
      at += part.insert.length;
    }
  }
  return joinPairs(splices);
}

/** A deletion and an insertion at one place are one splice. */
function joinPairs(splices: readonly Splice[]): Splice[] {
  const joined: Splice[] = [];
  for (const splice of splices) {
    const last = joined.at(-1);
    if (last !== undefined && last.ins === "" && splice.del === "" && splice.at === last.at) {
      joined[joined.length - 1] = { at: last.at, del: last.del, ins: splice.ins };
    } else if (
      last !== undefined &&
      splice.ins === "" &&
      last.del === "" &&
      splice.at === last.at + last.ins.length
    ) {
      joined[joined.length - 1] = { at: last.at, del: splice.del, ins: last.ins };
    } else joined.push(splice);
  }
  return joined;
}

function firstPiece(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = Math.max(1, max);
  const unit = text.charCodeAt(cut - 1);
  const end = unit >= 0xd800 && unit <= 0xdbff ? cut + 1 : cut;
  assert(end > 0, "a piece is never empty");
  return text.slice(0, end);
}
