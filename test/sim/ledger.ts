/**
 * What the store has really committed, op by op, and what must be true of it at every moment: sequence numbers and
 * versions without gaps, texts that follow from the splices and equal the reference's, one end per tool call, no token
 * written twice. Everything else in a simulation is compared with this.
 *
 * A token is a piece of text that a keyed write carries: `«name»`. It tells whether that write was applied, and how often.
 */
import {
  type AgentId,
  type Block,
  type BlockId,
  type Commit,
  isEnded,
  type Op,
  splicesOf,
} from "@blockyard/kernel";
import { Reference } from "../fuzz/reference.ts";
import { follow } from "./replica.ts";

export interface Entry {
  readonly id: BlockId;
  readonly kind: string;
  readonly writer: AgentId;
  text: string;
  version: number;
  ends: number;
  /** What each agent's append stream has written here. */
  readonly streams: Map<AgentId, string>;
  reference: Reference;
  /** The text after each version, and the version that history was compacted at. */
  readonly texts: string[];
  compacted: number;
}

export class Ledger {
  readonly ops: Op[] = [];
  readonly entries = new Map<BlockId, Entry>();
  readonly #tokens = new Map<string, number>();
  readonly #count: (event: string) => void;

  constructor(count: (event: string) => void) {
    this.#count = count;
  }

  get seq(): number {
    return this.ops.length;
  }

  take(commit: Commit): void {
    for (const op of commit.ops) {
      if (op.seq !== this.seq + 1) throw new Error(`the store took ${op.seq} after ${this.seq}`);
      this.ops.push(op);
      if (op.block !== null) this.#takeIntoBlock(op.block, op);
    }
    for (const block of commit.blocks) this.#checkRecord(block);
  }

  /** The history of a block up to a version is given up; the version may be an old one by the time it is. */
  compact(id: BlockId, version: number): void {
    const entry = this.entry(id);
    if (version <= entry.compacted) return;
    this.#count(version < entry.version ? "compacted of an older version" : "compacted");
    entry.compacted = version;
    entry.reference = new Reference(entry.texts[version]);
    for (const op of this.ops) {
      if (op.block === id && op.version > version)
        entry.reference.take(op, entry.texts[op.version] as string);
    }
  }

  /** How often a token was written. */
  written(token: string): number {
    return this.#tokens.get(token) ?? 0;
  }

  get tokens(): ReadonlyMap<string, number> {
    return this.#tokens;
  }

  entry(id: BlockId): Entry {
    const entry = this.entries.get(id);
    if (entry === undefined) throw new Error(`${id} is not in the store`);
    return entry;
  }

  #takeIntoBlock(id: BlockId, op: Op): void {
    const entry = this.entries.get(id) ?? this.#open(id, op);
    entry.text = follow(entry.text, entry.version, op);
    entry.version = op.version;
    entry.texts[op.version] = entry.text;
    const outcome = entry.reference.take(op, entry.text);
    if (outcome === "forgotten") this.#count("undo of what another node has compacted");
    this.#countTokens(op);
    this.#noteStream(entry, op);
    const ends = op.body.type === "status" && isEnded(op.body.status);
    if (ends) entry.ends++;
    if (entry.ends > 1) throw new Error(`${id} has ended ${entry.ends} times`);
    if (op.body.type === "promote" && entry.streams.size > 0) this.#count("promotion during a stream");
  }

  #open(id: BlockId, op: Op): Entry {
    if (op.body.type !== "create") throw new Error(`${id} begins with ${op.body.type}`);
    const entry: Entry = {
      id,
      kind: op.body.kind,
      writer: op.agent,
      text: "",
      version: 0,
      ends: 0,
      streams: new Map(),
      reference: new Reference(),
      texts: [],
      compacted: 0,
    };
    this.entries.set(id, entry);
    return entry;
  }

  #countTokens(op: Op): void {
    if (op.body.type === "splice" && (op.body.undo !== undefined || op.body.redo !== undefined)) return;
    for (const { ins } of splicesOf(op)) {
      for (const [token] of ins.matchAll(/«[^»]*»/g)) {
        const times = this.written(token) + 1;
        this.#tokens.set(token, times);
        if (times > 1) throw new Error(`${token} was written ${times} times`);
      }
    }
  }

  #noteStream(entry: Entry, { agent, body }: Op): void {
    const isAppend = body.type === "append" || (body.type === "splice" && body.anchor !== undefined);
    if (!isAppend) return;
    const text = body.type === "append" ? body.text : (body.splices[0]?.ins ?? "");
    entry.streams.set(agent, (entry.streams.get(agent) ?? "") + text);
  }

  #checkRecord(block: Block): void {
    const { text, version } = this.entry(block.id);
    if (block.version !== version || block.chars !== text.length) {
      throw new Error(
        `${block.id} is recorded at ${block.version} with ${block.chars} units, not ${version}, ${text.length}`,
      );
    }
  }
}
