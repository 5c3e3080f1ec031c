/**
 * The client's end: a copy of the subscribed conversations, kept equal to the kernel's across disconnects. Thin: it applies splices
 * and knows no CRDT. It runs anywhere and knows no socket.
 *
 * - Versions show which ops it already has (skipped) and which are missing (the block is requested again). So neither a
 *   repeated nor a lost frame can corrupt it.
 * - Calls are kept until they are answered: see calls.ts.
 * - What the server cannot do now (its database is unreachable) is requested again with growing pauses: see requests.ts.
 */

import { applyOp } from "../../model/apply.ts";
import type { Block } from "../../model/block.ts";
import type { Snapshot } from "../../model/change.ts";
import type { Conversation } from "../../model/conversation.ts";
import type { BlockId, ConversationId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { RESULT_KINDS } from "../../model/kind.ts";
import { type Op, splicesOf } from "../../model/op.ts";
import { isPassing, type Problem } from "../../model/problem.ts";
import { type Env, randomName } from "../../ports/env.ts";
import { Text } from "../../text/text.ts";
import { type ClientFrame, fromWire, PROTOCOL, type ServerFrame } from "../frame.ts";
import { isCommandAgain } from "../tool-updates.ts";
import { Calls } from "./calls.ts";
import { Requests } from "./requests.ts";
import { type SyncListener, Syncs } from "./syncs.ts";
import { type ToolListener, ToolListeners } from "./tool-listeners.ts";
import { mergedTurns, reorder, View, type ViewChange } from "./view.ts";

interface ReplicaOptions {
  readonly env: Env;
  readonly windowBlocks?: number;
  /** Get initially closed results without texts, only with what they show while closed (`View.closed`). */
  readonly isBrief?: boolean;
}

export class Replica {
  readonly #env: Env;
  readonly #windowBlocks: number | undefined;
  readonly #isBrief: boolean;
  #send: ((frame: ClientFrame) => void) | undefined;
  #greeted = false;
  #nextSub = 1;
  readonly #name: string;
  readonly views = new Map<number, View>();
  readonly #calls: Calls;
  readonly #listeners = new Set<(change: ViewChange) => void>();
  readonly #requests = new Map<number, Requests>();
  readonly #syncs: Syncs;
  readonly #tools = new ToolListeners();
  #watcher: ((records: readonly Conversation[]) => void) | undefined;
  /** Our identity, as the server states it. */
  self: { agent: string; role: string; epoch: string } | undefined;
  bye: (ServerFrame & { type: "bye" }) | undefined;

  constructor(options: ReplicaOptions) {
    this.#env = options.env;
    this.#windowBlocks = options.windowBlocks;
    this.#isBrief = options.isBrief === true;
    this.#name = randomName(options.env, 10);
    this.#calls = new Calls(options.env, this.#name, this.#sendGreeted);
    this.#syncs = new Syncs(options.env, this.#sendGreeted);
  }

  /** A new pipe is open: sends `hello`, then resumes all subscriptions. */
  connected(send: (frame: ClientFrame) => void): void {
    this.#send = send;
    this.#greeted = false;
    send({ type: "hello", protocol: PROTOCOL, client: this.#name });
  }

  disconnected(): void {
    this.#send = undefined;
    this.#greeted = false;
    this.#syncs.disconnected();
    for (const requests of this.#requests.values()) requests.disconnected();
    for (const view of this.views.values()) view.waitsFor = undefined; // for the connection, from now on
    this.#calls.disconnected();
  }

  get isConnected(): boolean {
    return this.#greeted;
  }

  listen(listener: (change: ViewChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the tool calls of everything that is subscribed: one start and one end each. */
  listenTools(listener: ToolListener): () => void {
    return this.#tools.add(listener);
  }

  /** Calls back with every changed conversation record, except for changes while there is no connection. */
  watch(listener: (records: readonly Conversation[]) => void): void {
    this.#watcher = listener;
    if (this.#greeted) this.#send?.({ type: "watch" });
  }

  subscribe(conversation: ConversationId): View {
    for (const view of this.views.values()) if (view.conversation === conversation) return view;
    const view = new View(conversation, this.#nextSub++);
    this.views.set(view.sub, view);
    this.#requests.set(view.sub, new Requests(this.#env, view.sub, this.#sendGreeted));
    if (this.#greeted) this.#subscribe(view);
    return view;
  }

  unsubscribe(view: View): void {
    this.views.delete(view.sub);
    this.#requests.get(view.sub)?.close();
    this.#requests.delete(view.sub);
    if (this.#greeted) this.#send?.({ type: "unsubscribe", sub: view.sub });
  }

  /** Loads older blocks into the view; resolves when they are there, or there are none. */
  page(view: View, limit: number): Promise<void> {
    const first = view.order[0];
    const before = first === undefined ? undefined : view.blocks.get(first)?.born;
    const requests = this.#requests.get(view.sub);
    if (!view.more || before === undefined || !requests) return Promise.resolve();
    return requests.page(before, limit);
  }

  /** Requests texts that the window left out, until they arrive. */
  want(view: View, blocks: readonly BlockId[]): void {
    const missing = blocks.filter((id) => !view.texts.has(id) && !view.arriving.has(id));
    this.#requests.get(view.sub)?.want(missing);
  }

  /** Calls a tool. A write is resent after a reconnect, and applied once. */
  call(tool: string, input: unknown, options: { write: boolean }): Promise<Json | Problem> {
    return this.#calls.call(tool, input, options.write);
  }

  /** Opens a block as a CRDT document; the listener gets its state, then every update. */
  sync(block: BlockId, listener: SyncListener, vector?: Uint8Array): void {
    this.#syncs.open(block, listener, vector);
  }

  unsync(block: BlockId): void {
    this.#syncs.close(block);
  }

  /** A CRDT update of our own. */
  update(block: BlockId, update: Uint8Array): Promise<Json | Problem> {
    return this.#calls.update(block, update);
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
        return this.#calls.answered(frame);
      case "state":
      case "update":
        return this.#syncs.received(frame);
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

  #hello({ agent, role, epoch }: ServerFrame & { type: "hello" }): void {
    this.self = { agent, role, epoch };
    this.bye = undefined;
    this.#greeted = true;
    if (this.#watcher) this.#send?.({ type: "watch" });
    for (const view of this.views.values()) this.#subscribe(view);
    this.#syncs.reopen();
    this.#calls.resend();
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
      ...(this.#isBrief ? { brief: true } : {}),
    });
  }

  #verdict(view: View, frame: ServerFrame & { type: "verdict" }): void {
    if (frame.verdict === "reset") {
      view.clear();
      view.more = frame.more;
      for (const snapshot of frame.blocks) this.#put(view, snapshot);
      reorder(view);
    }
    for (const { block } of frame.calls ?? [])
      if (!view.blocks.has(block.id)) view.openCalls.set(block.id, block);
    view.record = frame.record;
    view.turns = mergedTurns(view.turns, frame.turns);
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
    if (frame.turns.length > 0) view.turns = mergedTurns(view.turns, frame.turns);
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
    view.closed.delete(id);
    const arriving = view.arriving.get(id);
    if (arriving) arriving.waiting.push(op);
    const text = view.texts.get(id);
    if (text) view.texts.set(id, text.apply(splicesOf(op)));
    else this.#takeEarly(view, id, op.version);
    return false;
  }

  /** Of blocks older than the window, only open calls are followed, without their texts. */
  #applyFar(view: View, op: Op): boolean {
    const call = op.block === null ? undefined : view.openCalls.get(op.block);
    if (call && op.versionFrom === call.version + 1) view.openCalls.set(call.id, applyOp(call, op));
    return false;
  }

  /** The changes have reached, or passed, the version of a text that arrived before them. */
  #takeEarly(view: View, id: BlockId, version: number): void {
    const early = view.early.get(id);
    if (!early || early.version > version) return;
    view.early.delete(id);
    if (early.version === version) this.#setText(view, id, early.text);
    else this.#wantAnew(view, id);
  }

  #setText(view: View, id: BlockId, text: Text): void {
    view.texts.set(id, text);
    view.closed.delete(id);
    this.#requests.get(view.sub)?.got(id);
  }

  /** The text that arrived is outdated: requests it again. */
  #wantAnew(view: View, id: BlockId): void {
    this.#requests.get(view.sub)?.got(id);
    this.want(view, [id]);
  }

  /** An op is missing: subscribes again, without a resume point, for a new snapshot. */
  #askAgain(view: View, id: BlockId): void {
    view.texts.delete(id);
    if (!view.since) return; // already requested
    view.since = undefined;
    this.#subscribe(view);
  }

  #put(view: View, { block, text, closed }: Snapshot): boolean {
    const known = view.blocks.get(block.id);
    if (known && known.version > block.version) return false;
    view.blocks.set(block.id, block);
    view.openCalls.delete(block.id);
    const { parent, kind } = block;
    if (parent !== null && RESULT_KINDS.includes(kind) && !isCommandAgain(block) && !view.results.has(parent))
      view.results.set(parent, block.id);
    if (text !== undefined) this.#setText(view, block.id, Text.of(text));
    else {
      if (known && known.version !== block.version) view.texts.delete(block.id);
      if (closed === undefined) view.closed.delete(block.id);
      else if (!view.texts.has(block.id)) view.closed.set(block.id, closed);
    }
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
    const whole = view.takePiece(block.id, frame);
    if (whole === undefined) return;
    const { version, text } = whole;
    if (version > block.version) {
      view.early.set(block.id, whole);
      return;
    }
    if (version < block.version) return this.#wantAnew(view, block.id); // changes have overtaken it
    this.#setText(view, block.id, text);
    this.#emit({ conversation: view.conversation, blocks: [block.id], order: false });
  }

  /** Retries after a temporary problem; shows any other. */
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

  #withView(sub: number, run: (view: View) => void): void {
    const view = this.views.get(sub);
    if (view) run(view);
  }

  #emit(change: ViewChange): void {
    if (!this.#tools.isEmpty) this.#emitTools(change);
    for (const listener of this.#listeners) listener(change);
  }

  #emitTools({ conversation, blocks }: ViewChange): void {
    const view = [...this.views.values()].find((each) => each.conversation === conversation);
    if (view) this.#tools.emit(view, blocks);
  }

  /** Whether there was a connection to send it on. */
  readonly #sendGreeted = (frame: ClientFrame): boolean => {
    if (this.#greeted) this.#send?.(frame);
    return this.#greeted;
  };
}
