/**
 * The client's end: a copy of what it subscribes to, kept equal to the kernel's over cuts and resumes. Thin: it applies
 * ops with their splices and knows no CRDT. It runs anywhere and knows no socket.
 *
 * - Ops that it has already are passed over (their version says so); an op that does not follow is a gap, and the block
 *   is asked for again. So neither a doubled nor a lost frame can make it wrong.
 * - Calls with a key are kept until they are answered and sent again after a reconnect: applied once, answered at last.
 * - What the server cannot do now (its database is away) is asked for again with growing pauses: see requests.ts.
 */

import { applyOp } from "../../model/apply.ts";
import type { Block } from "../../model/block.ts";
import type { Snapshot } from "../../model/change.ts";
import type { Conversation, Turn } from "../../model/conversation.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { BlockId, ConversationId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { isEnded, RESULT_KINDS } from "../../model/kind.ts";
import { type Op, splicesOf } from "../../model/op.ts";
import { isPassing, type Problem, problem } from "../../model/problem.ts";
import { type Env, randomName } from "../../ports/env.ts";
import { Retry } from "../../ports/retry.ts";
import { Text } from "../../text/text.ts";
import { type ClientFrame, fromBase64, fromWire, PROTOCOL, type ServerFrame, toBase64 } from "../frame.ts";
import { isCommandAgain, type ToolUpdate, ToolUpdates } from "../tool-updates.ts";
import { Requests } from "./requests.ts";

/** What changed in a view, for whoever draws it. */
export interface ViewChange {
  readonly conversation: ConversationId;
  /** Blocks whose record or text changed; undefined: anything may have. */
  readonly blocks?: readonly BlockId[];
  /** Blocks came or went: the order changed. */
  readonly order: boolean;
  readonly presence?: boolean;
}

/** The copy of one conversation, as far as its window reaches. */
export class View {
  readonly conversation: ConversationId;
  readonly sub: number;
  record: Conversation | undefined;
  turns: ReadonlyMap<string, Turn> = new Map();
  /** Block ids, oldest first. */
  order: readonly BlockId[] = [];
  readonly blocks = new Map<BlockId, Block>();
  readonly texts = new Map<BlockId, Text>();
  /** The first result of each call that has one here. */
  readonly results = new Map<BlockId, BlockId>();
  /** Calls that have not ended and are older than the window. */
  readonly openCalls = new Map<BlockId, Block>();
  cursors: readonly Cursor[] = [];
  /** There are older blocks than the first one here. */
  more = false;
  /** Where a resume continues. */
  since: { epoch: string; seq: number } | undefined;
  /** Why there is nothing to follow, for good: it does not exist, or is not for us. */
  problem: Problem | undefined;
  /** Why the server cannot serve it at the moment; it is asked again by itself. */
  waitsFor: Problem | undefined;
  /** The verdict has come at least once. */
  isOpen = false;
  readonly arriving = new Map<BlockId, { version: number; pieces: string[]; waiting: Op[] }>();
  /** Texts that came before the changes that lead to them. */
  readonly early = new Map<BlockId, { version: number; text: Text }>();

  constructor(conversation: ConversationId, sub: number) {
    this.conversation = conversation;
    this.sub = sub;
  }
}

interface PendingCall {
  readonly frame: ClientFrame & { type: "call" | "update" };
  readonly settle: (answer: Json | Problem) => void;
  /** Safe to send again: it has a key. */
  readonly again: boolean;
  readonly retry: Retry;
}

export interface ReplicaOptions {
  readonly env: Env;
  readonly windowBlocks?: number;
}

export class Replica {
  readonly #env: Env;
  readonly #windowBlocks: number | undefined;
  #send: ((frame: ClientFrame) => void) | undefined;
  #greeted = false;
  #nextSub = 1;
  #nextCall = 1;
  readonly #name: string;
  readonly views = new Map<number, View>();
  readonly #calls = new Map<number, PendingCall>();
  readonly #listeners = new Set<(change: ViewChange) => void>();
  readonly #requests = new Map<number, Requests>();
  readonly #syncs = new Map<BlockId, Synced>();
  readonly #toolListeners = new Set<(update: ToolUpdate, conversation: ConversationId) => void>();
  readonly #toolUpdates = new ToolUpdates();
  #watcher: ((records: readonly Conversation[]) => void) | undefined;
  /** Who the server says we are. */
  self: { agent: string; role: string; epoch: string } | undefined;
  bye: (ServerFrame & { type: "bye" }) | undefined;

  constructor(options: ReplicaOptions) {
    this.#env = options.env;
    this.#windowBlocks = options.windowBlocks;
    this.#name = randomName(options.env, 10);
  }

  /** A new pipe is open: greets, then everything is subscribed again from where it stands. */
  connected(send: (frame: ClientFrame) => void): void {
    this.#send = send;
    this.#greeted = false;
    send({ type: "hello", protocol: PROTOCOL, client: this.#name });
  }

  disconnected(): void {
    this.#send = undefined;
    this.#greeted = false;
    for (const { retry } of this.#syncs.values()) retry.over();
    for (const requests of this.#requests.values()) requests.disconnected();
    for (const view of this.views.values()) view.waitsFor = undefined; // for the connection, from now on
    for (const [id, call] of this.#calls) {
      call.retry.over();
      if (call.again) continue;
      this.#calls.delete(id);
      call.settle(problem("unavailable", "the connection was lost before the result arrived"));
    }
  }

  get isConnected(): boolean {
    return this.#greeted;
  }

  listen(listener: (change: ViewChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the tool calls of everything that is subscribed: one start and one end each. */
  listenTools(listener: (update: ToolUpdate, conversation: ConversationId) => void): () => void {
    this.#toolListeners.add(listener);
    return () => this.#toolListeners.delete(listener);
  }

  /** Hears of every conversation's record when it changes. What changed while there was no connection is not told. */
  watch(listener: (records: readonly Conversation[]) => void): void {
    this.#watcher = listener;
    if (this.#greeted) this.#send?.({ type: "watch" });
  }

  subscribe(conversation: ConversationId): View {
    for (const view of this.views.values()) if (view.conversation === conversation) return view;
    const view = new View(conversation, this.#nextSub++);
    this.views.set(view.sub, view);
    const send = (frame: ClientFrame) => {
      if (this.#greeted) this.#send?.(frame);
    };
    this.#requests.set(view.sub, new Requests(this.#env, view.sub, send));
    if (this.#greeted) this.#subscribe(view);
    return view;
  }

  unsubscribe(view: View): void {
    this.views.delete(view.sub);
    this.#requests.get(view.sub)?.close();
    this.#requests.delete(view.sub);
    if (this.#greeted) this.#send?.({ type: "unsubscribe", sub: view.sub });
  }

  /** Older blocks than those in the view; resolves when they are here, or there are none. */
  page(view: View, limit: number): Promise<void> {
    const first = view.order[0];
    const before = first === undefined ? undefined : view.blocks.get(first)?.born;
    const requests = this.#requests.get(view.sub);
    if (!view.more || before === undefined || !requests) return Promise.resolve();
    return requests.page(before, limit);
  }

  /** Asks for texts that the window left out, until they come. */
  want(view: View, blocks: readonly BlockId[]): void {
    const missing = blocks.filter((id) => !view.texts.has(id) && !view.arriving.has(id));
    this.#requests.get(view.sub)?.want(missing);
  }

  /** Calls a tool. A write is sent again after a reconnect, and applied once. */
  call(tool: string, input: unknown, options: { write: boolean }): Promise<Json | Problem> {
    const id = this.#nextCall++;
    const key = options.write ? { key: `${this.#name}-${id}` } : {};
    return this.#ask({ type: "call", id, tool, input: input as Json, ...key }, options.write);
  }

  /** Opens a block as a CRDT document; the listener gets its state, then every update. */
  sync(block: BlockId, listener: SyncListener, vector?: Uint8Array): void {
    this.#syncs.get(block)?.retry.over();
    this.#syncs.set(block, { listener, retry: new Retry(this.#env) });
    if (this.#greeted) this.#sendSync(block, vector);
  }

  unsync(block: BlockId): void {
    this.#syncs.get(block)?.retry.over();
    this.#syncs.delete(block);
    if (this.#greeted) this.#send?.({ type: "unsync", block });
  }

  /** A CRDT update of our own. */
  update(block: BlockId, update: Uint8Array): Promise<Json | Problem> {
    const id = this.#nextCall++;
    return this.#ask(
      { type: "update", id, block, update: toBase64(update), key: `${this.#name}-${id}` },
      true,
    );
  }

  receive(frame: ServerFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#hello(frame);
      case "verdict":
        return this.#withView(frame.sub, (view) => this.#verdict(view, frame));
      case "changes":
        return this.#withView(frame.sub, (view) => this.#changes(view, frame));
      case "page":
        return this.#withView(frame.sub, (view) => this.#page(view, frame));
      case "text":
        return this.#text(frame);
      case "refused":
        return this.#withView(frame.sub, (view) => this.#refused(view, frame));
      case "answer":
        return this.#answer(frame);
      case "state":
      case "update":
        return this.#synced(frame);
      case "presence":
        return this.#withView(frame.sub, (view) => {
          view.cursors = frame.cursors;
          this.#emit({ conversation: view.conversation, blocks: [], order: false, presence: true });
        });
      case "records":
        return this.#watcher?.(frame.records);
      case "bye":
        this.bye = frame;
        return;
      case "pong":
        return;
    }
  }

  #ask(frame: ClientFrame & { type: "call" | "update" }, again: boolean): Promise<Json | Problem> {
    if (!again && !this.#greeted) return Promise.resolve(problem("unavailable", "not connected"));
    return new Promise((settle) => {
      this.#calls.set(frame.id, { frame, settle, again, retry: new Retry(this.#env) });
      if (this.#greeted) this.#send?.(frame);
    });
  }

  #hello({ agent, role, epoch }: ServerFrame & { type: "hello" }): void {
    this.self = { agent, role, epoch };
    this.bye = undefined;
    this.#greeted = true;
    if (this.#watcher) this.#send?.({ type: "watch" });
    for (const view of this.views.values()) this.#subscribe(view);
    for (const [block, { listener }] of this.#syncs) this.#sendSync(block, listener.vector?.());
    for (const { frame } of this.#calls.values()) this.#send?.(frame);
  }

  #subscribe(view: View): void {
    const { sub, conversation, since } = view;
    const blocks = this.#windowBlocks;
    view.arriving.clear();
    view.early.clear();
    this.#send?.({
      type: "subscribe",
      sub,
      conversation,
      ...(since ? { since } : {}),
      ...(blocks === undefined ? {} : { blocks }),
    });
  }

  #sendSync(block: BlockId, vector: Uint8Array | undefined): void {
    this.#send?.({ type: "sync", block, ...(vector ? { vector: toBase64(vector) } : {}) });
  }

  #verdict(view: View, frame: ServerFrame & { type: "verdict" }): void {
    if (frame.verdict === "reset") {
      view.blocks.clear();
      view.texts.clear();
      view.results.clear();
      view.openCalls.clear();
      view.order = [];
      view.turns = new Map();
      view.more = frame.more;
      for (const snapshot of frame.blocks) this.#put(view, snapshot);
      reorder(view);
    }
    for (const { block } of frame.calls ?? [])
      if (!view.blocks.has(block.id)) view.openCalls.set(block.id, block);
    view.record = frame.record;
    view.turns = merged(view.turns, frame.turns);
    view.since = { epoch: frame.epoch, seq: frame.seq };
    view.problem = undefined;
    view.waitsFor = undefined;
    view.isOpen = true;
    const requests = this.#requests.get(view.sub);
    if (frame.verdict === "reset") requests?.paged(); // of what was here before
    requests?.opened((id) => view.blocks.has(id) && !view.texts.has(id));
    this.#emit({ conversation: view.conversation, order: true });
  }

  #changes(view: View, frame: ServerFrame & { type: "changes" }): void {
    const changed = new Set<BlockId>();
    let order = false;
    for (const snapshot of frame.blocks) {
      order = this.#put(view, snapshot) || order;
      changed.add(snapshot.block.id);
    }
    for (const wire of frame.ops) {
      const op = fromWire(view.conversation, wire);
      if (op.block === null) continue;
      order = this.#apply(view, op) || order;
      changed.add(op.block);
    }
    if (order) reorder(view);
    if (frame.record) view.record = frame.record;
    if (frame.turns.length > 0) view.turns = merged(view.turns, frame.turns);
    if (view.since) view.since = { ...view.since, seq: frame.seq };
    this.#emit({ conversation: view.conversation, blocks: [...changed], order });
  }

  /** Applies one op; whether the order changed. */
  #apply(view: View, op: Op): boolean {
    const id = op.block as BlockId;
    const block = view.blocks.get(id);
    if (op.body.type === "create") {
      if (block) return false;
      this.#put(view, { block: applyOp(undefined, op), text: op.body.text });
      return true;
    }
    if (!block) return this.#applyFar(view, op); // older than the window
    if (op.version <= block.version) return false;
    if (op.versionFrom !== block.version + 1) {
      this.#askAgain(view, id);
      return false;
    }
    view.blocks.set(id, applyOp(block, op));
    const arriving = view.arriving.get(id);
    if (arriving) arriving.waiting.push(op);
    const text = view.texts.get(id);
    if (text) view.texts.set(id, text.apply(splicesOf(op)));
    else this.#takeEarly(view, id, op.version);
    return false;
  }

  /** Of what is older than the window only calls that have not ended are followed, without their texts. */
  #applyFar(view: View, op: Op): boolean {
    const call = op.block === null ? undefined : view.openCalls.get(op.block);
    if (call && op.versionFrom === call.version + 1) view.openCalls.set(call.id, applyOp(call, op));
    return false;
  }

  /** The changes have come to, or past, a text that was here before them. */
  #takeEarly(view: View, id: BlockId, version: number): void {
    const early = view.early.get(id);
    if (!early || early.version > version) return;
    view.early.delete(id);
    if (early.version === version) this.#setText(view, id, early.text);
    else this.#wantAnew(view, id);
  }

  #setText(view: View, id: BlockId, text: Text): void {
    view.texts.set(id, text);
    this.#requests.get(view.sub)?.got(id);
  }

  /** What has come is not what is wanted now. */
  #wantAnew(view: View, id: BlockId): void {
    this.#requests.get(view.sub)?.got(id);
    this.want(view, [id]);
  }

  /** Something is missing: the text comes anew, and the record with the next snapshot. */
  #askAgain(view: View, id: BlockId): void {
    view.texts.delete(id);
    if (!view.since) return; // asked already
    view.since = undefined;
    this.#subscribe(view);
  }

  #put(view: View, { block, text }: Snapshot): boolean {
    const known = view.blocks.get(block.id);
    if (known && known.version > block.version) return false;
    view.blocks.set(block.id, block);
    view.openCalls.delete(block.id);
    const { parent, kind } = block;
    if (parent !== null && RESULT_KINDS.includes(kind) && !isCommandAgain(block) && !view.results.has(parent))
      view.results.set(parent, block.id);
    if (text !== undefined) this.#setText(view, block.id, Text.of(text));
    else if (known && known.version !== block.version) view.texts.delete(block.id);
    return known === undefined;
  }

  #page(view: View, frame: ServerFrame & { type: "page" }): void {
    for (const snapshot of frame.blocks) this.#put(view, snapshot);
    reorder(view);
    view.more = frame.more;
    this.#emit({ conversation: view.conversation, order: true });
    this.#requests.get(view.sub)?.paged();
  }

  #text(frame: ServerFrame & { type: "text" }): void {
    for (const view of this.views.values()) {
      const block = view.blocks.get(frame.block);
      if (block) this.#takePiece(view, block, frame);
    }
  }

  #takePiece(view: View, block: Block, frame: ServerFrame & { type: "text" }): void {
    if (frame.at === 0) view.arriving.set(block.id, { version: frame.version, pieces: [], waiting: [] });
    const arriving = view.arriving.get(block.id);
    if (arriving?.version !== frame.version) return;
    arriving.pieces.push(frame.text);
    if (!frame.last) return;
    view.arriving.delete(block.id);
    let text = Text.join(arriving.pieces);
    let version = frame.version;
    for (const op of arriving.waiting) {
      if (op.version <= version) continue;
      text = text.apply(splicesOf(op));
      version = op.version;
    }
    if (version > block.version) {
      view.early.set(block.id, { version, text });
      return;
    }
    if (version < block.version) return this.#wantAnew(view, block.id); // changes have overtaken it
    this.#setText(view, block.id, text);
    this.#emit({ conversation: view.conversation, blocks: [block.id], order: false });
  }

  /** What can pass is asked for again; what cannot is told. */
  #refused(view: View, { of, problem: refused, blocks }: ServerFrame & { type: "refused" }): void {
    const requests = this.#requests.get(view.sub);
    const canPass = isPassing(refused);
    if (of === "page") canPass ? requests?.pageLater() : requests?.paged();
    else if (of === "want") {
      if (canPass) requests?.wantLater();
      else for (const id of blocks ?? []) requests?.got(id);
    } else if (canPass) {
      view.waitsFor = refused;
      requests?.openLater(() => this.#subscribe(view));
    } else {
      view.problem = refused;
      view.waitsFor = undefined;
    }
    this.#emit({ conversation: view.conversation, order: false });
  }

  #answer(frame: ServerFrame & { type: "answer" }): void {
    const call = this.#calls.get(frame.id);
    if (!call) return;
    if ("problem" in frame && isAskedAgain(call, frame.problem)) {
      call.retry.later(() => this.#send?.(call.frame));
      return;
    }
    this.#calls.delete(frame.id);
    call.settle("problem" in frame ? frame.problem : frame.answer);
  }

  #synced(frame: ServerFrame & { type: "state" | "update" }): void {
    const synced = this.#syncs.get(frame.block);
    if (!synced) return;
    const { listener, retry } = synced;
    if ("problem" in frame) {
      if (!isPassing(frame.problem)) return listener.refused(frame.problem);
      return retry.later(() => this.#sendSync(frame.block, listener.vector?.()));
    }
    if (frame.type === "state") retry.over();
    const update = fromBase64(frame.update);
    if (update) listener.update(update, frame.version);
  }

  #withView(sub: number, run: (view: View) => void): void {
    const view = this.views.get(sub);
    if (view) run(view);
  }

  #emit(change: ViewChange): void {
    if (this.#toolListeners.size > 0) this.#tellTools(change);
    for (const listener of this.#listeners) listener(change);
  }

  #tellTools({ conversation, blocks }: ViewChange): void {
    const view = [...this.views.values()].find((each) => each.conversation === conversation);
    if (!view) return;
    const textOf = (id: BlockId) => view.texts.get(id)?.toString();
    const resultOf = (call: BlockId) => {
      const result = view.blocks.get(view.results.get(call) ?? "");
      return result && { block: result, text: textOf(result.id) };
    };
    const changed = blocks ?? [...view.openCalls.keys(), ...view.order];
    for (const id of new Set(changed.map((each) => callOf(view, each)))) {
      const block = view.blocks.get(id) ?? view.openCalls.get(id);
      if (!block) continue;
      for (const update of this.#toolUpdates.update(block, textOf(id), resultOf)) {
        for (const listener of this.#toolListeners) listener(update, conversation);
      }
      if (isEnded(block.status)) view.openCalls.delete(id);
    }
  }
}

interface Synced {
  readonly listener: SyncListener;
  readonly retry: Retry;
}

/**
 * What is typed into a merging editor is sent until it is written: sent twice it changes nothing. Of other writes, those of
 * which nobody knows whether they were done: their key tells, sooner or later.
 */
function isAskedAgain({ frame, again }: PendingCall, refused: Problem): boolean {
  return frame.type === "update" ? isPassing(refused) : again && refused.problem === "uncertain";
}

/** The call that a block is the result of, or the block itself. */
function callOf(view: View, id: BlockId): BlockId {
  const parent = view.blocks.get(id)?.parent;
  return parent && view.results.get(parent) === id ? parent : id;
}

export interface SyncListener {
  update(update: Uint8Array, version: number): void;
  refused(problem: Problem): void;
  /** What this replica has, so that a resume sends only the rest. */
  vector?(): Uint8Array;
}

function merged(turns: ReadonlyMap<string, Turn>, changed: readonly Turn[]): ReadonlyMap<string, Turn> {
  const next = new Map(turns);
  for (const turn of changed) next.set(turn.id, turn);
  return next;
}

/** New blocks nearly always come behind the others: then the order only grows. */
function reorder(view: View): void {
  const ids = [...view.blocks.keys()];
  const bornOf = (id: BlockId) => view.blocks.get(id)?.born ?? 0;
  const isSorted = ids.every((id, i) => i === 0 || bornOf(ids[i - 1] as BlockId) < bornOf(id));
  view.order = isSorted ? ids : ids.sort((a, b) => bornOf(a) - bornOf(b));
}
