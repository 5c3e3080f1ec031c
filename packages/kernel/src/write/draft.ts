/**
 * A draft: the ops of one batch of writes, planned in memory on top of the committed state.
 *
 * A plan calls the methods here. Each checks its arguments and returns the changed block, or a problem; a plan that returns a
 * problem changes nothing. Nothing is durable or emitted until the write queue has committed the batch.
 *
 * A plan is synchronous and sees only what is in memory. If something is not, the draft throws `Missing`; the queue loads it and
 * plans again.
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
import { canFollow, isEnded, RESULT_KINDS, type Stage, type Status } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { answersCall, checkMetadata, patchMetadata } from "../model/metadata.ts";
import type { Op, OpBody, Splice } from "../model/op.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { BlockText } from "../text/block-text.ts";
import { EMPTY_UPDATE } from "../text/merge.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Text } from "../text/text.ts";
import {
  absentProblem,
  checkSplices,
  checkStage,
  cleanPatch,
  closedProblem,
  statusPatch,
  tooLongProblem,
  transitionProblem,
} from "./block-rules.ts";
import { type DraftBase, type DraftedUnit, Missing, type NewBlock } from "./draft-base.ts";
import { DraftChanges } from "./draft-changes.ts";

interface Answer {
  readonly key: string;
  readonly answer: Json;
}

const NO_ANSWERS: Answer[] = []; // Never added to.

export class Draft {
  readonly #base: DraftBase;
  readonly #changes: DraftChanges;
  #answers: Answer[] = NO_ANSWERS;
  #agent: AgentId = "";
  #at = 0;

  constructor(base: DraftBase) {
    this.#base = base;
    this.#changes = new DraftChanges(base.record);
  }

  get ops(): readonly Op[] {
    return this.#changes.ops;
  }

  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Texts that this draft has changed: invalid if the batch is not committed. */
  get touched(): ReadonlySet<BlockText> {
    return this.#changes.touched;
  }

  /** Texts that a rolled-back plan has changed: invalid even if the batch is committed. */
  get invalidated(): ReadonlySet<BlockText> {
    return this.#changes.invalidated;
  }

  /** Undo steps after this draft, for the queue to remember. */
  get units(): readonly DraftedUnit[] {
    return this.#changes.units;
  }

  get record(): Conversation {
    return this.#changes.record;
  }

  get agent(): AgentId {
    return this.#agent;
  }

  get at(): number {
    return this.#at;
  }

  /** Sets the time of the following ops, for imports of past events. */
  dated(at: number): void {
    this.#at = at;
    const { record } = this.#changes;
    if (record.seq === 0) this.#changes.record = { ...record, createdAt: at };
  }

  get changedBlocks(): readonly Block[] {
    return this.#changes.blocks;
  }

  get changedTurns(): readonly Turn[] {
    return this.#changes.turns;
  }

  /** Stores the last plan's answer, for requests that repeat its key. */
  answered(key: string, answer: Json): void {
    if (this.#answers === NO_ANSWERS) this.#answers = [{ key, answer }];
    else this.#answers.push({ key, answer });
  }

  /** Runs one plan: keeps all its ops if it succeeds, none if it returns a problem. */
  plan(agent: AgentId, at: number, write: { plan(draft: Draft): unknown }): unknown {
    this.#changes.begin();
    this.#agent = agent;
    this.#at = at;
    try {
      const answer = write.plan(this);
      if (isProblem(answer)) this.#changes.rollBack();
      return answer;
    } catch (error) {
      this.#changes.rollBack();
      throw error;
    }
  }

  block(id: BlockId): Block | Problem {
    const known = this.#changes.block(id) ?? this.#base.block(id);
    if (known) return known;
    const parts = parseBlockId(id);
    if (parts?.conversation !== this.#base.conversation) return absentProblem(id);
    if (known === undefined) throw new Missing({ block: id });
    return absentProblem(id);
  }

  /** The text as drafted so far. */
  text(id: BlockId): Text {
    return this.#loaded(id).value;
  }

  turn(id: string): Turn | undefined {
    return this.#changes.turn(id) ?? this.#base.turn(id);
  }

  create(spec: NewBlock): Block | Problem {
    const text = cleanText(spec.text ?? "");
    if (text.length > limits.writeTextChars) return tooLongProblem(text.length, limits.writeTextChars);
    const parent = spec.parent === undefined ? this.record.head : spec.parent;
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

  /** Appends streamed text after the agent's own last character, not at the end of the text. */
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
    this.#changes.touch(loaded);
    const update = merge.splice(splices);
    const anchor = merge.anchor(at + clean.length);
    return this.#push(promoted, { type: "splice", splices, update, anchor }, "append");
  }

  /** Changes the text as one undo step. The splices apply one after the other. */
  splice(id: BlockId, splices: readonly Splice[]): Block | Problem {
    const refused = checkSplices(this.text(id), splices);
    if (refused) return refused;
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    assert(loaded.merge !== undefined, "promoted");
    this.#changes.touch(loaded);
    return this.#push(promoted, { type: "splice", splices, update: loaded.merge.splice(splices) });
  }

  /** A merging replica's update. */
  merge(id: BlockId, update: Uint8Array): Block | Problem {
    const promoted = this.promote(id);
    if (isProblem(promoted)) return promoted;
    const loaded = this.#loaded(id);
    this.#changes.touch(loaded);
    const merged = loaded.mergeUpdate(update);
    // The replica may have received changes from another node that this one has not read yet.
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

  /** Turns the block's text into a CRDT document, unless it already is one. */
  promote(id: BlockId): Block | Problem {
    const block = this.block(id);
    if (isProblem(block) || block.promoted) return block;
    const loaded = this.#loaded(id);
    this.#changes.touch(loaded);
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

  /** A complete result ends the call that waits for it. */
  #giveResult({ kind, parent, status, metadata }: Block): void {
    if (!isEnded(status) || parent === null || !RESULT_KINDS.includes(kind)) return;
    const call = this.block(parent);
    if (isProblem(call) || call.metadata.waiting !== "result" || !answersCall(metadata, call.metadata))
      return;
    if (isEnded(call.status) && !this.#mayGoOn(call)) return;
    const isError = status === "error" || metadata.isError === true;
    this.status(call.id, isError ? "error" : "done", isError ? { reason: "failed" } : {});
  }

  /** Whether the block ended with its agent's lease, and the agent is back. */
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

  /** Undoes or redoes the agent's last undo step in this block. */
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
    this.#changes.touch(loaded);
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
    const changes = this.#changes;
    const seq = changes.record.seq + 1;
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
    changes.addOp(op);
    const previous = body.type === "turn" ? this.turn(body.turn.id) : undefined;
    changes.record = applyToConversation(changes.record, op, previous);
    if (body.type === "turn") changes.setTurn(body.turn);
    if (id === null) return undefined;
    const next = applyOp(block ?? undefined, op);
    changes.setBlock(next);
    const text = this.#peek(id);
    if (text) {
      changes.touch(text);
      text.drafted(op);
    }
    if (body.type !== "promote")
      changes.addUnit({ block: id, agent: this.#agent, type: session ?? "other", unit });
    return next;
  }

  #unitFor(id: BlockId, session: "append" | "burst", version: number): number {
    const drafted = this.#changes.unitOf(id, this.#agent);
    if (drafted) return drafted.type === session ? drafted.unit : version;
    return this.#base.openUnit(id, this.#agent, session) ?? version;
  }

  #loaded(id: BlockId): BlockText {
    const loaded = this.#peek(id);
    if (loaded === undefined) throw new Missing({ text: id });
    return loaded;
  }

  #peek(id: BlockId): BlockText | undefined {
    const text = this.#base.text(id);
    return text && this.#changes.isInvalidated(text) ? undefined : text;
  }
}
