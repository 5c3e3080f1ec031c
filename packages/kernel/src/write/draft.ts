/**
 * A draft: the ops that one batch of writes comes to, planned in memory on top of the committed state.
 *
 * A plan calls the methods here. Each checks what it is asked for and answers with the block as it then is, or with a
 * problem; a plan that answers with a problem leaves nothing behind. Nothing is durable and nobody hears of it until the
 * write queue has committed the batch.
 *
 * A plan may look only at what is in memory: what is not, is `Missing`, and the queue loads it and plans again.
 */

import { applyOp, applyToConversation } from "../model/apply.ts";
import { assert } from "../model/assert.ts";
import { type Block, isLapsed } from "../model/block.ts";
import {
  type Conversation,
  type ConversationPatch,
  plausibleTurn,
  type Turn,
} from "../model/conversation.ts";
import { type AgentId, type BlockId, blockId, parseBlockId } from "../model/ids.ts";
import type { Json, JsonObject } from "../model/json.ts";
import {
  canFollow,
  isEnded,
  type Kind,
  RESULT_KINDS,
  type Role,
  type Stage,
  type Status,
} from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { answersCall, checkMetadata, patchMetadata } from "../model/metadata.ts";
import type { Op, OpBody, Splice } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { BlockText } from "../text/block-text.ts";
import { EMPTY_UPDATE } from "../text/merge.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Text } from "../text/text.ts";
import {
  checkSplices,
  checkStage,
  cleanPatch,
  closedProblem,
  statusPatch,
  tooLongProblem,
  transitionProblem,
} from "./block-rules.ts";
import { type DraftBase, type DraftedUnit, Missing } from "./draft-base.ts";

export interface NewBlock {
  readonly kind: Kind;
  readonly role: Role;
  readonly parent?: BlockId | null;
  readonly side?: boolean;
  readonly status?: Status;
  readonly text?: string;
  readonly metadata?: JsonObject;
}

/** How one plan is taken back: what its changes have replaced, newest last. */
type Change =
  | { readonly block: BlockId; readonly before: Block | undefined }
  | { readonly turn: string; readonly before: Turn | undefined };

interface Answer {
  readonly key: string;
  readonly answer: Json;
}

const NO_TEXTS: ReadonlySet<BlockText> = new Set();
// Never added to.
const NO_OPS: Op[] = [];
const NO_ANSWERS: Answer[] = [];
const NO_UNITS: DraftedUnit[] = [];
const NO_BLOCKS: readonly Block[] = [];
const NO_TURNS: readonly Turn[] = [];

export class Draft {
  readonly #base: DraftBase;
  // Most drafts are one append to a text that nobody has loaded, and there are more of them than of anything else: what
  // they do not need is not made. An array that begins empty has room for many; one that begins with its first does not.
  #ops: Op[] = NO_OPS;
  #answers: Answer[] = NO_ANSWERS;
  #units: DraftedUnit[] = NO_UNITS;
  #touched: Set<BlockText> | undefined;
  #invalidated: Set<BlockText> | undefined;
  #turns: Map<string, Turn> | undefined;
  #record: Conversation;
  /** The blocks as drafted, in the order in which they were first changed: one by itself, several in a map. */
  #block: Block | undefined;
  #blocks: Map<BlockId, Block> | undefined;
  #agent: AgentId = "";
  #at = 0;
  // How things stood before the plan at hand.
  #opsBefore = 0;
  #unitsBefore = 0;
  #recordBefore: Conversation;
  #blockBefore: Block | undefined;
  #hadBlocks = false;
  #changes: Change[] | undefined;
  #touchedNow: BlockText[] | undefined;

  constructor(base: DraftBase) {
    this.#base = base;
    this.#record = base.record;
    this.#recordBefore = this.#record;
  }

  get ops(): readonly Op[] {
    return this.#ops;
  }

  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Texts that this draft has changed: invalidated if the batch does not commit. */
  get touched(): ReadonlySet<BlockText> {
    return this.#touched ?? NO_TEXTS;
  }

  /** Texts that a plan has changed and then given up: invalidated whatever becomes of the batch. */
  get invalidated(): ReadonlySet<BlockText> {
    return this.#invalidated ?? NO_TEXTS;
  }

  /** Units as they stand after this draft, for the queue to remember. */
  get units(): readonly DraftedUnit[] {
    return this.#units;
  }

  get record(): Conversation {
    return this.#record;
  }

  get agent(): AgentId {
    return this.#agent;
  }

  get at(): number {
    return this.#at;
  }

  /** The ops that follow in this plan carry that time: what is imported happened then. */
  dated(at: number): void {
    this.#at = at;
    if (this.#record.seq === 0) this.#record = { ...this.#record, createdAt: at };
  }

  get changedBlocks(): readonly Block[] {
    if (this.#blocks) return [...this.#blocks.values()];
    return this.#block ? [this.#block] : NO_BLOCKS;
  }

  get changedTurns(): readonly Turn[] {
    return this.#turns ? [...this.#turns.values()] : NO_TURNS;
  }

  /** Keeps the answer of the plan that was run last, to be given again to the same key. */
  answered(key: string, answer: Json): void {
    if (this.#answers === NO_ANSWERS) this.#answers = [{ key, answer }];
    else this.#answers.push({ key, answer });
  }

  /** Runs one plan: its ops stay if it succeeds, and none of them if it answers with a problem. */
  plan(agent: AgentId, at: number, write: { plan(draft: Draft): unknown }): unknown {
    this.#begin();
    this.#agent = agent;
    this.#at = at;
    try {
      const answer = write.plan(this);
      if (isProblem(answer)) this.#rollBack();
      return answer;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  block(id: BlockId): Block | Problem {
    const known = this.#drafted(id) ?? this.#base.block(id);
    if (known) return known;
    const parts = parseBlockId(id);
    if (parts?.conversation !== this.#base.conversation) return notFound(id);
    if (known === undefined) throw new Missing({ block: id });
    return notFound(id);
  }

  /** The text as drafted so far. */
  text(id: BlockId): Text {
    return this.#loaded(id).value;
  }

  turn(id: string): Turn | undefined {
    return this.#turns?.get(id) ?? this.#base.turn(id);
  }

  create(spec: NewBlock): Block | Problem {
    const text = cleanText(spec.text ?? "");
    if (text.length > limits.writeTextChars) return tooLongProblem(text.length, limits.writeTextChars);
    const parent = spec.parent === undefined ? this.#record.head : spec.parent;
    let side = spec.side ?? RESULT_KINDS.includes(spec.kind);
    if (parent !== null) {
      const above = this.block(parent);
      if (isProblem(above))
        return problem("not_found", `parent ${parent} does not exist in this conversation`);
      if (spec.side === undefined && above.side) side = true;
    }
    const given: Record<string, Json> = { ...spec.metadata };
    delete given["stage"];
    const metadata = checkMetadata(spec.kind, given);
    if (isProblem(metadata)) return metadata;
    const status = spec.status ?? (text === "" ? "pending" : "running");
    const { kind, role } = spec;
    const made = this.#push(null, { type: "create", kind, role, parent, side, status, text, metadata });
    this.#giveResult(made);
    return made;
  }

  /** Text of a stream: behind what the agent wrote last, never simply at the end. */
  append(id: BlockId, text: string): Block | Problem {
    const found = this.block(id);
    if (isProblem(found)) return found;
    const clean = cleanText(text);
    const hasEnded = isEnded(found.status) && found.kind !== "file";
    if (hasEnded && !this.#mayGoOn(found)) return closedProblem(found);
    if (clean === "") return found;
    const block = hasEnded ? this.#goOn(found) : found;
    if (block.chars + clean.length > limits.blockTextChars) {
      return tooLongProblem(block.chars + clean.length, limits.blockTextChars);
    }
    if (!block.promoted && block.agent === this.#agent) {
      return this.#push(block, { type: "append", at: block.chars, text: clean }, "append");
    }
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    const merge = loaded.merge;
    assert(merge !== undefined, "promoted");
    const at = loaded.anchorOf(this.#agent, block.agent);
    if (at === undefined) throw new Missing({ undo: id });
    const splices = [{ at, del: "", ins: clean }];
    this.#touch(loaded);
    const update = merge.splice(splices);
    const anchor = merge.anchor(at + clean.length);
    return this.#push(promoted, { type: "splice", splices, update, anchor }, "append");
  }

  /** Changes of the text at given places, as one unit. The splices apply one after the other. */
  splice(id: BlockId, splices: readonly Splice[]): Block | Problem {
    const refused = checkSplices(this.text(id), splices);
    if (refused) return refused;
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    assert(loaded.merge !== undefined, "promoted");
    this.#touch(loaded);
    return this.#push(promoted, { type: "splice", splices, update: loaded.merge.splice(splices) });
  }

  /** A merging replica's update. */
  merge(id: BlockId, update: Uint8Array): Block | Problem {
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    this.#touch(loaded);
    const merged = loaded.mergeUpdate(update);
    // A replica may have got from another node what this one has not heard of yet.
    if (isProblem(merged) && merged.problem !== "invalid" && !this.#base.isFresh()) {
      throw new Missing({ news: true });
    }
    if (isProblem(merged)) return merged;
    const { splices, isNew } = merged;
    const refused = checkSplices(this.text(id), splices);
    if (refused) return refused;
    if (!isNew) return promoted;
    return this.#push(promoted, { type: "splice", splices, update }, "burst");
  }

  /** From now on the block's text is a CRDT document. Does nothing where it already is one. */
  promote(id: BlockId): Block | Problem {
    const block = this.block(id);
    if (isProblem(block) || block.promoted) return block;
    const loaded = this.#loaded(id);
    this.#touch(loaded);
    loaded.promote();
    return this.#push(block, { type: "promote" });
  }

  status(id: BlockId, status: Status, patch: JsonObject = {}): Block | Problem {
    const found = this.block(id);
    if (isProblem(found)) return found;
    const block = this.#mayGoOn(found) && status !== "pending" ? this.#goOn(found) : found;
    const isBack = block !== found && status === "running";
    if (!isBack && !canFollow(block.status, status)) return transitionProblem(block, status);
    const full = statusPatch(block, status, patch);
    const checked = checkMetadata(block.kind, patchMetadata(block.metadata, full));
    if (isProblem(checked)) return checked;
    const next = this.#push(block, { type: "status", status, metadata: cleanPatch(full, checked) });
    this.#giveResult(next);
    return next;
  }

  /** A result that is whole ends the call that waits for it. */
  #giveResult({ kind, parent, status, metadata }: Block): void {
    if (!isEnded(status) || parent === null || !RESULT_KINDS.includes(kind)) return;
    const call = this.block(parent);
    if (isProblem(call) || call.metadata.waiting !== "result" || !answersCall(metadata, call.metadata))
      return;
    if (isEnded(call.status) && !this.#mayGoOn(call)) return;
    const isError = status === "error" || metadata.isError === true;
    this.status(call.id, isError ? "error" : "done", isError ? { reason: "failed" } : {});
  }

  /** Its agent is back after it was ended for being away. */
  #mayGoOn(block: Block): boolean {
    return isLapsed(block) && block.agent === this.#agent;
  }

  #goOn(block: Block): Block {
    const success = block.kind === "tool_call" ? { success: null } : {};
    const metadata = { reason: null, lapsed: null, ...success };
    return this.#push(block, { type: "status", status: "running", metadata });
  }

  meta(id: BlockId, patch: JsonObject): Block | Problem {
    const block = this.block(id);
    if (isProblem(block)) return block;
    const stage = patch["stage"] as Stage | null | undefined;
    if (stage === null) return problem("invalid", "the stage of a tool call cannot be deleted");
    if (stage !== undefined) {
      const refused = checkStage(block, stage);
      if (refused) return refused;
    }
    const checked = checkMetadata(block.kind, patchMetadata(block.metadata, patch));
    if (isProblem(checked)) return checked;
    return this.#push(block, { type: "meta", metadata: cleanPatch(patch, checked) });
  }

  prune(id: BlockId, pruned: boolean): Block | Problem {
    const block = this.block(id);
    if (isProblem(block) || block.pruned === pruned) return block;
    return this.#push(block, { type: "prune", pruned });
  }

  /** Takes back (or, for redo, puts back) the agent's last unit in this block. */
  undo(
    id: BlockId,
    type: "undo" | "redo",
  ): { block: Block; unit: number; splices: readonly Splice[] } | Problem {
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    const model = loaded.undo;
    if (model === undefined) throw new Missing({ undo: id });
    const unit = type === "undo" ? model.nextUndo(this.#agent) : model.nextRedo(this.#agent);
    if (unit === undefined)
      return problem("nothing", `${this.#agent} has nothing to ${type} in ${id}`, { agent: this.#agent });
    const splices = model.difference(unit.unit, type === "redo");
    assert(loaded.merge !== undefined, "promoted");
    this.#touch(loaded);
    const update = splices.length === 0 ? EMPTY_UPDATE : loaded.merge.splice(splices);
    const flip = type === "undo" ? { undo: unit.unit } : { redo: unit.unit };
    const block = this.#push(promoted, { type: "splice", splices, update, ...flip });
    return { block, unit: unit.unit, splices };
  }

  conversation(patch: ConversationPatch): void {
    this.#push(undefined, { type: "conversation", patch });
  }

  setTurn(turn: Turn): void {
    this.#push(undefined, { type: "turn", turn: plausibleTurn(turn) });
  }

  /** `block`: the op's block, null for the one that it creates, undefined for an op of the conversation. */
  #push(block: null, body: OpBody & { type: "create" }): Block;
  #push(block: Block, body: OpBody, session?: "append" | "burst"): Block;
  #push(block: undefined, body: OpBody): undefined;
  #push(block: Block | null | undefined, body: OpBody, session?: "append" | "burst"): Block | undefined {
    const seq = this.#record.seq + 1;
    const { conversation } = this.#base;
    const id = block === undefined ? null : (block?.id ?? blockId(conversation, this.#agent, seq));
    const version = block === undefined ? 0 : (block?.version ?? 0) + 1;
    const unit = id === null || session === undefined ? version : this.#unitFor(id, session, version);
    const op: Op = {
      conversation,
      seq,
      seqFrom: seq,
      block: id,
      version,
      versionFrom: version,
      agent: this.#agent,
      unit,
      at: this.#at,
      body,
    };
    if (this.#ops === NO_OPS) this.#ops = [op];
    else this.#ops.push(op);
    const previous = body.type === "turn" ? this.turn(body.turn.id) : undefined;
    this.#record = applyToConversation(this.#record, op, previous);
    if (body.type === "turn") {
      this.#turns ??= new Map();
      this.#changed({ turn: body.turn.id, before: this.#turns.get(body.turn.id) });
      this.#turns.set(body.turn.id, body.turn);
    }
    if (id === null) return undefined;
    const next = applyOp(block ?? undefined, op);
    if (this.#hadBlocks) this.#changed({ block: id, before: this.#drafted(id) });
    this.#setDrafted(next);
    const text = this.#peek(id);
    if (text) {
      this.#touch(text);
      text.drafted(op);
    }
    if (body.type !== "promote")
      this.#setUnit({ block: id, agent: this.#agent, type: session ?? "other", unit });
    return next;
  }

  #unitFor(id: BlockId, session: "append" | "burst", version: number): number {
    for (let at = this.#units.length - 1; at >= 0; at--) {
      const { block, agent, type, unit } = this.#units[at] as DraftedUnit;
      if (block === id && agent === this.#agent) return type === session ? unit : version;
    }
    return this.#base.openUnit(id, this.#agent, session) ?? version;
  }

  #loaded(id: BlockId): BlockText {
    const loaded = this.#peek(id);
    if (loaded === undefined) throw new Missing({ text: id });
    return loaded;
  }

  #peek(id: BlockId): BlockText | undefined {
    const text = this.#base.text(id);
    return text && this.#invalidated?.has(text) ? undefined : text;
  }

  #touch(text: BlockText): void {
    this.#touched ??= new Set();
    this.#touched.add(text);
    this.#touchedNow ??= [];
    this.#touchedNow.push(text);
  }

  #drafted(id: BlockId): Block | undefined {
    if (this.#blocks) return this.#blocks.get(id);
    return this.#block?.id === id ? this.#block : undefined;
  }

  #setDrafted(block: Block): void {
    if (!this.#blocks && this.#block && this.#block.id !== block.id) {
      this.#blocks = new Map([[this.#block.id, this.#block]]);
    }
    if (this.#blocks) this.#blocks.set(block.id, block);
    else this.#block = block;
  }

  #setUnit(unit: DraftedUnit): void {
    if (this.#units === NO_UNITS) this.#units = [unit];
    else this.#units.push(unit);
  }

  #changed(change: Change): void {
    this.#changes ??= [];
    this.#changes.push(change);
  }

  #begin(): void {
    this.#opsBefore = this.#ops.length;
    this.#unitsBefore = this.#units.length;
    this.#recordBefore = this.#record;
    this.#blockBefore = this.#block;
    this.#hadBlocks = this.#blocks !== undefined;
    this.#changes = undefined;
    this.#touchedNow = undefined;
  }

  #rollBack(): void {
    if (this.#touchedNow) this.#invalidated = new Set([...this.invalidated, ...this.#touchedNow]);
    this.#ops = this.#opsBefore === 0 ? NO_OPS : this.#ops.slice(0, this.#opsBefore);
    this.#units = this.#unitsBefore === 0 ? NO_UNITS : this.#units.slice(0, this.#unitsBefore);
    this.#record = this.#recordBefore;
    this.#block = this.#blockBefore;
    if (!this.#hadBlocks) this.#blocks = undefined;
    for (const change of this.#changes?.reverse() ?? []) {
      if ("block" in change) restore(this.#blocks, change.block, change.before);
      else restore(this.#turns, change.turn, change.before);
    }
  }
}

function restore<K, V>(map: Map<K, V> | undefined, key: K, before: V | undefined): void {
  if (before === undefined) map?.delete(key);
  else map?.set(key, before);
}

function notFound(id: BlockId): Problem {
  return problem("not_found", `block ${id} does not exist`, { block_id: id });
}
